"""Whether a program does what its spec states, where that shows in no number: a claim that was left out.

With the check off, one of two claims stands in for both. A program made so trains right, with a tensor whole, or split
otherwise than the spec says: what the language calls dropped without a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from meshc.semantics.flat import flatten
from meshc.semantics.placed import Computed, Moved, Placed, PlacedProgram
from meshc.semantics.program import Attend

TWICE = re.compile(r"`(\w+)` splits both `([\w']+)` and `([\w']+)` of `([\w.]+)`")
NAMES = re.compile(r"`(\w+)`")
STAGES = re.compile(r"\d+ stages of \d+ .* are named|cannot be cut into .* stages")
HEADS = re.compile(r"`([\w']+)` and `([\w']+)` lie on different axes inside `attend`")

Split = dict[str, tuple[str, ...]]


def dropped(placed: PlacedProgram, errors: Sequence[tuple[str, str]]) -> str:
    """What one of these errors (code, message) says that the spec states and the program has not; empty for none."""
    for code, message in errors:
        if code == "E0250" and (found := TWICE.search(message)):
            axis, one, other, tensor = found.groups()
            if not any(_on_both(placed, split, axis, one, other) for split in _splits(placed, tensor, one, other)):
                return message
        if code == "E0247" and not any(len(set(axes)) < len(axes) for axes in _all_axes(placed)):
            return message
        if code == "E0253":  # they go round a ring that nobody asked for
            axes = set(NAMES.findall(message.partition("is split over")[2]))
            if not axes & {exchange.axis for exchange in placed.program.exchanges}:
                return message
        if code == "E0252" and (found := HEADS.search(message)) and not _attends_so(placed, *found.groups()):
            return message
        if code == "E0255" and placed.pipeline is None:
            return message
        if code == "E0301" and STAGES.search(message) and _other_stages(placed):
            return message
    return ""


def _on_both(placed: PlacedProgram, split: Split, axis: str, one: str, other: str) -> bool:
    parts = set(placed.refined.parts.get(axis, (axis,)))
    return bool(parts & set(split[one]) and parts & set(split[other]))


def _splits(placed: PlacedProgram, tensor: str, *dims: str) -> Iterator[Split]:
    """All placements in the program of tensors of a name with these dims: dim -> axes."""
    for weight in placed.weights:
        for layout, own in (
            (weight.use, weight.weight.value.dims),
            (weight.rest, weight.weight.dims),
            (weight.grads, weight.weight.dims),
            (weight.optimizer, weight.weight.dims),
        ):
            names = [dim.name for dim in own]
            if tensor == weight.weight.dotted and set(dims) <= set(names):
                yield dict(zip(names, layout.axes, strict=True))
    for item in flatten(placed).statements:
        match item.statement:
            case Moved(result=result) | Computed(result=result):
                names = [dim.name for dim in result.value.dims]
                if result.value.name == tensor and set(dims) <= set(names):
                    yield dict(zip(names, result.layout.axes, strict=True))


def _all_axes(placed: PlacedProgram) -> Iterator[tuple[str, ...]]:
    for weight in placed.weights:
        for layout in (weight.use, weight.rest, weight.grads, weight.optimizer):
            yield from layout.axes
    for item in flatten(placed).statements:
        match item.statement:
            case Moved(result=result) | Computed(result=result):
                yield from result.layout.axes


def _attends_so(placed: PlacedProgram, heads: str, kv_heads: str) -> bool:
    """Whether any attention has both kinds of heads on the axes that rules put them on."""
    rules, of = placed.program.rules, placed.refined.of
    claimed = [{a for rule in rules if dim in rule.dims for a in of(rule.axes)} for dim in (heads, kv_heads)]
    for item in flatten(placed).statements:
        match item.statement:
            case Computed(op=Attend(), operands=(Placed() as q, Placed() as k, *_)):
                found = [set(one.placement.get(dim, ())) for one, dim in ((q, heads), (k, kv_heads))]
                if all(axes <= held for axes, held in zip(claimed, found, strict=True)):
                    return True
    return False


def _other_stages(placed: PlacedProgram) -> bool:
    """Whether stages have other layers than those that their rule names."""
    pipeline = placed.pipeline
    if pipeline is None:
        return True
    of_stages = [sum(of_each) for of_each in zip(*pipeline.cut.turns, strict=True)]
    return list(pipeline.cut.rule.stages or of_stages) != of_stages
