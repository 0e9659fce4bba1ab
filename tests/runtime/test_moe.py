"""Routed experts on a mesh against a loop over all experts and tokens on one device, in float64."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

from meshc.runtime import moe

BATCH, SEQ, EMBED, MLP, EXPERTS = 8, 4, 6, 10, 8


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


def drawn() -> dict[str, jax.Array]:
    source = np.random.default_rng(0)
    shapes = {
        "x": (BATCH, SEQ, EMBED),
        "router": (EMBED, EXPERTS),
        "up": (EXPERTS, EMBED, MLP),
        "bias": (EXPERTS, MLP),
        "down": (EXPERTS, MLP, EMBED),
        "target": (BATCH, SEQ, EMBED),
    }
    return {name: jnp.asarray(source.standard_normal(shape)) for name, shape in shapes.items()}


def dense_loss(w: dict[str, jax.Array], top_k: int, keep=None, **options) -> jax.Array:
    """Every expert on every token, weighed by a mask."""
    scores = jax.nn.softmax(w["x"] @ w["router"], axis=-1).reshape(-1, EXPERTS)
    chosen, weights = moe.choose(scores, top_k, **options)
    if keep is not None:
        weights = jnp.where(keep(np.asarray(lax.stop_gradient(chosen))), weights, 0)
    x, out = w["x"].reshape(-1, EMBED), 0
    for e in range(EXPERTS):
        weight = jnp.where(chosen == e, weights, 0).sum(-1)
        out += weight[:, None] * (jnp.tanh(x @ w["up"][e] + w["bias"][e]) @ w["down"][e])
    share = (chosen[..., None] == jnp.arange(EXPERTS)).mean((0, 1))
    balance = EXPERTS * (share * (scores / scores.sum(-1, keepdims=True)).mean(0)).sum()
    return (out * w["target"].reshape(-1, EMBED)).mean() + 0.1 * balance


def mesh_loss(mesh, w, *, axes, tokens, tensor=(), **options):
    """The same on a mesh: `tokens` are the axes of batch and seq, `axes` those of the experts."""

    def local(x, router, up, bias, down, target):
        router, up, bias, down = (
            lax.pcast(a, _missing(a, (*tokens[0], *tokens[1])), to="varying") for a in (router, up, bias, down)
        )
        scores = jax.nn.softmax(x @ router, axis=-1)
        spread = lax.pcast(x, tuple(tensor), to="varying") if tensor else x
        rows, routing = moe.route(spread, scores, axes=axes, split=tokens, **options)
        h = jnp.tanh(moe.product(rows, up, routing) + moe.per_row(bias, routing))
        out = moe.combine(moe.product(h, down, routing), routing)
        if tensor:
            out = lax.psum(out, tuple(tensor))
        every = tuple(a for dim in tokens for a in dim)
        loss = (out * target).sum() / (BATCH * SEQ * EMBED)
        loss = lax.psum(loss, every) if every else loss
        return loss + 0.1 * moe.load_balance(routing, every)

    over, cut = P(axes or None), tuple(tensor) or None
    spec = P(*(a or None for a in tokens))
    names = ("x", "router", "up", "bias", "down", "target")
    specs = (spec, P(), P(*over, None, cut), P(*over, cut), P(*over, cut), spec)
    return jax.shard_map(local, mesh=mesh, in_specs=specs, out_specs=P())(*(w[n] for n in names))


def _missing(x, axes):
    return tuple(a for a in axes if a not in jax.typeof(x).manual_axis_type.varying)


def mesh_of(**axes: int):
    devices = jax.devices()[: int(np.prod(list(axes.values())))]
    return jax.make_mesh(tuple(axes.values()), tuple(axes), axis_types=(AxisType.Auto,) * len(axes), devices=devices)


CASES = {
    "one device": ({"ep": 1}, (), ((), ())),
    "ep over the batch": ({"ep": 4}, ("ep",), (("ep",), ())),
    "ep of eight": ({"ep": 8}, ("ep",), (("ep",), ())),
    "two axes, over batch and sequence": ({"dp": 2, "a": 2, "b": 2}, ("a", "b"), (("dp", "a"), ("b",))),
    "ep inside of dp": ({"dp": 2, "ep": 4}, ("ep",), (("dp",), ("ep",))),
    "ep outside of dp": ({"ep": 2, "dp": 4}, ("ep",), (("ep", "dp"), ())),
}


def compare(w, mesh, one, two):
    loss, grads = jax.jit(jax.value_and_grad(functools.partial(mesh_loss, mesh, **one)))(w)
    loss_one, grads_one = jax.value_and_grad(functools.partial(dense_loss, **two))(w)
    np.testing.assert_allclose(loss, loss_one, rtol=1e-12)
    for name, grad in grads_one.items():
        np.testing.assert_allclose(grads[name], grad, rtol=1e-9, atol=1e-12 * np.abs(grad).max(), err_msg=name)


QUICK = ("one device", "two axes, over batch and sequence")


@pytest.mark.parametrize("case", [pytest.param(c, marks=[] if c in QUICK else pytest.mark.slow) for c in CASES])
@pytest.mark.parametrize("top_k", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_losses_and_gradients_are_those_of_a_dense_loop(case: str, top_k: int):
    axes, over, tokens = CASES[case]
    options = {"top_k": top_k, "normalise": top_k > 1}
    compare(drawn(), mesh_of(**axes), {"axes": over, "tokens": tokens, **options}, options)


def test_an_experts_mlp_may_be_split():
    mesh = mesh_of(ep=4, tp=2)
    compare(drawn(), mesh, {"axes": ("ep",), "tokens": (("ep",), ()), "tensor": ("tp",), "top_k": 2}, {"top_k": 2})
