"""Parity, placement and traffic on plain data: what they let pass and what they do not."""

from __future__ import annotations

import numpy as np
import pytest

from meshc.prove import parity, placement, traffic
from meshc.prove.placement import Shard
from meshc.semantics.collectives import Collective
from meshc.source import SourceFile, Span

SIZES = {"a": 2, "b": 2}
WHOLE = np.arange(32.0).reshape(8, 4)


def failing(measures) -> set[str]:
    return {m.claim.partition(": ")[2] or m.claim for m in measures if not m.holds}


def test_rounding_passes_and_more_does_not():
    grads = {"w": np.full(100, 2.0), "bias": np.zeros(10)}
    rounded = {"w": grads["w"] * (1 + 1e-12), "bias": np.full(10, 1e-12)}
    assert not failing(parity.arrays("gradient", rounded, grads, parity.GRADIENT))
    wrong = {"w": grads["w"] * (1 + 1e-7), "bias": grads["bias"]}
    assert failing(parity.arrays("gradient", wrong, grads, parity.GRADIENT)) == {"gradient"}


def test_the_bound_is_that_of_the_design():
    """|d| <= 1e-8 |g| + 1e-10 |all g|, by norm."""
    grads = {"small": np.array([1.0]), "large": np.array([100.0])}
    allowed = 1e-8 * 1 + 1e-10 * np.hypot(1, 100)
    for factor, holds in ((0.99, True), (1.01, False)):
        moved = {**grads, "small": grads["small"] + factor * allowed}
        assert all(m.holds for m in parity.arrays("gradient", moved, grads, parity.GRADIENT)) == holds


def test_a_weight_that_only_one_has_or_that_has_another_shape():
    one = {"w": np.ones(4)}
    assert failing(parity.arrays("parameter", {}, one, parity.PARAMETER)) == {"parameter"}
    assert failing(parity.arrays("parameter", {"w": np.ones(5)}, one, parity.PARAMETER)) == {"parameter"}
    assert failing(parity.arrays("parameter", {"w": np.full(4, np.nan)}, one, parity.PARAMETER)) == {"parameter"}


def test_losses_are_compared_step_by_step():
    found = parity.losses("loss", [2.0, 3.0, 4.0], [2.0, 3.0 + 1e-9, 4.0], parity.LOSS)
    assert [m.holds for m in found] == [True, False, True]
    assert found[1].subject == "step 2"


def shards(axes, data=None) -> list[Shard]:
    """One shard for each device of a 2 x 2 mesh, cut as `axes` say."""
    places = [{"a": i, "b": j} for i in range(2) for j in range(2)]
    cut = [WHOLE[placement.slice_of(at, axes, SIZES, WHOLE.shape)] for at in places]
    return [Shard(at, part if data is None else data) for at, part in zip(places, cut, strict=True)]


def found(parts, axes) -> set[str]:
    return failing(placement.measures("weight", "w", parts, axes, SIZES, WHOLE))


@pytest.mark.parametrize("axes", [[["a"], ["b"]], [["a", "b"], []], [["b", "a"], []], [[], ["a"]], [[], []]])
def test_right_shards(axes):
    assert not found(shards(axes), axes)


def test_the_first_axis_of_a_dim_is_the_slow_one():
    at = {"a": 1, "b": 0}
    assert placement.slice_of(at, [["a", "b"], []], SIZES, (8, 4)) == (slice(4, 6), slice(0, 4))
    assert placement.slice_of(at, [["b", "a"], []], SIZES, (8, 4)) == (slice(2, 4), slice(0, 4))


def test_axes_in_the_other_order_have_the_same_shapes_and_are_found():
    assert found(shards([["b", "a"], []]), [["a", "b"], []]) == {"shards against their slice"}


def test_whole_where_it_should_be_split():
    assert found(shards([[], []]), [["a"], []]) == {"shards of another shape"}


def test_the_same_part_everywhere():
    wrong = found(shards([["a"], []], data=WHOLE[:4]), [["a"], []])
    assert wrong == {"shards against their slice", "shards that are equal and should differ"}


def test_copies_that_differ_by_rounding():
    parts = shards([["a"], []])
    parts[1] = Shard(parts[1].at, parts[1].data + 1e-12)
    assert found(parts, [["a"], []]) == {"copies that differ"}


def test_parts_that_are_equal_in_truth_need_not_differ():
    zeros = np.zeros((8, 4))
    parts = [Shard({"a": i, "b": j}, zeros[:4]) for i in range(2) for j in range(2)]
    assert not failing(placement.measures("optimizer state", "w", parts, [["a"], []], SIZES, zeros))


def test_an_array_of_rounding_is_measured_by_the_largest_of_its_kind():
    """The gradient of a key bias is zero in theory: 1e-17 against -1e-17 is no other value, beside a gradient of 1."""
    noise = 1e-17 * (WHOLE - WHOLE.mean())
    parts = [Shard({"a": i, "b": j}, -noise[4 * i : 4 * i + 4]) for i in range(2) for j in range(2)]
    of_its_own = failing(placement.measures("gradient", "w", parts, [["a"], []], SIZES, noise))
    assert of_its_own == {"shards against their slice"}
    assert not failing(placement.measures("gradient", "w", parts, [["a"], []], SIZES, noise, largest=1.0))


def test_numbers_that_are_added_up_are_told_and_not_compared():
    """XLA may add two metrics up in one; a share of a few bytes says nothing."""
    somewhere = Span(SourceFile("a.mesh", ""), 0, 0)
    metric = Collective("all-reduce", ("a",), "Net.size", "forward", 6, 6 * 4, somewhere)
    vector = Collective("all-reduce", ("a",), "Net.scale", "backward", 1, 64 * 4, somewhere)
    silent = "HloModule m\n\nENTRY %main () -> f32[] {\n  ROOT %zero = f32[] constant(0)\n}\n"
    assert not failing(traffic.compare(silent, [metric], SIZES)[0])
    assert failing(traffic.compare(silent, [metric, vector], SIZES)[0]) == {"bytes over"}
