"""The mesh against the slice: each device has its work, and no work lacks its device."""

from __future__ import annotations

import math
from collections.abc import Iterator

from meshc.diagnostics.model import Diagnostic, Label
from meshc.diagnostics.suggest import divisors, listed
from meshc.semantics.checks.context import Context

MOST_TRIED = 8


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
    helps = tuple(_cures(context, product))
    if product > target.chips:
        message = f"the mesh has {product} devices ({spelled}), `{target.name}` has {target.chips}"
        yield Diagnostic("E0303", message, labels, helps)
    else:
        idle = target.chips - product
        message = (
            f"{idle} of the {target.chips} devices of `{target.name}` would be idle: the mesh has {product} ({spelled})"
        )
        yield Diagnostic("E0304", message, labels, helps)


def _cures(context: Context, product: int) -> Iterator[str]:
    program, target = context.placed.program, context.slice
    assert target is not None
    if not program.axes:
        yield f"declare a mesh: mesh {{ data = {target.chips} }}"
    for axis in program.axes:
        rest = product // axis.size
        if target.chips % rest == 0 and target.chips // rest != axis.size:
            yield f"make `{axis.name}` {target.chips // rest}, or `*` to take what the slice leaves"
            yield from _pairs(context)
            return
    pairs = [(a, b) for i, a in enumerate(program.axes) for b in program.axes[i + 1 :]]
    for a, b in pairs:
        rest = product // (a.size * b.size)
        if target.chips % rest == 0:
            both = target.chips // rest
            sizes = listed(divisors(both), near=a.size)
            yield f"`{a.name}` * `{b.name}` must be {both}: `{a.name}` may be {sizes}"
            return


def _pairs(context: Context) -> Iterator[str]:
    """Of a mesh of two axes, all the ways to fill the slice; those with which the spec has no errors, where tried."""
    assert context.slice is not None
    large = [a for a in context.placed.program.axes if a.size > 1]
    chips, retry = context.slice.chips, context.retry
    pairs = [(n, chips // n) for n in divisors(chips)]
    if len(large) != 2 or len(pairs) > MOST_TRIED:
        return
    a, b = large
    if retry:
        pairs = [(m, n) for m, n in pairs if retry({a.name: m, b.name: n})]
    if len(pairs) > 1:
        *most, last = [f"{m} * {n}" for m, n in pairs]
        yield f"`{a.name}` * `{b.name}` may be {', '.join(most)} or {last}"
