"""W0320 and W0321: axes on slower links than they need. What is suggested is tried."""

from __future__ import annotations

import pytest

from meshc.diagnostics.model import Diagnostic, Edit
from meshc.job.slices import Level, Slice
from meshc.semantics.checks import Context
from meshc.semantics.checks.links import axes_stay_near
from meshc.semantics.placement import place
from meshc.semantics.resolve import resolve
from meshc.source import SourceFile
from tests.semantics.llama import SMALL, spec

HSDP = "data(replica)\n  fsdp(fsdp)\n  tensor(tp)"


def nodes(size: int, count: int, racks: int = 1, network: float | None = 50e9) -> Slice:
    levels = (Level("node", size, 450e9), Level("rack", count, network), Level("network", racks, 10e9))
    return Slice("nodes", "gpu", size * count * racks, size, 1, {}, 1.0, levels=levels)


def found(source: SourceFile, slice: Slice) -> list[Diagnostic]:
    program, problems = resolve(source)
    assert program is not None and not problems, problems
    placed, problems = place(program)
    assert not problems
    return list(axes_stay_near(Context(placed, slice)))


def edited(source: SourceFile, edits: tuple[Edit, ...]) -> SourceFile:
    text = source.text
    for edit in sorted(edits, key=lambda edit: -edit.span.start):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return SourceFile(source.name, text)


@pytest.mark.parametrize(
    "mesh",
    [
        "tp = 4, fsdp = 2, replica = 2",
        "tp = 4, replica = 2, fsdp = 2",
        "replica = 2, tp = 4, fsdp = 2",
        "fsdp = 2, tp = 4, replica = 2",
        "tp=4   # a comment stays\n  replica = 2\n  fsdp = 1 * 2\n",
    ],
)
def test_the_edit_cures(mesh: str):
    source, slice = spec(mesh, HSDP), nodes(4, 2, 2)
    [problem] = found(source, slice)
    assert problem.code == "W0320"
    cured = edited(source, problem.edits)
    assert found(cured, slice) == []
    assert cured.text.count("#") == source.text.count("#")


@pytest.mark.parametrize("mesh", ["replica = 2, fsdp = 2, tp = 4", "fsdp = 2, replica = 2, tp = 4"])
def test_tensor_parallelism_inside_a_node_is_right(mesh: str):
    assert found(spec(mesh, HSDP), nodes(4, 4)) == []


def test_which_axis_goes_across_racks_is_a_matter_of_bytes():
    """Between nodes, fsdp gathers weights twice and scatters gradients; replica only reduces a part of gradients."""
    slice = nodes(4, 2, 2)
    assert found(spec("replica = 2, fsdp = 2, tp = 4", HSDP), slice) == []
    [problem] = found(spec("fsdp = 2, replica = 2, tp = 4", HSDP), slice)
    assert "`fsdp` crosses `network` (10 GB/s)" in problem.message
    assert "its slowest link is `rack` (50 GB/s)" in problem.message
    assert "`replica, fsdp, tp`" in problem.helps[0]


def test_an_axis_larger_than_a_node_crosses_because_it_must():
    assert found(spec("fsdp = 16", "fsdp(fsdp)"), nodes(8, 2)) == []
    assert found(spec("replica = 2, fsdp = 8", "data(replica)\n  fsdp(fsdp)"), nodes(4, 4)) == []


def test_nothing_is_said_where_a_speed_is_not_known_or_the_mesh_is_another():
    source = spec("tp = 4, replica = 4", "data(replica)\n  tensor(tp)")
    assert found(source, nodes(4, 4)) != []
    assert found(source, nodes(4, 4, network=None)) == []
    assert found(source, nodes(4, 8)) == []  # said by another check
    assert found(source, nodes(16, 1)) == []


def test_a_view_keeps_the_order_of_its_axes():
    """`SwiGLU` regroups tp before replica, and goes on to; where it regroups all axes, no other order is possible."""
    mesh = "fsdp = 2, tp = 4, replica = 2 }\nmesh SwiGLU = regroup(%s) { rest = %d, ep = 4"
    source = spec(mesh % ("tp, replica", 2), HSDP)
    [problem] = found(source, nodes(4, 4))
    cured = edited(source, problem.edits)
    assert "mesh { tp = 4, fsdp = 2, replica = 2 }" in cured.text
    assert found(cured, nodes(4, 4)) == []
    assert found(spec(mesh % ("fsdp, tp, replica", 4), HSDP), nodes(4, 4)) == []


def test_groups_that_do_not_fit_a_node():
    """24 devices in nodes of 8: groups of 6. Of 2, 4 or 8, and none of 3, which 8 is no multiple of."""
    dims = SMALL.replace("heads = 8, kv_heads = 4", "heads = 24, kv_heads = 24").replace("mlp = 128", "mlp = 144")
    dims = dims.replace("vocab = 256", "vocab = 288").replace("seq = 64", "seq = 512")
    source = spec("dp = 4, tp = 6", "data(dp)\n  tensor(tp)", dims)
    [problem] = found(source, nodes(8, 3))
    assert problem.code == "W0321"
    assert problem.helps == ("a size that lies evenly: 2, 4, 8 or 24",)
    even = spec("dp = 6, tp = 4", "data(dp)\n  tensor(tp)", dims.replace("batch = 16", "batch = 12"))
    assert found(even, nodes(8, 3)) == []
