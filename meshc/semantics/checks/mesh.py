"""The mesh against the slice: each device has its work, and no work lacks its device."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

from meshc.diagnostics.model import Cure, Diagnostic, Edit, Label, Option
from meshc.semantics.alternatives import to_multiply
from meshc.semantics.checks.context import Context
from meshc.semantics.program import Program
from meshc.source import Span


def mesh_fills_slice(context: Context) -> Iterator[Diagnostic]:
    """E0303 for a mesh larger than the slice, E0304 for one that leaves devices idle."""
    program, target = context.placed.program, context.slice
    if target is None:
        return
    devices = math.prod(a.size for a in program.axes)
    if devices == target.chips:
        return
    spelled = " * ".join(f"{a.name} {a.size}" for a in program.axes) or "no mesh"
    labels = tuple(Label(span) for span in [program.mesh_span] if span)
    cures = tuple(_cures(context))
    if devices > target.chips:
        message = f"the mesh has {devices} devices ({spelled}), `{target.name}` has {target.chips}"
        yield Diagnostic("E0303", message, labels, cures=cures)
    else:
        idle = target.chips - devices
        message = (
            f"{idle} of the {target.chips} devices of `{target.name}` would be idle: the mesh has {devices} ({spelled})"
        )
        yield Diagnostic("E0304", message, labels, cures=cures)


def _cures(context: Context) -> Iterator[Cure]:
    program, target = context.placed.program, context.slice
    assert target is not None
    if not program.axes:
        yield Cure(f"declare a mesh: mesh {{ data = {target.chips} }}", _declared(program, target.chips))
    yield from to_multiply(program.axes, target.chips, "make `{axis}` {{}}, or `*` to take what the slice leaves")
    yield from _with_views(program, target.chips)


def _with_views(program: Program, chips: int) -> Iterator[Cure]:
    """Another size of an axis that views take, and of one axis of each view, which makes up for it."""
    devices = math.prod(axis.size for axis in program.axes)
    for axis in program.axes:
        size, over = divmod(chips, devices // axis.size)
        views = [view for view in program.views if axis.name in view.group]
        if over or size == axis.size or not views:
            continue
        own = ([(a.name, a.size * size // axis.size) for a in v.axes if a.size * size % axis.size == 0] for v in views)
        ways = [((axis.name, size), *along) for along in product(*own)]
        options = (Option(_listed(way), tuple((f"mesh.{name}", n) for name, n in way)) for way in ways)
        yield Cure("make {}", tuple(options), unless="mesh")


def _listed(sizes: Sequence[tuple[str, int]]) -> str:
    return " and ".join(f"`{name}` {size}" for name, size in sizes)


def _declared(program: Program, chips: int) -> tuple[Option, ...]:
    text = f"mesh {{ data = {chips} }}\n\n"
    if not program.rules and not program.uses:
        text += "partition { data(data) }\n\n"
    return (Option("", (), (Edit(Span(program.source, 0, 0), text),)),)
