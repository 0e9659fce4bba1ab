"""What is computed and read by nothing: a name that was to be another, as `y = Block(x)` in a repeat of `x`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from meshc.diagnostics.model import Diagnostic, Label
from meshc.semantics.checks.context import Context
from meshc.semantics.checks.experts import routed_stay
from meshc.semantics.live import has_effect
from meshc.semantics.placed import Computed, PlacedInvoke, PlacedModule, PlacedRepeat, PlacedStatement
from meshc.semantics.program import Value
from meshc.semantics.walk import everything, reads
from meshc.source import Span


def values_are_read(context: Context) -> Iterator[Diagnostic]:
    """W0315: the last of what is computed for nothing; what only that reads goes with it."""
    if any(routed_stay(context)):
        return  # an operation that cannot be is left out, and what it reads is read
    model = context.placed.model
    calls = [s for s in everything(model.body) if isinstance(s, PlacedInvoke)]
    modules = {call.module: call.module for call in calls}
    seen: set[Span] = set()
    for module in (model, *modules.values()):
        for value, span, weights in _unread(module.body, {p.value for p in module.outputs}):
            if span not in seen:
                seen.add(span)
                yield _said(value, span, weights)


def _unread(body: Iterable[PlacedStatement], wanted: set[Value]) -> Iterator[tuple[Value, Span, bool]]:
    """Values of a body, its repeats included, that nothing reads, where they are made, and whether weights are."""
    body = tuple(body)
    read = wanted.union(p.value for statement in body for p in reads(statement))
    for statement in body:
        match statement:
            case Computed(op=op, result=result) if result.value not in read:
                yield result.value, op.span, False
            case PlacedInvoke(module=module, outputs=outputs, span=span):
                if outputs and not read & {p.value for p in outputs} and not has_effect(module.body):
                    yield outputs[0].value, span, _has_weights(module)
            case PlacedRepeat(carries=carries, body=inner):
                if carries and not read & {c.after.value for c in carries} and not has_effect(inner):
                    yield carries[0].end.value, carries[0].end.value.span, False
                yield from _unread(inner, {c.end.value for c in carries})
            case _:
                pass


def _has_weights(module: PlacedModule) -> bool:
    inner = (s.module for s in everything(module.body) if isinstance(s, PlacedInvoke))
    return any(m.weights for m in (module, *inner))


def _said(value: Value, span: Span, weights: bool) -> Diagnostic:
    untrained = ", and its weights get no gradient" if weights else ""
    return Diagnostic(
        "W0315",
        f"nothing reads `{value.name}`",
        (Label(span, f"computed for no loss, metric, update or result{untrained}"),),
        ("use it, or take it out",),
    )
