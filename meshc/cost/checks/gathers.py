"""Activations that are gathered though no rule asks for it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from meshc.cost.checks.context import Movement, Priced
from meshc.diagnostics import waste as say
from meshc.diagnostics.model import Diagnostic, Label
from meshc.diagnostics.suggest import quoted
from meshc.semantics.placed import Computed, Moved, Placed, local_shape
from meshc.semantics.program import CrossEntropy, Dim, NextToken, Op, Reduce, Rule, Softmax
from meshc.semantics.routing import lying

WORTH = 0.05
"""Share of what a device sends in a step above which a movement is reported."""


@dataclass(frozen=True)
class Gather:
    """Of `dim` over `axes`, where `rule` puts it, for `op`."""

    movements: tuple[Movement, ...]
    op: Op
    dim: Dim
    axes: tuple[str, ...]
    rule: Rule

    @property
    def moved(self) -> Moved:
        return self.movements[0].moved


def gathers_are_asked(priced: Priced) -> Iterator[Diagnostic]:
    """W0324: what a rule splits over an axis is gathered for an operation that nothing else splits over it.

    So all devices along the axis hold the whole and compute alike. Where the operation is split over the axis, too, as
    before the column-parallel products of Megatron's sequence parallelism, two rules ask for the gather; so does a rule
    that clears the dim in some place, and one that splits only what happens there.
    """
    gathers = list(_gathers(priced))
    for op in dict.fromkeys(gather.op for gather in gathers):
        of_op = [gather for gather in gathers if gather.op is op]
        sent = sum(movement.sent for gather in of_op for movement in gather.movements)
        if sent > WORTH * priced.bytes_sent:
            yield _asked_by_nobody(priced, of_op[0], sent)


def _gathers(priced: Priced) -> Iterator[Gather]:
    for movement in priced.movements:
        moved = movement.moved
        for step in moved.steps:
            if step.kind != "all_gather_invariant" or step.dim is None:
                continue
            dim = moved.source.value.dims[step.dim]
            rules = priced.placed.because.get(moved.source.value, {}).get(dim.name, ())
            rule = next((r for r in rules if {*priced.placed.refined.of(r.axes)} & {*step.axes}), None)
            op = next(_readers(priced, moved, step.axes), None)
            if rule and op:
                yield Gather((movement,), op, dim, step.axes, rule)


def _readers(priced: Priced, moved: Moved, axes: Sequence[str]) -> Iterator[Op]:
    """Operations that read what is gathered and are the same all along the axes."""
    for item in priced.flat.statements:
        computed = item.statement
        if isinstance(computed, Computed) and any(x is moved.result for x in computed.operands):
            touched = [*(x for x in computed.operands if isinstance(x, Placed)), computed.result]
            if not any({*axes} & placed.layout.varying for placed in touched):
                yield computed.op


def _asked_by_nobody(priced: Priced, gather: Gather, sent: int) -> Diagnostic:
    placed, value, op = priced.placed, gather.moved.result.value, gather.op
    names = placed.refined.declared(gather.axes, gather.rule.axes)
    held = math.prod(_shape(priced, gather.moved)) * priced.settings.bytes_of(value)
    why = f"takes `{gather.dim.name}` whole, and nothing else splits it over {quoted(names)}"
    here = [Label(op.span, why)] if op.span.source.name == placed.program.source.name else []
    cause = Label(gather.rule.place, f"puts {gather.dim.name} on {quoted(names)}")
    shards = placed.shards(gather.axes)
    dims = zip(lying(gather.moved.result, placed)[0], _shape(priced, gather.moved), strict=True)
    free = [dim.name for dim, own in dims if dim.name != gather.dim.name and own % shards == 0]
    of_logits = isinstance(op, Reduce | Softmax) and gather.dim in _vocabularies(priced)
    share = sent / priced.bytes_sent
    return say.unasked_gather(
        gather.movements[0].path, gather.dim.name, names, held, sent, share, (*here, cause), free, of_logits
    )


def _vocabularies(priced: Priced) -> set[Dim]:
    """Dims that losses know how to take split."""
    ops = (i.statement.op for i in priced.flat.statements if isinstance(i.statement, Computed))
    return {op.vocab for op in ops if isinstance(op, NextToken | CrossEntropy)}


def _shape(priced: Priced, moved: Moved) -> tuple[int, ...]:
    """Of a device's part, gathered."""
    return local_shape(*lying(moved.result, priced.placed), priced.placed.sizes)
