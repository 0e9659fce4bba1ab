"""A placed program as one list of statements, calls opened, repeats counted: what traffic and memory are read from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal
from weakref import WeakKeyDictionary

from meshc.semantics.live import of_a_step
from meshc.semantics.placed import (
    Computed,
    Moved,
    Placed,
    PlacedInvoke,
    PlacedLoss,
    PlacedMetric,
    PlacedProgram,
    PlacedRepeat,
    PlacedStatement,
    PlacedUpdate,
)

Part = Literal["before", "stage", "after"]


@dataclass(frozen=True, eq=False)
class Flat:
    """A statement, how often it runs in a microstep, and the outermost repeat around it (what is rematerialised).

    count: on one device, where layers are cut into stages the mean of all devices
    part: before, in or after what is cut into stages, where that is
    """

    statement: Moved | Computed | PlacedLoss | PlacedMetric | PlacedUpdate
    path: tuple[str, ...]
    count: int | Fraction
    region: PlacedRepeat | None
    part: Part | None = None


@dataclass(frozen=True, eq=False)
class FlatProgram:
    """`same` maps each placed tensor to the one it is under another name (an argument, a carried value).

    `carried` are the tensors that repeats hand from turn to turn, with the number of turns in a microstep.
    """

    statements: tuple[Flat, ...]
    same: dict[Placed, Placed]
    carried: dict[Placed, int | Fraction]

    def of(self, placed: Placed) -> Placed:
        return _root(self.same, placed)


_KNOWN: WeakKeyDictionary[PlacedProgram, FlatProgram] = WeakKeyDictionary()


def flatten(program: PlacedProgram) -> FlatProgram:
    """What a step runs of a program; not what it computes only when it predicts. Made once for all who read it."""
    if program not in _KNOWN:
        _KNOWN[program] = _flatten(program)
    return _KNOWN[program]


def _flatten(program: PlacedProgram) -> FlatProgram:
    same: dict[Placed, Placed] = {}
    carried: dict[Placed, int | Fraction] = {}
    parts = _parts(program)

    def alias(name: Placed, of: Placed) -> None:
        name, of = _root(same, name), _root(same, of)
        if name is not of:
            same[name] = of

    def walk(
        body: Sequence[PlacedStatement],
        path: tuple[str, ...],
        count: int | Fraction,
        region: PlacedRepeat | None,
        inside: Part | None = None,
    ) -> Iterator[Flat]:
        for statement in body:
            part = inside or parts.get(statement)
            match statement:
                case PlacedInvoke(module=module):
                    for inner, outer in zip(module.inputs, statement.inputs, strict=True):
                        alias(inner, outer)
                    yield from walk(module.body, module.module.path, count, region, part)
                    for outer, inner in zip(statement.outputs, module.outputs, strict=True):
                        alias(outer, inner)
                case PlacedRepeat():
                    turns = _turns(program, statement, part if region is None else None) * count
                    for carry in statement.carries:
                        alias(carry.start, carry.before)
                        carried[carry.before] = turns
                    yield from walk(statement.body, path, turns, region or statement, part)
                    for carry in statement.carries:
                        alias(carry.after, carry.before)
                        alias(carry.end, carry.before)
                case _:
                    yield Flat(statement, path, count, region, part)

    statements = tuple(walk(of_a_step(program.model), program.model.module.path, 1, None))
    flat = FlatProgram(statements, same, carried)
    return FlatProgram(statements, same, {flat.of(p): turns for p, turns in carried.items()})


def _parts(program: PlacedProgram) -> dict[PlacedStatement, Part]:
    if program.pipeline is None:
        return {}
    order: tuple[tuple[Part, tuple[PlacedStatement, ...]], ...] = (
        ("before", program.pipeline.before),
        ("stage", program.pipeline.repeats),
        ("after", program.pipeline.after),
    )
    return {statement: part for part, body in order for statement in body}


def _turns(program: PlacedProgram, repeat: PlacedRepeat, part: Part | None) -> int | Fraction:
    """Of a repeat on one device: of one that is cut, the mean of the devices along the pipeline."""
    if program.pipeline is None or part != "stage":
        return repeat.count.size
    turns = program.pipeline.turns_of_a_step(repeat) / program.pipeline.microbatches
    return int(turns) if turns.denominator == 1 else turns


def _root(same: dict[Placed, Placed], placed: Placed) -> Placed:
    while placed in same:
        placed = same[placed]
    return placed
