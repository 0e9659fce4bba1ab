"""What attention needs of its operands' layouts, and how keys and values travel where the sequence is split."""

from __future__ import annotations

import math
from collections.abc import Iterator

from meshc.semantics.needs import Axes, Need, Places, Rules, Trouble, axes_of
from meshc.semantics.placed import InnerCollective
from meshc.semantics.program import Attend


def attend(op: Attend, rules: Rules, within: tuple[str, ...]) -> Need:
    inside = {d.name: a for d, a in zip(op.result.dims, rules.ruled(op.result, within), strict=True)}
    keys = {d.name: a for d, a in zip(op.k.dims, rules.ruled(op.k, within), strict=True)}
    inside[op.q.dims[-1].name] = inside[op.result.dims[-1].name] = ()
    trouble = []
    heads, kv_heads = inside[op.heads.name], keys[op.kv_heads.name]
    if kv_heads != heads[: len(kv_heads)]:  # on fewer axes: each device takes the kv heads that its heads need
        trouble.append(Trouble("heads_apart", op.heads, heads, op.kv_heads, kv_heads))
        kv_heads = heads
    if heads != kv_heads and _straddle(op, rules, heads):
        trouble.append(Trouble("heads_straddle", op.heads, heads, op.kv_heads))
    seq = inside[op.seq.name]
    methods = {axis: rules.exchange(axis, within) for axis in seq}
    if unmoved := tuple(a for a in seq if methods[a] is None):
        trouble.append(Trouble("keys_split", op.seq, unmoved))
    places = {**inside, op.kv_heads.name: kv_heads}
    wanted = [(v, axes_of(v.dims, places)) for v in (op.q, op.k, op.v, *((op.sinks,) if op.sinks else ()))]
    if op.segments:  # whole, so that a device knows those of the keys that come to it
        wanted.append((op.segments, axes_of(op.segments.dims, {**places, op.seq.name: ()})))
    inner = () if unmoved else tuple(_exchanges(op, methods, rules, places, heads))
    return Need(tuple(wanted), axes_of(op.result.dims, inside), (), inner, tuple(trouble))


def _straddle(op: Attend, rules: Rules, heads: Axes) -> bool:
    """With whole kv heads, each device's query heads must share one kv head, or own all that belong to theirs."""
    shards = math.prod(rules.sizes[a] for a in heads)
    local, group = op.heads.size // shards, op.heads.size // op.kv_heads.size
    return op.heads.size % shards == 0 and bool(local % group and group % local)


def _exchanges(
    op: Attend, methods: dict[str, str | None], rules: Rules, places: Places, heads: Axes
) -> Iterator[InnerCollective]:
    """Keys and values gathered over some axes of the sequence, and then round a ring of the others.

    In the backward pass they travel again; so do their gradients, summed on the way: round the ring at the width of
    sums, once less than there are devices, for those of a device's own keys stay there.
    """
    whole = rules.local([op.kv_heads], places)
    own = max(1, rules.local([op.heads], {op.heads.name: heads}) * op.kv_heads.size // op.heads.size)
    elements = (rules.local(op.k.dims, places) + rules.local(op.v.dims, places)) * min(own, whole) // whole
    gathered = tuple(a for a, method in methods.items() if method == "all_gather")
    along = tuple(a for a, method in methods.items() if method == "ring")
    keys, gradients = "keys and values", "gradients of keys and values"
    if gathered:
        yield InnerCollective("all_gather", gathered, elements, 1, 1, keys)
        yield InnerCollective("reduce_scatter", gathered, elements, 0, 1, gradients)
        elements *= math.prod(rules.sizes[a] for a in gathered)
    if along:
        turns = math.prod(rules.sizes[a] for a in along) - 1
        yield InnerCollective("collective_permute", along, elements, turns, turns, keys)
        yield InnerCollective("collective_permute", along, elements, 0, turns, gradients, width="sum")
