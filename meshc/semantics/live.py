"""What a step runs of a model: all but what only its outputs need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from meshc.semantics.placed import (
    Computed,
    Moved,
    Placed,
    PlacedInvoke,
    PlacedLoss,
    PlacedMetric,
    PlacedModule,
    PlacedRepeat,
    PlacedStatement,
    PlacedUpdate,
)
from meshc.semantics.walk import reads


def of_a_step(model: PlacedModule) -> tuple[PlacedStatement, ...]:
    """The model's body without what no loss, metric or update reads."""
    read: set[Placed] = set()
    kept: list[PlacedStatement] = []
    for statement in reversed(model.body):
        made = _made(statement)
        if made is None or read & set(made):
            kept.append(statement)
            read |= set(reads(statement))
    return tuple(reversed(kept))


def _made(statement: PlacedStatement) -> Sequence[Placed] | None:
    """What a statement is there for; None where it has an effect besides."""
    match statement:
        case Computed(result=result) | Moved(result=result):
            return (result,)
        case PlacedInvoke(module=module, outputs=outputs):
            return None if has_effect(module.body) else outputs
        case PlacedRepeat(carries=carries, body=body):
            return None if has_effect(body) else [carry.after for carry in carries]
        case PlacedLoss() | PlacedMetric() | PlacedUpdate():
            return None


def has_effect(body: Iterable[PlacedStatement]) -> bool:
    """Whether statements do anything but make values: losses, metrics, updates, also in layers that they call."""
    return any(_made(statement) is None for statement in body)
