"""Elaborating a call of a layer only where it has not been: what the answer depends on, and what comes with it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass

from meshc.semantics.build import MOST_CALLS, MOST_DEEP, Builder, Facts, Frame
from meshc.semantics.operands import BROKEN, Broken, Constant, Operand, Results
from meshc.semantics.program import Dim, Module, Value
from meshc.semantics.scope import Definition
from meshc.source import Span


@dataclass(frozen=True, eq=False)
class Elaborated:
    """A call of a layer: its module, what it returns (None where it has no `return`), and what elaborating it left
    behind.

    facts: of what it returns. modules: its own and those of all calls in it, in the order in which they end.
    used, dims_used, called: what became known as used. dims: with which it is right, and where they are declared.
    calls: how many, `deep` within each other
    """

    module: Module
    returned: Results | None
    facts: Facts
    modules: tuple[Module, ...]
    used: frozenset[Value]
    dims_used: frozenset[str]
    dims: tuple[tuple[Dim, Span | None], ...]
    called: frozenset[Span]
    calls: int
    deep: int
    has_loss: bool


def elaborated(
    b: Builder,
    definition: Definition,
    frame: Frame,
    given: Mapping[str, Operand],
    make: Callable[[], tuple[Module, Results | None]],
) -> tuple[Module, Results | None]:
    """What `make` yields, or yielded when a layer that has not changed was called in the same way."""
    question = _question(b, definition, frame, given)
    if question is not None:
        found: Elaborated | None = b.memory.calls.get(question)
        if (
            found is not None
            and _same_dims(b, found)
            and len(b.open) + found.deep <= MOST_DEEP
            and b.calls + found.calls <= MOST_CALLS
        ):
            _leave(b, found)
            return found.module, found.returned
    outer = (b.modules, b.facts.used, b.dims.used, b.called, b.has_loss)
    calls, asked, deepest = b.calls, b.report.asked, b.deepest
    b.modules, b.facts.used, b.dims.used, b.called, b.has_loss = [], set(), set(), set(), False
    b.deepest = len(b.open)
    module, returned = make()
    found = Elaborated(
        module,
        returned,
        b.facts.of([value for value in returned or () if isinstance(value, Value)]),
        tuple(b.modules),
        frozenset(b.facts.used),
        frozenset(b.dims.used),
        tuple((dim, dim.span) for dim in _dims(b, given)),
        frozenset(b.called),
        b.calls - calls,
        b.deepest - len(b.open),
        b.has_loss,
    )
    b.modules, b.facts.used, b.dims.used, b.called, b.has_loss = outer
    b.calls, b.deepest = calls, max(deepest, b.deepest)
    _leave(b, found)
    whole = all(
        b.dims.dim(name) for name in found.dims_used if name in b.dims
    )  # of a size that is none it is said there
    if b.report.asked == asked and whole and BROKEN not in given.values():
        b.memory.callees.put(definition.span, tuple(sorted(frame.callees)))
        question = question or _question(b, definition, frame, given)
        if question is not None:
            b.memory.calls.put(question, found)
    return module, returned


def _dims(b: Builder, given: Mapping[str, Operand]) -> list[Dim]:
    """The declared dims that a call has to do with."""
    values = [operand for operand in given.values() if isinstance(operand, Value)]
    counted = [b.facts.counts[value] for value in values if value in b.facts.counts]
    names = b.dims.used.union(dim.base for value in values for dim in value.dims).union(dim.base for dim in counted)
    return [dim for name in sorted(names) if name in b.dims and (dim := b.dims.dim(name))]


def _same_dims(b: Builder, found: Elaborated) -> bool:
    """Whether these dims are as they were, also in their places."""
    for dim, span in found.dims:
        now = b.dims.dim(dim.name) if dim.name in b.dims else None
        if now is not dim and (now != dim or now is None or now.span != span):
            return False
    return True


def _leave(b: Builder, found: Elaborated) -> None:
    """What elaborating a call leaves behind."""
    b.modules += found.modules
    b.facts.used |= found.used
    b.facts.add(found.facts)
    b.dims.used |= found.dims_used
    b.called |= found.called
    b.calls += found.calls
    b.deepest = max(b.deepest, len(b.open) + found.deep)
    b.has_loss = b.has_loss or found.has_loss


def _question(b: Builder, definition: Definition, frame: Frame, given: Mapping[str, Operand]) -> Hashable | None:
    """All that elaborating a call depends on; None where that cannot be told."""
    stamp = b.stamp(definition)
    if stamp is None:
        return None
    operands = []
    for name, operand in given.items():
        known = _known(b, operand)
        if known is None:
            return None
        operands.append((name, known))
    return stamp, frame.path, frame.stack, tuple([dim.span for dim in frame.stack]), tuple(operands)


def _known(b: Builder, operand: Operand) -> Hashable | None:
    """What a layer can tell of an argument."""
    match operand:
        case Value():
            if operand in b.facts.routes:
                return None
            weight = b.facts.weights.get(operand)
            return (
                operand.dims,
                operand.kind,
                b.facts.banks.get(operand),
                b.facts.counts.get(operand),
                weight and weight.name,
            )
        case Broken():
            return None
        case Dim():
            return operand
        case Constant(value=value):
            return type(value), repr(value)
