"""What a body is made of: which statements are its own, what they read; calls, tuples and names as code."""

from __future__ import annotations

from collections.abc import Sequence

from meshc.codegen import names
from meshc.codegen.text import ANY, ATOM, Text, atom, commas, text
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


def read(statement: PlacedStatement) -> set[object]:
    match statement:
        case Computed(operands=operands):
            return {x for x in operands if isinstance(x, Placed)}
        case Moved(source=source):
            return {source}
        case PlacedInvoke(inputs=inputs):
            return set(inputs)
        case PlacedUpdate(value=value) | PlacedLoss(value=value) | PlacedMetric(value=value):
            return {value}
        case PlacedRepeat():
            return set()


def called(callee: Text, arguments: Sequence[Text]) -> Text:
    return text(ATOM, callee, "(", *commas(arguments), ")")


def grouped(items: Sequence[Text]) -> Text:
    return text(ATOM, "(", listed(items), ")") if len(items) > 1 else listed(items)


def singular(name: str) -> str:
    name = names.identifier(name, "turn")
    return name[:-1] if name.endswith("s") and len(name) > 2 else f"{name}_turn"


def flat(body: Sequence[PlacedStatement]):
    """Statements of a module itself, in its repeats too, without those of layers that it calls."""
    for statement in body:
        yield statement
        if isinstance(statement, PlacedRepeat):
            yield from flat(statement.body)


def listed(results: Sequence[Text]) -> Text:
    if not results:
        return atom("None")
    return results[0] if len(results) == 1 else text(ANY, *commas(results))
