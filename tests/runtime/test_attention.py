"""Attention against its definition, with gradients, in float64."""

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

from meshc.runtime.attention import attend

B, L, H, K, D = 2, 12, 8, 2, 4


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


def tensors() -> list[jax.Array]:
    """q, k, v and weights of the result in a sum."""
    rng = np.random.default_rng(0)
    return [jnp.asarray(rng.normal(size=(B, L, n, D))) for n in (H, K, K, H)]


def definition(q, k, v, causal=True, window=None, scale=None, cap=None, sinks=None):
    k, v = (jnp.repeat(x, q.shape[2] // x.shape[2], axis=2) for x in (k, v))
    scores = jnp.einsum("bshd,bthd->bhst", q, k) * (scale or D**-0.5)
    scores = scores if cap is None else cap * jnp.tanh(scores / cap)
    back = jnp.arange(L)[:, None] - jnp.arange(L)
    seen = back >= 0 if causal else jnp.ones((L, L), bool)
    if window is not None:
        seen &= abs(back) < window
    scores = jnp.where(seen, scores, -1e30)
    if sinks is not None:
        beside = jnp.broadcast_to(sinks[None, :, None, None], (*scores.shape[:-1], 1))
        scores = jnp.concatenate([scores, beside], axis=-1)
    return jnp.einsum("bhst,bthd->bshd", jax.nn.softmax(scores)[..., :L], v)


def both_ways(function):
    q, k, v, w = tensors()
    return jax.value_and_grad(lambda *x: (function(*x) * w).sum(), (0, 1, 2))(q, k, v)


OPTIONS = [
    {}, {"window": 5}, {"causal": False}, {"causal": False, "window": 3},
    {"scale": 0.9}, {"cap": 0.7}, {"cap": 2.0, "scale": 1.5, "window": 4},
]  # fmt: skip


@pytest.mark.parametrize("recompute", [True, False])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_it_is_its_definition(options: dict, recompute: bool):
    expected = both_ways(lambda q, k, v: definition(q, k, v, **options))
    found = both_ways(lambda q, k, v: attend(q, k, v, recompute=recompute, **options))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12), found, expected)


@pytest.mark.parametrize("recompute", [True, False])
@pytest.mark.parametrize("options", [{}, {"window": 5, "cap": 0.7, "scale": 0.9}], ids=str)
def test_sinks_are_scores_without_values(options: dict, recompute: bool):
    """From far below all scores to far above."""
    q, k, v, w = tensors()
    sinks = jnp.linspace(-40.0, 40.0, H)

    def gradients(function: Callable) -> tuple:
        total = lambda q, k, v, s: (function(q, k, v, sinks=s, **options) * w).sum()  # noqa: E731
        return jax.value_and_grad(total, (0, 1, 2, 3))(q, k, v, sinks)

    expected, found = gradients(definition), gradients(functools.partial(attend, recompute=recompute))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12), found, expected)


def test_recomputed_attention_keeps_nothing_of_the_scores_size():
    q, k, v, _ = tensors()
    _, pull = jax.vjp(lambda *x: attend(*x), q, k, v)
    assert max(np.size(leaf) for leaf in jax.tree.leaves(pull)) == B * L * H * D < B * H * L * L


@pytest.mark.parametrize("shards", [2, 4, 8])
def test_whole_key_heads_under_split_query_heads(shards: int):
    """Each device takes the key heads that its queries use, one of them where it has less than a group."""
    mesh = jax.make_mesh((shards,), ("t",), axis_types=(AxisType.Auto,), devices=jax.devices()[:shards])
    q, k, v, _ = tensors()
    local = jax.shard_map(
        lambda q, k, v: attend(q, *(jax.lax.pcast(x, "t", to="varying") for x in (k, v)), own_heads=("t",)),
        mesh=mesh, in_specs=(P(None, None, "t"), P(), P()), out_specs=P(None, None, "t"),
    )  # fmt: skip
    np.testing.assert_allclose(local(q, k, v), definition(q, k, v), rtol=1e-12, atol=1e-12)


def test_bfloat16_comes_out_as_it_went_in():
    q, k, v = (x.astype(jnp.bfloat16) for x in tensors()[:3])
    found = attend(q, k, v)
    assert found.dtype == jnp.bfloat16
    np.testing.assert_allclose(found.astype(float), definition(*tensors()[:3]), atol=0.03)
