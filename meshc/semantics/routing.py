"""Routed experts: where tokens lie between `route` and `combine`, and what sending them there and back moves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from meshc.semantics.needs import Axes, Need, Places, Routed, Rules, Trouble, axes_of
from meshc.semantics.placed import InnerCollective, Layout, Placed, PlacedProgram
from meshc.semantics.program import Combine, Dim, Dropped, Elementwise, Load, LoadBalance, Op, Route, Value

COUNTS = "tokens of each expert"
"""What is added up of each routing's tokens, however many operations ask for it."""

# ---------------------------------------------------------------- where tokens lie


@dataclass(frozen=True)
class Inside:
    """What is known of an expert region before its tokens are placed.

    experts  axes that split the experts, each device's tokens being its own along them
    mlp      axes that split the experts' own dims: along them tokens are equal
    view     axes that the region's view of the devices factors anew
    """

    experts: Axes
    mlp: frozenset[str]
    view: frozenset[str]
    sizes: Mapping[str, int]


def lay_out(outer: Places, inside: Inside, held: Sequence[Dim]) -> tuple[tuple[Axes, ...], Trouble | None]:
    """Axes of each token dim: as outside, gathered along those of the experts' mlp, and split over all others of the
    view along which tokens are equal, at the last dim that divides.

    `held` are the token dims as one microstep sees them.
    """
    places = {d.name: tuple(a for a in outer[d.name] if a not in inside.mlp) for d in held}
    taken = {a for axes in places.values() for a in axes} | inside.mlp
    equal = tuple(a for a in inside.sizes if (a in inside.view or a in inside.experts) and a not in taken)
    for axes in [equal] if _split(equal, places, inside, held) else [(a,) for a in equal]:
        dim = _split(axes, places, inside, held)
        if dim is None:
            first, last = (_local(d, places, inside) for d in (held[0], held[-1]))
            return tuple(places[d.name] for d in held), Trouble("tokens", last, axes, first)
        places[dim.name] += axes
    return tuple(places[d.name] for d in held), None


def _split(axes: Axes, places: Places, inside: Inside, held: Sequence[Dim]) -> Dim | None:
    """The last token dim whose local part divides by these axes."""
    for dim in reversed(held):
        if dim.size % math.prod(inside.sizes[a] for a in (*places[dim.name], *axes)) == 0:
            return dim
    return None


