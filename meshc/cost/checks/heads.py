"""Key and value heads that fewer devices could hold: what holding each several times costs."""

from __future__ import annotations

from collections.abc import Iterator

from meshc.cost.checks.context import Priced
from meshc.diagnostics import waste as say
from meshc.diagnostics.model import Diagnostic
from meshc.semantics.program import Value

WORTH = 0.01
"""Share of a step's products, or of what a device sends, above which W0327 speaks."""


def repeats_are_cheap(priced: Priced) -> Iterator[Diagnostic]:
    """W0327."""
    for rule, name in priced.placed.refined.repeated:
        inner = priced.repeated(rule, name)
        times = priced.placed.shards(inner)
        work = _work(priced, name, inner) * (1 - 1 / times) / max(priced.flops, 1)
        sent = _sent(priced, name, inner) / max(priced.bytes_sent, 1)
        if max(work, sent) > WORTH:
            axes = [axis for axis in rule.axes if priced.placed.program.axis(axis).size > 1]
            number = priced.placed.program.dims[name].size
            yield say.held_several_times(number, name, times, axes, rule.place, work, sent)


def _work(priced: Priced, dim: str, inner: tuple[str, ...]) -> float:
    """Operations of products with the dim that are the same along the inner axes."""
    return sum(
        flops
        for product, flops in priced.operations.items()
        if not product.split & {*inner} and any(_has(placed.value, dim) for placed in product.touched)
    )


def _sent(priced: Priced, dim: str, inner: tuple[str, ...]) -> int:
    """Bytes of what travels over the inner axes alone, of tensors with the dim."""
    moved = [c for m in priced.movements if _has(m.moved.source.value, dim) for c in priced.deriver.of(m.item)]
    weights = [w for w in priced.placed.weights if w.weight.trained and _has(w.weight.value, dim)]
    summed = [c for weight in weights for c in priced.deriver.of_gradient(weight)]
    return sum(c.bytes_per_device for c in (*moved, *summed) if {*c.axes} <= {*inner})


def _has(value: Value, name: str) -> bool:
    return any(dim.name == name for dim in value.dims)
