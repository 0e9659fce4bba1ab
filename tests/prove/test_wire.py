"""Collectives read off what XLA compiled: axes, counts and bytes of small programs whose traffic is known by hand."""

from __future__ import annotations

import pytest

from meshc.prove.wire import bytes_by_axes, collectives, ring_bytes, total_bytes

MESH = {"a": 2, "b": 2, "c": 2}
LOCAL = 8 * 16 * 4  # bytes of one device's rows in small_programs.py


@pytest.mark.parametrize(
    ("program", "op", "axes", "wire_bytes"),
    [
        ("all_gather", "all-gather", ("b",), LOCAL),  # half of an output of twice the input
        ("all_gather_two", "all-gather", ("a", "c"), 3 * LOCAL),  # 3/4 of four times the input
        ("reduce_scatter", "reduce-scatter", ("c",), LOCAL / 2),
        ("all_reduce", "all-reduce", ("b", "c"), 2 * LOCAL * 3 / 4),
        ("all_to_all", "all-to-all", ("b",), LOCAL / 2),
        ("permute", "collective-permute", ("c",), LOCAL),
    ],
)
def test_each_collective(compiled: dict[str, str], program: str, op: str, axes: tuple[str, ...], wire_bytes: float):
    found = collectives(compiled[program], MESH)
    assert {(c.op, c.axes, c.times, c.whole, c.counted) for c in found} == {(op, axes, 1, True, True)}
    assert total_bytes(found) == wire_bytes


def test_a_combined_all_reduce_is_one_for_each_array(compiled: dict[str, str]):
    found = collectives(compiled["all_reduce_tree"], MESH)
    assert sorted((c.elements, c.scalar) for c in found) == [(1, True), (128, False), (128, False)]


def test_a_scan_multiplies_its_body(compiled: dict[str, str]):
    assert bytes_by_axes(collectives(compiled["scanned"], MESH)) == {("b",): 5 * LOCAL}


def test_nested_scans_multiply(compiled: dict[str, str]):
    assert bytes_by_axes(collectives(compiled["nested"], MESH)) == {("a",): 4 * LOCAL, ("c",): 4 * 3 * LOCAL}


def test_a_loop_that_depends_on_data_says_so(compiled: dict[str, str]):
    assert [c.counted for c in collectives(compiled["until_small"], MESH)] == [False]


def test_a_branch_counts_as_if_it_ran(compiled: dict[str, str]):
    assert bytes_by_axes(collectives(compiled["one_branch"], MESH)) == {("b",): LOCAL}


def test_what_the_partitioner_adds_is_found_too(compiled: dict[str, str]):
    (only,) = collectives(compiled["global_norm"], MESH)
    assert (only.op, only.axes, only.scalar) == ("all-reduce", ("a", "b", "c"), True)


@pytest.mark.parametrize("op", ["all_gather", "all-reduce", "reduce_scatter", "all-to-all", "collective_permute"])
def test_groups_of_one_cost_nothing(op: str):
    assert ring_bytes(op, 1024, 1) == 0


def test_an_all_reduce_costs_what_its_two_halves_cost():
    # reduce-scatter of the whole, then all-gather of the parts
    assert ring_bytes("all-reduce", 1024, 8) == ring_bytes("reduce-scatter", 1024, 8) + ring_bytes("all-gather", 128, 8)


ASYNC = """HloModule async, is_scheduled=true, num_partitions=8

%async_computation (p.1: f32[64]) -> f32[8] {
  %p.1 = f32[64]{0} parameter(0)
  ROOT %rs = f32[8]{0:T(256)} reduce-scatter(%p.1), channel_id=3, replica_groups=[1,8]<=[8], dimensions={0}
}

%all-reduce-scatter.fused (p.2: f32[64]) -> f32[8] {
  %p.2 = f32[64]{0} parameter(0)
  %ar = f32[64]{0} all-reduce(%p.2), channel_id=4, replica_groups=[1,8]<=[8], to_apply=%add
  ROOT %part = f32[8]{0} slice(%ar), slice={[0:8]}
}

ENTRY %main (p: f32[64], q: bf16[4,8]) -> f32[8] {
  %p = f32[64]{0:T(8,128)S(1)} parameter(0)
  %q = bf16[4,8]{1,0:T(8,128)(2,1)} parameter(1)
  %ag = (bf16[4,8]{1,0:T(8,128)(2,1)}, bf16[16,8]{1,0}) all-gather-start(%q), replica_groups=[2,4]<=[4,2]T(1,0)
  %ag.done = bf16[16,8]{1,0} all-gather-done(%ag)
  %cp = (f32[64]{0}, f32[64]{0}, u32[]) collective-permute-start(f32[64]{0} %p), source_target_pairs={{0,1},{1,0}}
  %cp.done = f32[64]{0} collective-permute-done(%cp)
  %rs.start = ((f32[64]{0}), f32[8]{0}, s32[]) async-start(%p), calls=%async_computation
  %rs.done = f32[8]{0} async-done(%rs.start), calls=%async_computation
  ROOT %fused = f32[8]{0} fusion(%p), kind=kCustom, calls=%all-reduce-scatter.fused
}
"""


def test_started_and_finished_later_counts_once():
    """As the TPU and GPU compilers print them: tiled layouts, tuples of input and output, wrapped computations."""
    found = collectives(ASYNC, {"x": 4, "y": 2})
    assert [(c.op, c.axes, c.dtype, c.wire_bytes) for c in found] == [
        ("all-gather", ("x",), "bf16", 3 * 4 * 8 * 2),
        ("collective-permute", ("y",), "f32", 256),
        ("reduce-scatter", ("x", "y"), "f32", 256 * 7 / 8),
        ("reduce-scatter", ("x", "y"), "f32", 256 * 7 / 8),
    ]
