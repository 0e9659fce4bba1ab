"""The mesh against the slice: each device has its work, and no work lacks its device."""

from __future__ import annotations

import math
from collections.abc import Iterator

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
    product = math.prod(a.size for a in program.axes)
    if product == target.chips:
        return
    spelled = " * ".join(f"{a.name} {a.size}" for a in program.axes) or "no mesh"
    labels = tuple(Label(span) for span in [program.mesh_span] if span)
    cures = tuple(_cures(context))
    if product > target.chips:
        message = f"the mesh has {product} devices ({spelled}), `{target.name}` has {target.chips}"
        yield Diagnostic("E0303", message, labels, cures=cures)
    else:
        idle = target.chips - product
        message = (
            f"{idle} of the {target.chips} devices of `{target.name}` would be idle: the mesh has {product} ({spelled})"
        )
        yield Diagnostic("E0304", message, labels, cures=cures)


def _cures(context: Context) -> Iterator[Cure]:
    program, target = context.placed.program, context.slice
    assert target is not None
    if not program.axes:
        yield Cure(f"declare a mesh: mesh {{ data = {target.chips} }}", _declared(program, target.chips))
    yield from to_multiply(program.axes, target.chips, "make `{axis}` {{}}, or `*` to take what the slice leaves")


def _declared(program: Program, chips: int) -> tuple[Option, ...]:
    text = f"mesh {{ data = {chips} }}\n\n"
    if not program.rules and not program.uses:
        text += "partition { data(data) }\n\n"
    return (Option("", (), (Edit(Span(program.source, 0, 0), text),)),)
