"""Planned movements, carried out on numpy arrays for every device of a small mesh: each ends with its part."""

from __future__ import annotations

import itertools
import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from meshc.semantics.moves import plan
from meshc.semantics.placed import Layout, Step

SIZES = {"a": 2, "b": 3, "c": 2}
DEVICES = list(itertools.product(*(range(n) for n in SIZES.values())))
WHOLE = np.arange(24 * 24).reshape(24, 24).astype(float)

Axes = tuple[str, ...]
Parts = dict[tuple[int, ...], np.ndarray]


def coordinate(device: tuple[int, ...], axis: str) -> int:
    return device[list(SIZES).index(axis)]


def rank(device: tuple[int, ...], axes: Axes) -> int:
    """Position of a device along several axes, the first the slowest."""
    number = 0
    for axis in axes:
        number = number * SIZES[axis] + coordinate(device, axis)
    return number


def shards(axes: Axes) -> int:
    return math.prod(SIZES[a] for a in axes)


def cut(array: np.ndarray, dim: int, axes: Axes, device: tuple[int, ...]) -> np.ndarray:
    return np.split(array, shards(axes), axis=dim)[rank(device, axes)]


def part(layout: tuple[Axes, ...], device: tuple[int, ...]) -> np.ndarray:
    local = WHOLE
    for dim, axes in enumerate(layout):
        local = cut(local, dim, axes, device)
    return local


def group(device: tuple[int, ...], axes: Axes) -> list[tuple[int, ...]]:
    """The devices that differ from this one along `axes` only, in the order of their rank."""
    others = [d for d in DEVICES if all(coordinate(d, x) == coordinate(device, x) for x in SIZES if x not in axes)]
    return sorted(others, key=lambda d: rank(d, axes))


def carry_out(step: Step, parts: Parts) -> Parts:
    new = {}
    for device in DEVICES:
        peers = [parts[d] for d in group(device, step.axes)]
        match step.kind:
            case "all_gather" | "all_gather_invariant":
                new[device] = np.concatenate(peers, axis=step.dim)
            case "reduce_scatter":
                new[device] = cut(np.sum(peers, axis=0), step.dim, step.axes, device)
            case "all_reduce":
                new[device] = np.sum(peers, axis=0)
            case "all_to_all":
                new[device] = np.concatenate([cut(p, step.dim, step.axes, device) for p in peers], axis=step.source)
            case "slice" | "slice_varying":
                new[device] = cut(parts[device], step.dim, step.axes, device)
            case "cast":
                new[device] = parts[device]
    return new


@st.composite
def layouts(draw) -> tuple[tuple[Axes, ...], Axes]:
    """Axes for two dims, each axis at most once, and some of the others partial."""
    order = draw(st.permutations(list(SIZES)))
    homes = [draw(st.sampled_from((0, 1, 2, 3))) for _ in order]
    dims = tuple(tuple(a for a, h in zip(order, homes, strict=True) if h == dim) for dim in (0, 1))
    return dims, tuple(a for a, h in zip(order, homes, strict=True) if h == 2)


@settings(max_examples=300, deadline=None)
@given(layouts(), layouts(), st.sets(st.sampled_from(list(SIZES))))
def test_every_plan_ends_in_the_target(source, target, extra) -> None:
    axes, partial = source
    parts = {d: part(axes, d) / shards(partial) for d in DEVICES}
    varying = frozenset(extra) | {a for dim in target[0] for a in dim}
    for step in plan(Layout(axes, partial), target[0], varying):
        parts = carry_out(step, parts)
    for device in DEVICES:
        np.testing.assert_allclose(parts[device], part(target[0], device))


def kinds(source: Layout, target: tuple[Axes, ...], varying: str = "") -> list[tuple[str, Axes]]:
    return [(s.kind, s.axes) for s in plan(source, target, frozenset(varying))]


def test_fsdp_gathers_and_its_transpose_scatters() -> None:
    assert kinds(Layout((("a",), ("b",))), ((), ("b",)), "ab") == [("all_gather", ("a",))]


def test_a_gather_for_a_use_that_is_alike_everywhere_is_invariant() -> None:
    assert kinds(Layout((("a",), ())), ((), ())) == [("all_gather_invariant", ("a",))]


def test_partial_sums_scatter_where_the_target_is_split() -> None:
    assert kinds(Layout(((), ()), ("a",)), (("a",), ()), "a") == [("reduce_scatter", ("a",))]
    assert kinds(Layout(((), ()), ("a", "b")), ((), ())) == [("all_reduce", ("a", "b"))]


def test_an_axis_that_changes_dims_is_one_all_to_all() -> None:
    assert kinds(Layout((("c", "a"), ())), (("c",), ("a",)), "ac") == [("all_to_all", ("a",))]


def test_a_column_parallel_product_casts_its_input() -> None:
    assert kinds(Layout((("a",), ())), (("a",), ()), "ab") == [("cast", ("b",))]


def test_only_what_is_in_the_way_is_gathered():
    """Ulysses with fewer kv heads than devices: the inner part of the axis is gathered, the outer one moves to heads."""
    varying = frozenset("ac")
    steps = plan(Layout((("a", "c"), ())), ((), ("a",)), varying)
    assert steps == (Step("all_gather", ("c",), 0), Step("all_to_all", ("a",), 1, 0))
