"""A placed program as one list of statements, calls opened, repeats counted: what traffic and memory are read from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True, eq=False)
class Flat:
    """A statement, how often it runs in a microstep, and the outermost repeat around it (what is rematerialised)."""

    statement: Moved | Computed | PlacedLoss | PlacedMetric | PlacedUpdate
    path: tuple[str, ...]
    count: int
    region: PlacedRepeat | None


@dataclass(frozen=True, eq=False)
class FlatProgram:
    """`same` maps each placed tensor to the one it is under another name (an argument, a carried value).

    `carried` are the tensors that repeats hand from turn to turn, with the number of turns in a microstep.
    """

    statements: tuple[Flat, ...]
    same: dict[Placed, Placed]
    carried: dict[Placed, int]

    def of(self, placed: Placed) -> Placed:
        return _root(self.same, placed)


def flatten(program: PlacedProgram) -> FlatProgram:
    """What a step runs of a program; not what it computes only when it predicts."""
    same: dict[Placed, Placed] = {}
    carried: dict[Placed, int] = {}

    def alias(name: Placed, of: Placed) -> None:
        name, of = _root(same, name), _root(same, of)
        if name is not of:
            same[name] = of

    def walk(body: Sequence[PlacedStatement], path: tuple[str, ...], count: int, region) -> Iterator[Flat]:
        for statement in body:
            match statement:
                case PlacedInvoke(module=module):
                    for inner, outer in zip(module.inputs, statement.inputs, strict=True):
                        alias(inner, outer)
                    yield from walk(module.body, module.module.path, count, region)
                    for outer, inner in zip(statement.outputs, module.outputs, strict=True):
                        alias(outer, inner)
                case PlacedRepeat():
                    turns = count * statement.count.size
                    for carry in statement.carries:
                        alias(carry.start, carry.before)
                        carried[carry.before] = turns
                    yield from walk(statement.body, path, turns, region or statement)
                    for carry in statement.carries:
                        alias(carry.after, carry.before)
                        alias(carry.end, carry.before)
                case _:
                    yield Flat(statement, path, count, region)

    statements = tuple(walk(of_a_step(program.model), program.model.module.path, 1, None))
    flat = FlatProgram(statements, same, carried)
    return FlatProgram(statements, same, {flat.of(p): turns for p, turns in carried.items()})


def _root(same: dict[Placed, Placed], placed: Placed) -> Placed:
    while placed in same:
        placed = same[placed]
    return placed
