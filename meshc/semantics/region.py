"""Which values lie between `route` and `combine`: what `within experts` speaks of."""

from __future__ import annotations

from collections.abc import Sequence

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


def expert_region(body: Sequence[Statement]) -> frozenset[Value]:
    """Routed values of a body, what is computed from them, and the banks used on the way, but not the router."""
    region: set[Value] = set()
    for statement in body:
        match statement:
            case Route():
                region.add(statement.result)
            case Combine() | LoadBalance() | Load() | Invoke() | Repeat() | Loss() | Metric() | Update():
                pass
            case _:
                operands = [v for v in _operands(statement) if isinstance(v, Value)]
                if any(v in region for v in operands):
                    region |= {statement.result, *operands}
    return frozenset(region)


def _operands(op) -> Sequence[object]:
    """The values that an operation reads, whatever its fields are called."""
    found: list[object] = []
    for name in op.__dataclass_fields__:
        field = getattr(op, name)
        if name != "result":
            found += field if isinstance(field, tuple) else [field]
    return found
