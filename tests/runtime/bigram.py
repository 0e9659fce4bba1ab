"""A program small enough to write by hand: a bigram model with a padded vocabulary, on any mesh of `fsdp` and `tp`.

python -m tests.runtime.bigram --steps 8 --out RUN      # what a generated program's main() does
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from meshc import runtime

BATCH, SEQ, EMBED, VOCAB, PADDED = 8, 16, 8, 250, 256
REAL = {"Tiny.table": (VOCAB, EMBED), "Tiny.head": (EMBED, VOCAB), "Tiny.seen": ()}


def build(mesh: Mesh, vocab: int = PADDED, rate: float = 0.05, microsteps: int = 1) -> runtime.Program:
    """The program; `vocab` is the padded size, so that another mesh can have another padding."""
    fsdp, tp = (name if name in mesh.shape else None for name in ("fsdp", "tp"))
    place = {"Tiny.table": P(tp, fsdp), "Tiny.head": P(fsdp, tp)}
    rest = {path: NamedSharding(mesh, spec) for path, spec in place.items()}
    whole = NamedSharding(mesh, P())
    schedule = runtime.schedule("cosine", rate, 20, 2)
    chain = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule))
    shapes = {"Tiny.table": (vocab, EMBED), "Tiny.head": (EMBED, vocab)}
    abstract = {path: jax.ShapeDtypeStruct(shape, jnp.float32) for path, shape in shapes.items()}
    moments = runtime.state_shardings(jax.eval_shape(chain.init, abstract), abstract, place, mesh)
    places = runtime.State(whole, rest, {"Tiny.seen": whole}, moments)

    def drawn(key: jax.Array, path: str) -> jax.Array:
        values = 0.1 * jax.random.normal(jax.random.fold_in(key, zlib.crc32(path.encode())), REAL[path])
        return jnp.pad(values, [(0, long - short) for long, short in zip(shapes[path], REAL[path], strict=True)])

    def init(seed: jax.typing.ArrayLike) -> runtime.State:
        weights = {path: drawn(jax.random.key(seed), path) for path in shapes}
        return runtime.State(jnp.int32(0), weights, {"Tiny.seen": jnp.float32(0)}, chain.init(weights))

    def loss_of(weights: Mapping[str, jax.Array], tokens: jax.Array) -> jax.Array:
        tokens = tokens.reshape(BATCH, SEQ)
        logits = (weights["Tiny.table"][tokens] @ weights["Tiny.head"])[:, :-1, :VOCAB]
        return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()

    def grads(state: runtime.State, batch: Mapping[str, jax.Array]) -> tuple[jax.Array, dict[str, jax.Array]]:
        return jax.value_and_grad(loss_of)(state.weights, batch["tokens"])

    def step(state: runtime.State, batch: Mapping[str, jax.Array]) -> tuple[runtime.State, dict[str, jax.Array]]:
        loss, gradients = grads(state, batch)
        updates, moments = chain.update(gradients, state.optimizer, state.weights)
        weights: Any = optax.apply_updates(state.weights, updates)
        seen = state.carried["Tiny.seen"] + BATCH
        norm = optax.tree.norm(gradients)
        metrics = {"loss": loss, "grad_norm": norm, "learning_rate": schedule(state.step), "Tiny.seen": seen}
        return runtime.State(state.step + 1, weights, {"Tiny.seen": seen}, moments), metrics

    lead = (BATCH,) if microsteps == 1 else (microsteps, BATCH // microsteps)
    spec = P(*(None,) * (len(lead) - 1), fsdp, None)
    return runtime.Program(
        mesh=mesh,
        placement=place,
        grads_placement=place,
        optimizer_placement=place,
        inputs={"tokens": runtime.Input((*lead, SEQ), "int32", spec, VOCAB)},
        init=jax.jit(init, out_shardings=places),
        step=jax.jit(step, donate_argnums=0, out_shardings=(places, whole)),
        grads=jax.jit(grads, out_shardings=(whole, rest)),
        real_shapes=REAL,
        microsteps=microsteps,
        name="Tiny",
        spec_hash="0" * 8,
    )


def main() -> None:
    args = runtime.arguments("A bigram model.", steps=8, out="runs/tiny")
    axes = {"fsdp": 4, "tp": 2}
    runtime.train(
        build(runtime.make_mesh(axes), rate=float(os.environ.get("RATE", "0.05"))),
        steps=args.steps,
        data=runtime.Synthetic(),
        out=args.out,
        checkpoint=runtime.Checkpoint(every=4),
        seed=3,
        resume=args.resume,
        init_from=args.init_from,
    )


if __name__ == "__main__":
    sys.exit(main())