def _local(dim: Dim, places: Places, inside: Inside) -> Dim:
    """A device's part."""
    return replace(dim, size=dim.size // math.prod(inside.sizes[a] for a in places[dim.name]))


# ---------------------------------------------------------------- what operations need


def experts(op: Route | Combine | LoadBalance | Load | Dropped, rules: Rules, home: Places) -> Need:
    match op:
        case Route():
            return _route(op, rules, home)
        case Combine():
            return _combine(op, rules)
        case LoadBalance() | Load() | Dropped():
            return _shares(op, rules)


def _route(op: Route, rules: Rules, home: Places) -> Need:
    """Tokens lie in the region's way, scores with them and whole; the result where the experts are."""
    routed = rules.routed(op.result)
    embed = op.operand.dims[-1].name
    places = {**routed.places, embed: home[embed], op.experts.name: ()}
    operands = [v for v in (op.operand, op.by, op.bias) if v is not None]
    wanted = tuple((v, axes_of(v.dims, places)) for v in operands)
    spread = routed.spread - set(routed.axes)
    inner = tuple(_sent(op, rules, routed, places)) if home[op.experts.name] else ()
    return Need(wanted, axes_of(op.result.dims, home), (), (*_room(op, rules, routed), *inner), (), spread)


def _combine(op: Combine, rules: Rules) -> Need:
    """Outputs go back to where their tokens were; a sum over devices that is still open stays so, for tokens are fewer
    than the rows of their experts.
    """
    routed, partial = rules.routed(op.routed), rules.partial(op.operand)
    places = {**rules.places(op.operand), **routed.places}
    axes = rules.places(op.operand)[routed.route.experts.name]
    own = [d for d in op.result.dims if d not in routed.route.operand.dims[:-1]]
    inner = []
    if axes:
        width = rules.local(own, places)
        inner.append(_exchanged(routed.route, rules, routed, axes, width, "tokens back from their experts"))
    if partial:
        tokens = rules.local(_tokens(routed.route), routed.places)
        slots = slots_of(routed.route, tokens, _size(axes, rules), _size(routed.axes, rules))
        label = "weights of tokens at their experts"
        inner.append(InnerCollective("all_reduce", partial, slots, 0, 1, label))
    wanted = ((op.operand, None), (op.routed, None))
    return Need(wanted, axes_of(op.result.dims, places), partial, tuple(inner))


def _shares(op: LoadBalance | Load | Dropped, rules: Rules) -> Need:
    """Counts, and sums of the scores, of all devices' tokens: two numbers for each expert; of choices dropped, one.

    Along axes that split what is sent of a token its scores are equal, but each device uses them in its own way:
    summed over these, too, shares are as they were, and the gradients of all uses may be summed.
    """
    routed = rules.routed(op.routed)
    number = routed.route.experts.real
    sent = rules.places(op.routed)[routed.route.operand.dims[-1].name]
    axes = tuple(a for a in rules.sizes if a in {*routed.axes, *sent})
    if not axes:
        return Need(((op.routed, None),), ((),) * len(op.result.dims))
    if isinstance(op, Dropped):
        number = 0 if routed.route.capacity is None else 1
        inner = [InnerCollective("all_reduce", axes, 1, 1, 0, "choices without room", "int", True, True)] * number
        return Need(((op.routed, None),), (), (), tuple(inner))
    inner = [InnerCollective("all_reduce", axes, number, 1, 0, COUNTS, "int", True, True)]
    if isinstance(op, LoadBalance):
        inner.append(InnerCollective("all_reduce", axes, number, 1, 0, "scores of each expert", "sum", True))
    return Need(((op.routed, None),), ((),) * len(op.result.dims), (), tuple(inner))


def by_row(op: Op, need: Need, routes: Mapping[Value, Route], homes: Mapping[Value, Placed]) -> Need:
    """Of rows, what counts as varying stays so; and where they meet their expert's own: which one that is counts as
    varying along what splits a token sent.
    """
    given = [v for v in op.operands if isinstance(v, Value)] if isinstance(op, Elementwise) else []
    rows = [v for v in given if v in routes]
    if not rows:
        return need
    spread = {a for v in rows for a in homes[v].layout.spread}
    route = routes[rows[0]]
    if any(v not in routes and route.experts in v.dims for v in given):
        spread |= {*homes[route.result].layout.axes[-1]}
    return replace(need, spread=need.spread | spread.difference(*need.result))


# ---------------------------------------------------------------- what moves


def slots_of(route: Route, tokens: int, devices: int, senders: int) -> int:
    """Rows that a device has room for: all that could come from `devices` devices, which share the experts, with so
    many tokens each; under a capacity no more than its experts take of all `senders`' tokens.
    """
    rows = tokens * route.top_k if devices == 1 else devices * block_of(route, tokens, devices)
    if route.capacity is None:
        return rows
    each = math.ceil(route.capacity * tokens * senders * route.top_k / route.experts.real)
    return min(rows, max(route.experts.size // devices, 1) * each)


def block_of(route: Route, tokens: int, devices: int) -> int:
    """Rows that one device could send to one other."""
    return tokens * min(route.top_k, max(route.experts.size // devices, 1))


def _tokens(route: Route) -> tuple[Dim, ...]:
    return route.operand.dims[:-1]


def _size(axes: Axes, rules: Rules) -> int:
    return math.prod(rules.sizes[a] for a in axes)


def _sent(op: Route, rules: Rules, routed: Routed, places: Places) -> Iterator[InnerCollective]:
    """How many rows go where, the rows, and the weight of each."""
    axes = tuple(a for a in rules.ruled(op.result, ())[op.result.dims.index(op.experts)])
    tokens = rules.local(_tokens(op), routed.places)
    width = rules.local([op.operand.dims[-1]], places)
    blocks = _size(axes, rules) * block_of(op, tokens, _size(axes, rules))
    yield InnerCollective("all_gather", axes, op.experts.size, 1, 0, "rows for each expert", "int", True, True)
    yield _exchanged(op, rules, routed, axes, width, "tokens to their experts")
    yield InnerCollective("all_to_all", axes, blocks, 1, 1, "weights of tokens", "sum")


def _exchanged(route: Route, rules: Rules, routed: Routed, axes: Axes, width: int, label: str) -> InnerCollective:
    """Rows of `width` elements from and to each of the devices along `axes`; padded, all that could be sent."""
    tokens, devices = rules.local(_tokens(route), routed.places), _size(axes, rules)
    padded, ragged = devices * block_of(route, tokens, devices) * width, tokens * route.top_k * width
    return InnerCollective("all_to_all", axes, padded, 1, 1, label, ragged_elements=ragged)


def _room(op: Route, rules: Rules, routed: Routed) -> Iterator[InnerCollective]:
    """Under a capacity: how many of the tokens before one's own chose each expert, dim by dim, the last one first."""
    if op.capacity is None:
        return
    dims = _tokens(op)
    for i in reversed(range(len(dims))):
        if axes := routed.places[dims[i].name]:
            numbers = rules.local(dims[:i], routed.places) * op.experts.real
            label = "tokens of each expert before these"
            yield InnerCollective("all_gather", axes, numbers, 1, 0, label, "int", not i, True)


# ---------------------------------------------------------------- how it lies

SLOTS = "slots"
"""The dim of a routed tensor's rows on devices, in place of the token dims and the experts."""


def lying(placed: Placed, program: PlacedProgram) -> tuple[tuple[Dim, ...], Layout]:
    """The dims of one microstep's part of a tensor, as it lies on devices, and its layout of these."""
    dims, route = program.micro(placed.value.dims), program.routes.get(placed.value)
    if route is None:
        return dims, placed.layout
    sent = {d.name for d in (*_tokens(route), route.experts)}
    pairs = list(zip(dims, placed.layout.axes, strict=True))
    axes = tuple(a for d, axes in pairs if d.name in sent for a in axes)
    devices = program.shards([a for d, axes in pairs if d.name == route.experts.name for a in axes])
    tokens = math.prod(d.size for d in program.micro(_tokens(route))) // program.shards(axes)
    rows = slots_of(route, tokens, devices, program.shards(axes)) * program.shards(axes)
    own = [(d, axes) for d, axes in pairs if d.name not in sent]
    layout = replace(placed.layout, axes=(axes, *(axes for _, axes in own)))
    return (Dim(SLOTS, rows, rows), *(d for d, _ in own)), layout
