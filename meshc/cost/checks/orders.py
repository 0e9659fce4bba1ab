"""Axes of which the order makes a dim travel that need not: one that leaves it stands outside of one that stays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations

from meshc.cost.checks.context import Movement, Priced
from meshc.diagnostics import waste as say
from meshc.diagnostics.model import Diagnostic
from meshc.semantics.checks.links import reordered
from meshc.semantics.collectives import derive
from meshc.semantics.flat import flatten
from meshc.semantics.pipeline import without_rule
from meshc.semantics.placed import Moved, PlacedProgram
from meshc.semantics.placement import place
from meshc.semantics.program import Axis

WORTH = 0.05
"""Share of what a device sends in a step above which movements are reported, and which another order must save."""
MOST_ORDERED = 5
"""Axes of which all orders are tried."""


def orders_agree(priced: Priced) -> Iterator[Diagnostic]:
    """W0332: a dim is gathered over an axis that splits it afterwards, too, as where `seq` lies on an outer axis that
    goes to heads inside of attention and on an inner one that stays.
    """
    found = [movement for movement in priced.movements if split_again(movement.moved)]
    sent = sum(movement.sent for movement in found)
    if not found or sent <= WORTH * priced.bytes_sent:
        return
    largest: Movement = max(found, key=lambda movement: movement.sent)
    names = priced.placed.refined.declared(split_again(largest.moved))
    order, least = min(_orders(priced), key=lambda one: one[1], default=((), 0))
    left = least / priced.bytes_sent
    if not order or left > 1 - WORTH:
        order = ()
    edits = reordered(priced.placed.program, order) if order else ()
    if span := priced.placed.program.axis(names[0]).span:
        share, better = sent / priced.bytes_sent, [axis.name for axis in order]
        yield say.split_again(largest.path, names, span, sent, share, better, left, edits)


def split_again(moved: Moved) -> tuple[str, ...]:
    """Axes that a dim is gathered over and lies on in the end."""
    gathers = [step for step in moved.steps if step.kind in ("all_gather", "all_gather_invariant")]
    return tuple(a for s in gathers if s.dim is not None for a in s.axes if a in moved.result.layout.axes[s.dim])


def _orders(priced: Priced) -> Iterator[tuple[tuple[Axis, ...], int]]:
    """Other orders of the mesh, and what a device sends in a step there."""
    placed = priced.placed
    large = [axis for axis in placed.program.axes if axis.size > 1]
    if len(large) > MOST_ORDERED or placed.program.views:
        return
    for order in permutations(large):
        if list(order) == large:
            continue
        moved = iter(order)
        axes = tuple(next(moved) if axis.size > 1 else axis for axis in placed.program.axes)
        if there := _placed_in(placed, axes):
            yield axes, sum(c.bytes_per_device for c in derive(there, priced.settings))


def _placed_in(placed: PlacedProgram, axes: tuple[Axis, ...]) -> PlacedProgram | None:
    """The program on the axes in this order; None where that is wrong or no better."""
    program = without_rule(replace(placed.program, axes=axes))
    there, problems = place(program, placed.accumulated)
    again = any(isinstance(i.statement, Moved) and split_again(i.statement) for i in flatten(there).statements)
    return None if problems or again else there
