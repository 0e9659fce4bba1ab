"""A two-layer network laid out as a generated program: HSDP and tensor parallelism. Tests plant defects in its text."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from meshc.runtime.program import Input, Program, State

MESH = {"replica": 2, "fsdp": 2, "tp": 2}
BATCH, VOCAB, EMBED, MLP = 8, 16, 32, 64
DTYPE = "float64"
OPTIMIZER_NAME = "sgd"
PLACEMENT = {
    "Net.table": P(None, "fsdp"),
    "Net.scale": P(),
    "Net.up": P("fsdp", "tp"),
    "Net.down": P("tp", "fsdp"),
}
SHAPES = {"Net.table": (VOCAB, EMBED), "Net.scale": (EMBED,), "Net.up": (EMBED, MLP), "Net.down": (MLP, EMBED)}


def over(collective, *axes, **options):
    """The collective over those of the axes that this mesh has, or nothing."""
    axes = tuple(a for a in axes if a in MESH)
    return functools.partial(collective, axis_name=axes, **options) if axes else lambda x, **_: x


def at_rest(spec):
    return P(*((a if a in MESH else None) for a in spec))


PLACEMENT = {path: at_rest(spec) for path, spec in PLACEMENT.items()}
TOKENS = P(tuple(a for a in ("replica", "fsdp") if a in MESH) or None)
gather = over(lax.all_gather, "fsdp", tiled=True)
to_tp = over(lax.pcast, "tp", to="varying")
sum_tp = over(lax.psum, "tp")
sum_replicas = over(lax.psum, "replica")
sum_all = over(lax.psum, "replica", "fsdp")
vary_replicas = over(lax.pcast, "replica", to="varying")


def loss(weights, tokens_B):
    x_BE = gather(weights["Net.table"], axis=1)[tokens_B] * weights["Net.scale"]
    h_BF = jnp.tanh(to_tp(x_BE) @ gather(weights["Net.up"], axis=0))
    y_BE = sum_tp(h_BF @ gather(weights["Net.down"], axis=1))
    return jnp.sum(jnp.square(y_BE)) / BATCH


def loss_and_grads(weights, tokens_B):
    weights = {path: vary_replicas(w) for path, w in weights.items()}
    total, grads = jax.value_and_grad(loss)(weights, tokens_B)
    grads = {path: sum_replicas(g) for path, g in grads.items()}
    return sum_all(total), grads


def build(mesh):
    grads_of = jax.shard_map(
        loss_and_grads, mesh=mesh, in_specs=(PLACEMENT, TOKENS), out_specs=(P(), PLACEMENT), check_vma=True
    )
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), getattr(optax, OPTIMIZER_NAME)(0.1))
    rest = {path: NamedSharding(mesh, spec) for path, spec in PLACEMENT.items()}

    def init(seed):
        def draw():
            keys = jax.random.split(jax.random.key(seed), len(SHAPES))
            return {p: jax.random.normal(k, s, DTYPE) for k, (p, s) in zip(keys, SHAPES.items(), strict=True)}

        weights = jax.jit(draw, out_shardings=rest)()
        return State(jnp.int32(0), weights, {}, jax.jit(optimizer.init)(weights))

    def step(state, batch):
        total, grads = grads_of(state.weights, batch["tokens"])
        updates, moments = optimizer.update(grads, state.optimizer, state.weights)
        weights: Any = optax.apply_updates(state.weights, updates)
        return State(state.step + 1, weights, {}, moments), {"loss": total}

    return Program(
        mesh=mesh,
        placement=PLACEMENT,
        grads_placement=PLACEMENT,
        optimizer_placement=PLACEMENT,
        inputs={"tokens": Input((BATCH,), "int32", TOKENS, VOCAB)},
        init=init,
        step=jax.jit(step, donate_argnums=0),
        grads=jax.jit(lambda state, batch: grads_of(state.weights, batch["tokens"])),
    )
