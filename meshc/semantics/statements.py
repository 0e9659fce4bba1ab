"""Walks over the statements of a resolved program: which there are, and what each reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from meshc.semantics.program import Invoke, Loss, Metric, Module, Repeat, Statement, Update, Value


def statements(body: Sequence[Statement]) -> Iterator[Statement]:
    """Statements of a body and of its repeats, without those of layers that it calls."""
    for statement in body:
        yield statement
        if isinstance(statement, Repeat):
            yield from statements(statement.body)


def modules(module: Module) -> Iterator[Module]:
    """A module, and all that it calls."""
    yield module
    for statement in statements(module.body):
        if isinstance(statement, Invoke):
            yield from modules(statement.module)


def read(statement: Statement) -> Sequence[Value]:
    """What a statement reads itself. (A repeat's body can read no more than a turn hands on, or what is outside.)"""
    match statement:
        case Invoke():
            return statement.inputs
        case Repeat():
            inner = [v for s in statement.body for v in read(s)]
            return [*(c.before for c in statement.carries), *(c.end for c in statement.carries), *inner]
        case Loss() | Metric() | Update():
            return [statement.value]
        case _:
            return operands(statement)


def operands(op: object) -> list[Value]:
    """The values that an operation reads, whatever its fields are called."""
    found: list[object] = []
    for name in op.__dataclass_fields__:  # type: ignore[attr-defined]
        field = getattr(op, name)
        if name != "result":
            found += field if isinstance(field, tuple) else [field]
    return [v for v in found if isinstance(v, Value)]
