"""Who sees whom in attention: layers with a window among layers without, the sequence split or not."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

from meshc.runtime.attention import attend, gather, ring
from meshc.runtime.order import canonical, on_devices, zigzag

ALTERNATING = """import "std/llama.mesh"
mesh { sp = 1 }
dims { batch = 2, seq = 16, embed = 8, heads = 4, kv_heads = 2, head_dim = 2, vocab = 16 }
model Tiny(tokens: [batch, seq] of vocab) {
  param table: vocab -> embed
  x = table[tokens]
  x = x + Attention(x, window = 3) as near
  x = x + Attention(x) as far
  loss next_token(x @ table, tokens)
}
partition { ulysses(sp) }
"""


def on_two_devices(exchange, q, k, v, **options):
    """What a sequence gets that lies on two devices in zigzag order."""
    mesh = jax.make_mesh((2,), ("cp",), axis_types=(AxisType.Auto,), devices=jax.devices()[:2])
    local = functools.partial(exchange, over=("cp",), zigzag=2, **options)
    split, order = P(None, "cp"), {1: zigzag(q.shape[1], 2)}
    on_mesh = jax.shard_map(local, mesh=mesh, in_specs=(split,) * 3, out_specs=split)
    return canonical(on_mesh(*(on_devices(x, order) for x in (q, k, v))), order)


WAYS = {
    "whole": attend,
    "ring": functools.partial(on_two_devices, ring),
    "gather": functools.partial(on_two_devices, gather),
}
ways = pytest.mark.parametrize("attention", WAYS.values(), ids=WAYS)
slowly = [pytest.param(way, id=name, marks=[pytest.mark.slow] * (way is not attend)) for name, way in WAYS.items()]


@pytest.mark.parametrize("attention", slowly)
@pytest.mark.parametrize(("window", "pairs"), [(128, 516_160), (None, 8_390_656)])
def test_pairs_of_query_and_key(attention, window, pairs):
    """huggingface/accelerate#4177: a window of 128 at 4,096 tokens lets 516,160 pairs see each other, causal alone 8,390,656.

    Of equal scores a query's result is the mean of the positions it sees, which are a stretch that ends with itself.
    """
    seq = 4096
    zeros = jnp.zeros((1, seq, 1, 1), jnp.float32)
    at = jnp.arange(seq, dtype=jnp.float32)[None, :, None, None]
    mean = np.asarray(attention(zeros, zeros, at, causal=True, window=window), np.float64).ravel()
    assert round(np.sum(2 * (np.arange(seq) - np.round(2 * mean) / 2) + 1)) == pairs


@ways
def test_chunks_are_of_positions(attention):
    """AI-Hypercomputer/maxtext#4364: with ranks of [0, 1, 6, 7] and [2, 3, 4, 5], chunks were of places in a rank.

    Of equal scores a query's result is an equal share of each value that it sees, here one dim for each.
    """
    zeros, each = jnp.zeros((1, 8, 1, 1), jnp.float32), jnp.eye(8, dtype=jnp.float32)[None, :, None]
    seen = np.asarray(attention(zeros, zeros, each, causal=True, chunk=4))[0, :, 0] > 0
    assert seen.sum() == 20
    assert (np.flatnonzero(seen[6]).tolist(), np.flatnonzero(seen[5]).tolist()) == ([4, 5, 6], [4, 5])


def test_a_window_stays_where_the_sequence_is_split(run):
    """The same report: turning on a split of the sequence made every layer causal without a window."""
    rng = np.random.default_rng(0)
    weights = {"Tiny.table": rng.standard_normal((16, 8))}
    for layer in ("near", "far"):
        weights |= {
            f"Tiny.{layer}.wq": rng.standard_normal((8, 4, 2)),
            f"Tiny.{layer}.wo": rng.standard_normal((4, 2, 8)),
        }
        weights |= {f"Tiny.{layer}.{name}": rng.standard_normal((8, 2, 2)) for name in ("wk", "wv")}
    tokens = rng.integers(0, 16, (2, 16))
    one, grads_one = run(ALTERNATING, weights, tokens)
    split, grads = run(ALTERNATING, weights, tokens, "mesh.sp=2")
    assert split == pytest.approx(one, rel=1e-5)
    for path, grad in grads.items():
        np.testing.assert_allclose(grad, grads_one[path], rtol=1e-3, atol=1e-4, err_msg=path)
    without, _ = run(ALTERNATING.replace(", window = 3", ""), weights, tokens)
    assert abs(without - one) > 1e-2  # the window shows
