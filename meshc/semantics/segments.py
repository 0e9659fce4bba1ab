"""Which inputs of the model say of each token which document it is of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from meshc.semantics.program import Attend, Invoke, NextToken, Program, Repeat, Statement, Value


def segment_inputs(program: Program) -> dict[Value, int]:
    """Those inputs, and the most segments that one row can have: as many as tokens."""
    outer: dict[Value, Value] = {}
    found: dict[Value, int] = {}
    for statement in _statements(program.model.body):
        match statement:
            case Invoke(module=module, inputs=inputs):
                outer |= dict(zip(module.inputs, inputs, strict=True))
            case Attend(segments=Value() as segments, seq=seq) | NextToken(segments=Value() as segments, seq=seq):
                found[_origin(segments, outer)] = seq.real
    return found


def _statements(body: Iterable[Statement]) -> Iterator[Statement]:
    for statement in body:
        yield statement
        match statement:
            case Repeat():
                yield from _statements(statement.body)
            case Invoke():
                yield from _statements(statement.module.body)


def _origin(value: Value, outer: dict[Value, Value]) -> Value:
    while value in outer:
        value = outer[value]
    return value
