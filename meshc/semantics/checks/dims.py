"""Sizes against shards: a dim must divide by the axes it lies on, the batch by the microsteps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from meshc.diagnostics.model import Cure, Diagnostic, Edit, Label, Option
from meshc.diagnostics.suggest import divisors, legal_sizes
from meshc.semantics.alternatives import MICROSTEPS, axis_may_be, dim_may_be, elsewhere, in_place, instead, near, trades
from meshc.semantics.checks.context import Context, Spot
from meshc.semantics.placed import Computed
from meshc.semantics.program import Attend, Dim, Lookup
from meshc.source import Span


def shards_divide(context: Context) -> Iterator[Diagnostic]:
    """E0301, one for each axes that some dims do not divide by, with the sizes that would."""
    uneven: dict[tuple[str, ...], list[Spot]] = {}
    for spot in context.spots:
        if not _fits(context, spot):
            uneven.setdefault(spot.axes, []).append(spot)
    asked = {axes: spots for axes, spots in uneven.items() if all(_asked(context, spot) for spot in spots)}
    for axes, spots in uneven.items():
        # A dim that does not divide by fewer axes is said there; so is one on what a view leaves of an axis.
        if any(set(other) < set(axes) and _dims(spots) <= _dims(those) for other, those in asked.items()):
            continue
        whole = [_dims(those) for other, those in asked.items() if set(axes) < set(other)]
        if axes in asked or not _dims(spots) <= set().union(*whole):
            yield _uneven(context, axes, spots)


def _dims(spots: Sequence[Spot]) -> set[str]:
    return {spot.dim.name for spot in spots}


def _asked(context: Context, spot: Spot) -> bool:
    """Whether rules put a dim on just these axes, rather than on others of which a view leaves a part."""
    return set(_declared(context, spot)) <= {axis for rule in spot.rules for axis in rule.axes}


def _fits(context: Context, spot: Spot, **sizes: int) -> bool:
    """Whether a dim divides by its shards; with another size of a declared axis, if given.

    As it is, a dim that is repeated lies on the outer axes alone. Which these would be with another size, a try shows.
    """
    size, parts = _held(context, spot.dim).size, _parts(context, spot, **sizes)
    repeated = bool(sizes) and any(rule.repeat for rule in spot.rules)
    return size % parts == 0 or (repeated and parts % size == 0)


def _parts(context: Context, spot: Spot, **sizes: int) -> int:
    """Into how many equal parts a dim must be cut: its shards, and the chunks of a zigzag order."""
    shards, pairs = context.shards(spot.axes), context.shards(turned := _turned(context, spot))
    repeats = [rule for rule in spot.rules if rule.repeat]
    for axis, other in sizes.items():
        declared = context.placed.program.axis(axis).size
        if any(axis in rule.axes for rule in repeats):
            shards = math.prod(sizes.get(a, context.placed.program.axis(a).size) for a in repeats[0].axes)
        else:
            shards = shards // declared * other
        if set(context.placed.refined.of([axis])) & set(turned):
            pairs = pairs // declared * other
    return math.lcm(shards, 2 * pairs) if pairs > 1 else shards


def _turned(context: Context, spot: Spot) -> tuple[str, ...]:
    """The axes of a dim, from the outermost to the last one that cuts it in zigzag order."""
    zigzag = set(context.placed.refined.of([axis for rule in spot.rules if rule.zigzag for axis in rule.axes]))
    return spot.axes[: max((i for i, axis in enumerate(spot.axes, 1) if axis in zigzag), default=0)]


def _held(context: Context, dim: Dim) -> Dim:
    """The dim as one microstep sees it. (Into how many parts a pipeline cuts that is another check's.)"""
    placed = context.placed
    steps = placed.accumulated
    if dim != placed.batch or dim.size % steps:
        return dim
    return replace(dim, size=dim.size // steps, real=dim.real // steps)


def _uneven(context: Context, axes: tuple[str, ...], spots: Sequence[Spot]) -> Diagnostic:
    spot = spots[0]
    dim = _held(context, spot.dim)
    shards = _parts(context, spot)
    twice = ("2",) if shards != context.shards(axes) else ()
    product = " * ".join((*twice, *_declared(context, spot)))
    counted = f"{product} = {shards}"
    per = f" a microstep ({spot.dim.size} / {context.placed.accumulated})" if dim.size != spot.dim.size else ""
    others = [s for s in spots[1:] if s.dim.name != dim.name]
    also = f" (nor do {', '.join(f'{s.dim.size} {s.dim.name}' for s in others)})" if others else ""
    return Diagnostic(
        "E0301",
        f"{dim.size} {dim.name}{per} cannot be split over {counted} shards: "
        f"{dim.size} % {shards} = {dim.size % shards}{also}",
        tuple(_labels(context, spot)),
        cures=tuple(_cures(context, spot, [s.dim for s in (spot, *others)], shards)),
        cause=_culprit(context, spots),
    )


def _culprit(context: Context, spots: Sequence[Spot]) -> str:
    """What reports have in common that one axis explains: none of their dims divides by it alone. Else nothing."""
    sizes = {name: context.placed.program.axis(name).size for name in _declared(context, spots[0])}
    alone = (n for n, size in sizes.items() if all(_held(context, s.dim).size % size for s in spots))
    return f"the size of {name}" if (name := next(alone, None)) else ""


def _declared(context: Context, spot: Spot) -> tuple[str, ...]:
    return context.placed.refined.declared(spot.axes, [a for rule in spot.rules for a in rule.axes])


def _labels(context: Context, spot: Spot) -> Iterator[Label]:
    refined = context.placed.refined
    rules = [r for r in spot.rules if set(refined.of(r.axes)) & set(spot.axes)] or list(spot.rules)
    places: list[Span] = []
    for rule in rules:
        if rule.place not in places:
            places.append(rule.place)
            named = [a for a in rule.axes if set(refined.of([a])) & set(spot.axes)]
            sizes = ", ".join(f"`{a}` ({context.placed.program.axis(a).size})" for a in named)
            yield Label(rule.place, f"puts {spot.dim.name} on {sizes}")
    if spot.dim.span:
        yield Label(spot.dim.span, f"{spot.dim.name} is {spot.dim.size}")


def _cures(context: Context, spot: Spot, dims: Sequence[Dim], shards: int) -> Iterator[Cure]:
    """What would do: another size of an axis, of two that trade devices, of the one dim that does not divide."""
    names = _declared(context, spot)
    axes = [context.placed.program.axis(name) for name in reversed(names)]
    legal = {axis.name: _legal(context, axis.name) for axis in axes}
    for axis in axes:
        yield from axis_may_be(axis, legal[axis.name])
    for axis in axes:
        yield from trades(context.placed.program, axis, legal[axis.name].__contains__)
    if len(dims) == 1:
        yield from _for_dim(context, spot, names, dims[0], shards)
    for axis in axes:
        yield from elsewhere(axis, legal[axis.name])


def _for_dim(context: Context, spot: Spot, names: tuple[str, ...], dim: Dim, shards: int) -> Iterator[Cure]:
    """What to make of the one dim that does not divide."""
    cut = context.placed.accumulated if dim == context.placed.batch else 1
    if cut > 1 and (fewer := [n for n in divisors(dim.size) if n < cut and dim.size // n % shards == 0]):
        yield _microsteps(fewer, cut)
    role = _roles(context).get(dim.name)
    if role == "kv_heads" and shards % dim.size == 0:
        times = shards // dim.size
        claim, within = f"{dim.name} -> {', '.join(names)} repeat", max((r.within for r in spot.rules), key=len)
        says = f"hold each of the {dim.size} {dim.name} {times} times: {in_place(claim, within)}"
        yield Cure(says, instead(spot.rules, [dim.name], claim, within))
    if role == "rows" and dim.written:
        padded = f"pad({dim.real}, {shards})"
        says = f"pad it: {dim.name} = {padded}, which leaves the padding out of loss and files"
        yield Cure(says, (Option("", (), (Edit(dim.written, padded),)),))
    weighs = any(dim.name == own.name for w in context.placed.weights for own in w.weight.dims)
    sizes = (n * cut for n in legal_sizes(_held(context, dim).size, shards))
    yield from dim_may_be(dim.name, dim.size, sizes, usable=not weighs)


def _legal(context: Context, axis: str) -> list[int]:
    """The sizes of an axis by which all dims on it divide, with the other axes as they are."""
    parts = context.placed.refined.of([axis])
    spots = [spot for spot in context.spots if set(parts) & set(spot.axes)]
    candidates = {n for spot in spots for n in divisors(_held(context, spot.dim).size)}
    if any(not any(r.repeat for r in spot.rules) and not set(parts) <= set(spot.axes) for spot in spots):
        return sorted(candidates)  # something lies on a part of it: how it is cut then, a try shows
    return sorted(n for n in candidates if all(_fits(context, spot, **{axis: n}) for spot in spots))


def _roles(context: Context) -> dict[str, str]:
    """Dims that could be repeated (kv heads of an attention) or padded (rows of a table)."""
    roles: dict[str, str] = {}
    for item in context.flat.statements:
        match item.statement:
            case Computed(op=Attend(kv_heads=dim, heads=heads)) if dim != heads:
                roles[dim.name] = "kv_heads"
            case Computed(op=Lookup(row=row)):
                roles[row.name] = "rows"
    return roles


def microsteps_divide(context: Context) -> Iterator[Diagnostic]:
    """E0512."""
    batch, count = context.placed.batch, context.placed.accumulated
    if batch is not None and batch.size % count:
        yield Diagnostic(
            "E0512",
            f"{batch.size} {batch.name} cannot be cut into {count} microsteps: "
            f"{batch.size} % {count} = {batch.size % count}",
            (Label(batch.span, f"{batch.name} is {batch.size}"),) if batch.span else (),
            cures=(
                _microsteps(divisors(batch.size), count),
                *dim_may_be(batch.name, batch.size, legal_sizes(batch.size, count), usable=True),
            ),
        )


def _microsteps(counts: Sequence[int], count: int) -> Cure:
    """Other numbers of microsteps than `count`."""
    return Cure("`train.microsteps` may be {}", tuple(Option(str(n), ((MICROSTEPS, n),)) for n in near(counts, count)))
