"""What a compiler may leave out of the derived collectives, and of what it may make another: the one list of it.

The same bytes in another form, which the comparison by axes does not see:

- An all-reduce may run as a reduce-scatter and an all-gather over the same axes (as many bytes in the ring model).
- Collectives may be combined, each then moves several arrays.

Fewer bytes; `saved` says how many over which axes:

- What is the same in each turn of a loop may be moved out of it: a weight outside the layers is gathered once a step
  where the derived list has it once a microstep; segments, which each layer's attention gathers, once a microstep.
- A repeat of one turn is no loop. Nothing then keeps what the backward pass does again apart from what the forward one
  did, and the two are merged.
- So are keys and values that travel in the forward pass of attention and again in its backward pass, where no loop is
  around each: in a repeat of one turn, or a pipeline's stages of one. And where the backward pass of a layer begins
  with its forward one, those that it makes for that and for attention's own: gathered, or round a ring of two devices.
- Two moves of one tensor in one way are one: where two layers that stand side by side each gather what both read.
- So are the ways back of two moves with the same cotangent: of two that are scattered and then added.
- So are the counts of one routing's tokens, which its load and its auxiliary loss each add up.

Single numbers are compared with nothing: XLA merges such, and moves scalars in clipping that no layout speaks of.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from meshc.semantics.collectives import Collective, Deriver, Settings
from meshc.semantics.flat import Flat
from meshc.semantics.placed import Computed, Moved, Placed, PlacedProgram
from meshc.semantics.program import Elementwise, Kind, Load, LoadBalance, Value
from meshc.semantics.routing import COUNTS

Axes = tuple[str, ...]
TRAVELS = ("collective-permute", "all-gather")


def saved(program: PlacedProgram, settings: Settings) -> dict[Axes, float]:
    """Bytes a device and step that a compiler may save, by the axes (in mesh order) that they go over."""
    total: defaultdict[Axes, float] = defaultdict(float)
    deriver = Deriver(program, settings)
    merged = (
        *_merged_with_forward(deriver),
        *_travelled_once(deriver),
        *_equal_moves(deriver),
        *_equal_counts(deriver),
    )
    for c, num_bytes in (*_moved_out(deriver), *merged):
        total[tuple(a for a in program.sizes if a in c.axes)] += num_bytes
    return dict(total)


def _moved_out(deriver: Deriver) -> Iterator[tuple[Collective, float]]:
    fed = {deriver.flat.of(placed) for placed in deriver.program.fed if placed.value.kind is Kind.INT}
    outside = {deriver.flat.of(w.inside) for w in deriver.program.weights if not w.weight.stack}
    for item in deriver.flat.statements:
        match item.statement:
            case Moved(source=source) if deriver.flat.of(source) in outside:
                for c in deriver.of(item):
                    if c.op == "all-gather" and c.phase == "forward":
                        yield c, c.bytes_per_device * (1 - 1 / max(c.count, 1))
            case Moved(source=source) if deriver.flat.of(source) in fed and item.count > 1:
                for c in deriver.of(item):
                    once = 0 if c.phase == "backward" else 1 / float(item.count)
                    yield c, c.bytes_per_device * (1 - once)


def _merged_with_forward(deriver: Deriver) -> Iterator[tuple[Collective, float]]:
    for item in deriver.flat.statements:
        if item in deriver.again and item.count == 1:
            yield from ((c, c.bytes_per_device) for c in deriver.of(item) if c.phase == "forward")


def _travelled_once(deriver: Deriver) -> Iterator[tuple[Collective, float]]:
    pipeline = deriver.program.pipeline
    for item in deriver.flat.statements:
        alone = item.count == 1 if pipeline is None or item.part != "stage" else pipeline.alone(item.region)
        if alone and isinstance(item.statement, Computed):
            inner = item.statement.inner
            again = {i.label for i in inner if i.times and i.backward and i.op.replace("_", "-") in TRAVELS}
            found = (c for c in deriver.of(item) if c.phase == "forward" and c.what in again)
            yield from ((c, c.bytes_per_device) for c in found)
        elif isinstance(item.statement, Computed) and (runs := deriver.runs_again(item)):
            single = {i.op.replace("_", "-") for i in item.statement.inner if i.times == i.backward == 1}
            found = (c for c in deriver.of(item) if c.phase == "forward" and c.op in single & {*TRAVELS})
            yield from ((c, c.bytes_per_device * runs) for c in found)


def _equal_moves(deriver: Deriver) -> Iterator[tuple[Collective, float]]:
    flat = deriver.flat
    forward: Counter[tuple] = Counter()
    backward: Counter[tuple] = Counter()
    added_to = _sums(deriver)
    for item in flat.statements:
        if not isinstance(item.statement, Moved):
            continue
        moved = item.statement
        there = (flat.of(moved.source), moved.result.layout, moved.steps, item.region)
        back = (_cotangent(flat.of(moved.result), added_to), moved.source.layout, moved.steps, item.region)
        collectives = list(deriver.of(item))
        out = [c for c in collectives if c.phase == "forward"]
        if forward[there]:
            runs = 1 + deriver.runs_again(item)
            yield from ((c, c.bytes_per_device * runs) for c in out)
        if backward[back]:
            yield from ((c, c.bytes_per_device) for c in deriver.back(item, moved))
        forward[there] += 1
        backward[back] += 1


def _equal_counts(deriver: Deriver) -> Iterator[tuple[Collective, float]]:
    counted: set[Value] = set()
    for item in deriver.flat.statements:
        match item.statement:
            case Computed(op=Load(routed=routed) | LoadBalance(routed=routed)):
                if routed in counted:
                    yield from ((c, c.bytes_per_device) for c in deriver.of(item) if c.what == COUNTS)
                counted.add(routed)


def _sums(deriver: Deriver) -> Mapping[Placed, Placed]:
    """A tensor that is read once, in a sum, to that sum: both have the same cotangent."""
    readers: defaultdict[Placed, list[Flat]] = defaultdict(list)
    for item in deriver.flat.statements:
        match item.statement:
            case Moved(source=source):
                readers[deriver.flat.of(source)].append(item)
            case Computed(operands=operands):
                for operand in operands:
                    if isinstance(operand, Placed):
                        readers[deriver.flat.of(operand)].append(item)
    sums = {}
    for placed, items in readers.items():
        match [item.statement for item in items]:
            case [Computed(op=Elementwise(function="add"), result=result)] if len(result.value.dims) == len(
                placed.value.dims
            ):
                sums[placed] = deriver.flat.of(result)
    return sums


def _cotangent(placed: Placed, sums: Mapping[Placed, Placed]) -> Placed:
    seen: set[Placed] = set()
    while placed in sums and placed not in seen:
        seen.add(placed)
        placed = sums[placed]
    return placed
