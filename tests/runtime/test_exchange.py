"""Attention over a split sequence against the same on one device, with gradients, in float64."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

from meshc.prove.hlo import parse
from meshc.runtime.attention import attend, gather, ring
from meshc.runtime.attention.masks import Scores, Side, may_see, visible
from meshc.runtime.order import canonical, on_devices, zigzag

B, L, H, K, D = 2, 24, 4, 2, 4


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


def tensors() -> list[jax.Array]:
    """q, k, v, weights of the result in a sum, sinks, and segments: three documents a row."""
    source = np.random.default_rng(0)
    drawn = [jnp.asarray(source.normal(size=(B, L, n, D))) for n in (H, K, K, H)]
    segments = np.sort(source.integers(0, 3, (B, L)), axis=1)
    return [*drawn, jnp.linspace(-1.0, 1.0, H), jnp.asarray(segments)]


def gradients(function):
    q, k, v, w, sinks, segments = tensors()
    total = lambda q, k, v, sinks: (function(q, k, v, sinks, segments) * w).sum()  # noqa: E731
    return jax.jit(jax.value_and_grad(total, (0, 1, 2, 3)))(q, k, v, sinks)


def exchanged(axes: dict[str, int], gathered: tuple[str, ...], parts: int | None, own: tuple[str, ...], **options):
    """The same function, its tensors split over `axes`: the sequence over those that are not `own`, which have heads."""
    names = tuple(axes)
    over = tuple(a for a in names if a not in own)
    devices = jax.devices()[: math.prod(axes.values())]
    mesh = jax.make_mesh(tuple(axes.values()), names, axis_types=(AxisType.Auto,) * len(names), devices=devices)
    order = {1: zigzag(L, parts)} if parts else {}
    whole = {name: options.pop(name, False) for name in ("sinks", "segments")}

    def local(q, k, v, sinks, segments):
        k, v = (jax.lax.pcast(x, own, to="varying") if own else x for x in (k, v))
        sinks = jax.lax.pcast(sinks, over, to="varying")
        given = {name: x for name, x in (("sinks", sinks), ("segments", segments)) if whole[name]}
        call = gather if over == gathered else ring
        partly = {} if over == gathered else {"gathered": gathered}
        return call(q, k, v, over=over, **partly, zigzag=parts, own_heads=own, **given, **options)

    heads = own or None
    spec = (P(None, over, heads), P(None, over), P(None, over), P(heads), P())
    on_mesh = jax.shard_map(local, mesh=mesh, in_specs=spec, out_specs=P(None, over, heads))

    def function(q, k, v, sinks, segments):
        q, k, v, segments = (on_devices(x, order) for x in (q, k, v, segments))
        return canonical(on_mesh(q, k, v, sinks, segments), order)

    return function


def on_one_device(**options):
    whole = {name: options.pop(name, False) for name in ("sinks", "segments")}

    def function(q, k, v, sinks, segments):
        given = {name: x for name, x in (("sinks", sinks), ("segments", segments)) if whole[name]}
        return attend(q, k, v, **given, **options)

    return function


CAUSAL, ALL = {"causal": True}, {"causal": True, "chunk": 4, "cap": 0.7, "scale": 0.9, "sinks": True, "segments": True}
QUICK = 3
CASES = [
    ({"a": 4}, (), 4, (), ALL),
    ({"a": 2, "b": 3}, (), 2, (), CAUSAL),  # parts of chunks: 4 positions of chunks of 6
    ({"a": 4}, ("a",), 4, (), ALL),
    ({"a": 2}, (), 2, (), CAUSAL),
    ({"a": 4}, (), 4, (), {"window": 5}),
    ({"a": 4}, (), None, (), {"causal": False, "window": 3}),
    ({"a": 2, "b": 2}, (), 4, (), CAUSAL),  # one ring of both
    ({"a": 2, "b": 2}, ("b",), 2, (), {"window": 5}),  # gathered over one, then round the other
    ({"a": 2, "b": 2}, ("a",), 4, (), {"segments": True}),
    ({"a": 2, "b": 3}, (), 2, (), {"causal": False}),
    ({"a": 2, "h": 4}, (), 2, ("h",), CAUSAL),  # four query heads on four devices, two key heads on each
    ({"a": 2, "h": 2}, ("a",), 2, ("h",), CAUSAL),
]


@pytest.mark.parametrize(
    ("axes", "gathered", "parts", "own", "options"),
    [pytest.param(*case, marks=[pytest.mark.slow] * (i >= QUICK), id=str(case)) for i, case in enumerate(CASES)],
)
def test_it_is_attention_on_one_device(axes, gathered, parts, own, options):
    expected = gradients(on_one_device(**options))
    found = gradients(exchanged(axes, gathered, parts, own, **options))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12), found, expected)


def test_keys_go_round_once_less_than_there_are_devices():
    """Forward 3 of k and v on 4 devices; backward 3 of k and v, and 3 of their gradients."""
    text = gradients_text(exchanged({"a": 4}, (), 4, (), causal=True))
    turns = sum(e.times for e in parse(text).executed() if e.instruction.opcode.startswith("collective-permute"))
    assert turns in (2 * 9, 2 * 9 * 2)  # each a start and a done where XLA makes two of it


def gradients_text(function) -> str:
    q, k, v, w, sinks, segments = tensors()
    total = lambda q, k, v, sinks: (function(q, k, v, sinks, segments) * w).sum()  # noqa: E731
    return jax.jit(jax.grad(total, (0, 1, 2))).lower(q, k, v, sinks).compile().as_text() or ""


@pytest.mark.parametrize("parts", [2, 4, 8])
def test_in_zigzag_order_every_device_has_as_many_blocks_each_turn(parts):
    """Of the four pairs of halves a device works on two each turn, and on three of its own keys."""
    size = 2
    order = zigzag(2 * parts * size, parts).reshape(parts, 2, size)
    side = lambda device, half: Side(jnp.asarray(order[device, half]))  # noqa: E731

    def blocks(device, other):
        seen = [may_see(side(device, i), side(other, j), Scores(causal=True)) for i in range(2) for j in range(2)]
        return sum(bool(s) for s in seen)

    for turn in range(parts):
        assert {blocks(d, (d - turn) % parts) for d in range(parts)} == {3 if turn == 0 else 2}


@pytest.mark.parametrize(
    "how",
    [Scores(True), Scores(True, window=3), Scores(False, window=2), Scores(True, chunk=4), Scores(False, chunk=3)],
)
def test_a_block_is_skipped_only_where_nothing_in_it_is_seen(how):
    for first in range(0, 12, 3):
        for begin in range(0, 12, 3):
            queries, keys = Side(first + jnp.arange(3)), Side(begin + jnp.arange(3))
            seen = visible(queries, keys, how)
            assert seen is not None
            assert bool(may_see(queries, keys, how)) == bool(seen.any())


def pairs(seq: int, **options) -> int:
    """How many (query, key) pairs are seen."""
    places = Side(jnp.arange(seq))
    seen = visible(places, places, Scores(**options))
    assert seen is not None
    return int(seen.sum())


def test_pairs_of_published_masks():
    """gpt-oss's window and full causal at 4096 (huggingface/accelerate#4177), maxtext's chunk of 4 in 8 (#4364)."""
    assert pairs(4096, causal=True, window=128) == 516_160
    assert pairs(4096, causal=True) == 8_390_656
    assert pairs(8, causal=True, chunk=4) == 20
