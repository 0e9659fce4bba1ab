"""Which values lie between `route` and `combine`: what `within experts` speaks of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from meshc.semantics.program import (
    Combine,
    Invoke,
    Load,
    LoadBalance,
    Loss,
    Metric,
    Repeat,
    Route,
    Statement,
    Update,
    Value,
)

Routes = Mapping[Value, Route]
"""Of each routed value, which lies in its experts' slots, the operation that sent it."""


def routes(body: Sequence[Statement], outer: Routes | None = None) -> dict[Value, Route]:
    """The routed values of a body, and those of `outer`, the body around it."""
    found = dict(outer or {})
    for statement in body:
        match statement:
            case Route():
                found[statement.result] = statement
            case Combine() | LoadBalance() | Load() | Invoke() | Repeat() | Loss() | Metric() | Update():
                pass
            case _ if found:
                sent = next((found[v] for v in operands(statement) if v in found), None)
                if sent is not None:
                    found[statement.result] = sent
            case _:
                pass
    return found


def expert_region(body: Sequence[Statement], routed: Routes) -> frozenset[Value]:
    """Routed values and what is computed with them: the banks used on the way, but not the router."""
    region: set[Value] = set(routed)
    for statement in body:
        result = getattr(statement, "result", None)
        if result in routed and not isinstance(statement, Route):
            region.update(operands(statement))
    return frozenset(region)


def combined_only(body: Sequence[Statement]) -> frozenset[Value]:
    """Values that nothing reads but one `combine`."""
    reads: dict[Value, list[Statement]] = {}
    for statement in body:
        for value in _read(statement):
            reads.setdefault(value, []).append(statement)
    return frozenset(v for v, by in reads.items() if len(by) == 1 and isinstance(by[0], Combine) and by[0].operand is v)


def _read(statement: Statement) -> Sequence[Value]:
    """What a statement reads itself. (A repeat's body can read no more than a turn hands on, or what is outside.)"""
    match statement:
        case Invoke():
            return statement.inputs
        case Repeat():
            inner = [v for s in statement.body for v in _read(s)]
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
