"""Walks over placed statements: which there are, what each makes and reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from meshc.semantics.placed import (
    Computed,
    Moved,
    Placed,
    PlacedInvoke,
    PlacedLoss,
    PlacedMetric,
    PlacedRepeat,
    PlacedStatement,
    PlacedUpdate,
)


def statements(body: Iterable[PlacedStatement]) -> Iterator[PlacedStatement]:
    """Statements of a body and of its repeats, without those of layers that it calls."""
    for statement in body:
        yield statement
        if isinstance(statement, PlacedRepeat):
            yield from statements(statement.body)


def everything(body: Iterable[PlacedStatement]) -> Iterator[PlacedStatement]:
    """Statements of a body, those of repeats and called layers included."""
    for statement in statements(body):
        yield statement
        if isinstance(statement, PlacedInvoke):
            yield from everything(statement.module.body)


def made(statement: PlacedStatement) -> tuple[Placed, ...]:
    """What a statement makes, of a repeat what it carries at the start of a turn and at the end."""
    match statement:
        case Moved(result=result) | Computed(result=result):
            return (result,)
        case PlacedInvoke(outputs=outputs):
            return outputs
        case PlacedRepeat(carries=carries):
            return tuple(p for carry in carries for p in (carry.start, carry.after))
        case _:
            return ()


def reads(statement: PlacedStatement) -> tuple[Placed, ...]:
    """What a statement reads, of a repeat also what its body does."""
    match statement:
        case Computed(operands=operands):
            return tuple(x for x in operands if isinstance(x, Placed))
        case Moved(source=source):
            return (source,)
        case PlacedInvoke(inputs=inputs):
            return inputs
        case PlacedRepeat(carries=carries, body=body):
            ends = tuple(p for carry in carries for p in (carry.before, carry.end))
            return (*ends, *(p for s in body for p in reads(s)))
        case PlacedLoss(value=value) | PlacedMetric(value=value) | PlacedUpdate(value=value):
            return (value,)
