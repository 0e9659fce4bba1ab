"""Which values lie between `route` and `combine`: what `within experts` speaks of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from meshc.semantics.program import (
    Combine,
    Dropped,
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
from meshc.semantics.statements import operands, read

Routes = Mapping[Value, Route]
"""Of each routed value, which lies in its experts' slots, the operation that sent it."""


def routes(body: Sequence[Statement], outer: Routes | None = None) -> dict[Value, Route]:
    """The routed values of a body, and those of `outer`, the body around it."""
    found = dict(outer or {})
    for statement in body:
        match statement:
            case Route():
                found[statement.result] = statement
            case Combine() | LoadBalance() | Load() | Dropped() | Invoke() | Repeat() | Loss() | Metric() | Update():
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
        for value in read(statement):
            reads.setdefault(value, []).append(statement)
    return frozenset(v for v, by in reads.items() if len(by) == 1 and isinstance(by[0], Combine) and by[0].operand is v)
