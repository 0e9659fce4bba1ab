"""Causal attention along a split sequence: a later token sees more keys, so contiguous parts are unlike work."""

from __future__ import annotations

from collections.abc import Iterator

from meshc.diagnostics.model import Diagnostic, Edit, Label
from meshc.semantics.checks.context import Context
from meshc.semantics.placed import Computed
from meshc.semantics.program import Attend, Dim, Rule
from meshc.semantics.seen import pairs_seen
from meshc.source import Span

WORTH = 1.2
"""Times the mean that the busiest device has to do for it to be reported."""


def causal_work_balanced(context: Context) -> Iterator[Diagnostic]:
    """W0331: keys are exchanged along a sequence in its natural order; the last of n parts has 2 - 1/n of the mean."""
    if not context.placed.sound:
        return
    said: set[tuple[str, ...]] = set()
    for item in context.flat.statements:
        match item.statement:
            case Computed(op=Attend(causal=True) as op, result=result):
                axes = dict(zip(result.value.dims, result.layout.axes, strict=True))[op.seq]
                n, ordered = context.shards(axes), context.placed.order(op.seq)
                if n == 1 or ordered or axes in said or op.seq.size % n or op.seq == context.placed.batch:
                    continue
                most = _busiest(op, n)
                if most >= WORTH:
                    said.add(axes)
                    yield _unbalanced(context, op.seq, axes, most)
            case _:
                pass


def _busiest(op: Attend, parts: int) -> float:
    """The most pairs of a query and a key that one part of the sequence has, over their mean."""
    own = op.seq.size // parts
    counts = [pairs_seen(op, own * (i + 1)) - pairs_seen(op, own * i) for i in range(parts)]
    return max(counts) * parts / sum(counts)


def _unbalanced(context: Context, seq: Dim, axes: tuple[str, ...], most: float) -> Diagnostic:
    names = context.placed.refined.declared(axes)
    parts = context.shards(axes)
    rule = _rule(context, seq, axes)
    spelled = " * ".join(names)
    labels = (Label(rule.place, f"splits {seq.name} into {parts} parts in their order"),) if rule else ()
    what = (
        f"causal attention is unlike work along `{spelled}`: the busiest of {parts} parts of {seq.name} has "
        f"{most:.2f} times the mean, and all wait for it"
    )
    if seq.size % (2 * parts):
        must = f"zigzag order pairs early with late parts; {seq.name} must then divide by 2 * {parts} = {2 * parts}"
        return Diagnostic("W0331", what, labels, (must,))
    cure = f"pair early with late parts: {seq.name} -> .., {', '.join(names)} zigzag"
    return Diagnostic("W0331", what, labels, (cure,), _edits(rule))


def _edits(rule: Rule | None) -> tuple[Edit, ...]:
    """Where the spec itself writes the rule, for this dim alone."""
    if rule is None or rule.origin is not None or len(rule.dims) > 1:
        return ()
    return (Edit(Span(rule.span.source, rule.span.end, rule.span.end), " zigzag"),)


def _rule(context: Context, seq: Dim, axes: tuple[str, ...]) -> Rule | None:
    of = context.placed.refined.of
    return next((r for r in context.placed.program.rules if seq.base in r.dims and set(of(r.axes)) & {*axes}), None)
