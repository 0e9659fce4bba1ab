"""The mesh on the links of its slice: which axis crosses a slower one than it need.

Nothing is said of a slice without several links, or where the speed of one is not known.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import permutations

from meshc.diagnostics import links as say
from meshc.diagnostics.model import Diagnostic, Edit
from meshc.diagnostics.suggest import divisors
from meshc.job.wiring import Link, links
from meshc.semantics.alternatives import trades
from meshc.semantics.checks.context import Context
from meshc.semantics.collectives import Settings, derive
from meshc.semantics.links import Network, network
from meshc.semantics.program import Axis, Program

MOST_ORDERED = 6
"""Axes of which all orders are tried."""
WORTH = 1.1
"""How many times less all collectives must take in another order for it to be suggested."""


def axes_stay_near(context: Context) -> Iterator[Diagnostic]:
    """W0320 where another order of the axes takes less time on the links, else W0321 for axes that lie unevenly."""
    wired = network(context.placed, context.slice)
    if wired is None or not context.placed.sound or _all_alike(wired):
        return
    if any(level.bandwidth is None for level in wired.slice.levels if level.size > 1):
        return
    found = list(_order(context, wired)) or list(_uneven(context, wired))
    yield from found


def _all_alike(wired: Network) -> bool:
    """Whether no order of axes is better than another: there is one link, and no sides that axes could share."""
    return len(links(wired.slice)) < 2 and sum(side > 1 for side in wired.slice.torus) < 2


# ---------------------------------------------------------------- the order of the axes


def _order(context: Context, now: Network) -> Iterator[Diagnostic]:
    program = context.placed.program
    collectives = derive(context.placed, Settings(ragged=now.slice.platform != "cpu"))
    took = now.total_seconds(collectives)
    ranked = []
    for order in _orders(program):
        there = Network(now.slice, _mesh(context, order))
        ranked.append((there.total_seconds(collectives) or 0.0, order, there))
    if not ranked or not took:
        return
    takes, order, there = min(ranked, key=lambda one: one[0])
    nearer = [axis for axis in program.axes if _slower(_link(context, now, axis), _link(context, there, axis))]
    if not nearer or takes * WORTH > took:
        return
    axis = max(nearer, key=lambda axis: _gain(context, now, there, axis))
    before, after = _link(context, now, axis), _link(context, there, axis)
    assert axis.span and before and after
    edits = reordered(program, order)
    names = [a.name for a in order]
    yield say.needless_crossing(axis.name, axis.span, _told(before), _told(after), names, took, takes, edits)


def _orders(program: Program) -> Iterator[tuple[Axis, ...]]:
    """Other orders of the axes in which each view regroups the same axes as before, in the same order."""
    large = [i for i, axis in enumerate(program.axes) if axis.size > 1]
    if len(large) > MOST_ORDERED:
        return
    for moved in permutations(large):
        order = list(program.axes)
        for place, i in zip(large, moved, strict=True):
            order[place] = program.axes[i]
        names = [axis.name for axis in order]
        kept = all(tuple(name for name in names if name in view.group) == view.group for view in program.views)
        if kept and moved != tuple(large):
            yield tuple(order)


def _mesh(context: Context, order: Sequence[Axis]) -> tuple[tuple[str, int], ...]:
    sizes = context.placed.sizes
    return tuple((name, sizes[name]) for axis in order for name in _refined(context, axis))


def _refined(context: Context, axis: Axis) -> tuple[str, ...]:
    """The placed program's axes of which an axis of the mesh is made."""
    return context.placed.refined.of((axis.name,))


def _link(context: Context, wired: Network, axis: Axis) -> Link | None:
    return wired.link(_refined(context, axis))


def _slower(now: Link | None, there: Link | None) -> bool:
    return bool(now and there and (now.bandwidth or 0) < (there.bandwidth or 0))


def _gain(context: Context, now: Network, there: Network, axis: Axis) -> float:
    """How much faster the axis is to gather over: what tells which one to speak of."""
    axes = _refined(context, axis)
    before, after = (wired.seconds("all-gather", axes, 1.0) or 0.0 for wired in (now, there))
    return before - after


def reordered(program: Program, order: Sequence[Axis]) -> tuple[Edit, ...]:
    """The declarations in their new order, each in the place of another."""
    pairs = [(old.declared, new.declared) for old, new in zip(program.axes, order, strict=True) if old != new]
    return tuple(Edit(old, new.text) for old, new in pairs if old and new)


def _told(link: Link) -> str:
    assert link.bandwidth is not None
    return f"`{link.name}` ({link.bandwidth / 1e9:.3g} GB/s)"


# ---------------------------------------------------------------- sizes


def _uneven(context: Context, wired: Network) -> Iterator[Diagnostic]:
    """One axis of which some groups lie on one side of a link and others do not."""
    stride = 1
    for axis in reversed(context.placed.program.axes):
        for crossed in wired.crossings(_refined(context, axis)):
            if not crossed.even and axis.span:
                unit = _below(wired, crossed.link)
                sizes = [n for n in divisors(wired.slice.chips // stride) if _even(stride, n, unit) and n > 1]
                link, name = crossed.link.name, wired.slice.name
                cures = tuple(trades(context.placed.program, axis, sizes.__contains__))
                yield say.uneven_crossing(axis.name, axis.size, axis.span, link, unit, name, sizes, cures)
                return
        stride *= axis.size


def _below(wired: Network, link: Link) -> int:
    """Devices that lie together below a level."""
    unit = max(1, math.prod(wired.slice.torus))
    for level in wired.slice.levels:
        if level.name == link.name:
            break
        unit *= level.size
    return unit


def _even(stride: int, size: int, unit: int) -> bool:
    """Whether groups of this size at this stride fit into units a whole number of times, or units into groups."""
    return unit % (stride * size) == 0 or (unit % stride == 0 and (stride * size) % unit == 0)
