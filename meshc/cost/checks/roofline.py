"""What travels in a step against what is computed in it: whether a link takes longer than all products together.

Both are bounds from below: products at the chip's full rate, bytes at the link's full bandwidth, and everything that
can be done at once done at once. A step takes at least the longer of the two, so what is reported here holds however
well a compiler overlaps them. For weights that are gathered over one axis it is the condition of "How to scale your
model", part 5, "Fully-sharded data parallelism" (https://jax-ml.github.io/scaling-book/training/): fewer tokens a
device than C / W, the chip's operations a second over the link's bytes a second.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from meshc.cost.checks.context import Priced
from meshc.diagnostics import waste as say
from meshc.diagnostics.model import Diagnostic
from meshc.semantics.collectives import Collective
from meshc.semantics.links import Network
from meshc.semantics.placed import local_shape
from meshc.semantics.program import Kind

LEAST = 1e-3
"""Seconds a step below which nothing is said: there latency and the start of a program decide, which are not known."""


def links_keep_up(priced: Priced) -> Iterator[Diagnostic]:
    """W0330 where weights and gradients take longer than products, which more tokens a device would mend; W0326 where
    activations do, which they would not. Of an order of axes that crosses slow links in vain W0320 speaks.
    """
    wired, rate = _wired(priced), _rate(priced)
    if wired is None or rate is None or priced.says("W0320"):
        return
    of_weights = [way for way in _travelling(wired, priced.of_weights) if way[1] > LEAST]
    of_activations = [way for way in _travelling(wired, priced.of_activations) if way[1] > LEAST]
    if not of_weights and not of_activations:
        return
    busy = priced.flops / rate / (1 - _idle(priced))
    if not busy:
        return
    for axes, seconds in of_weights:
        if seconds > busy:
            yield _of_weights(priced, wired, axes, seconds, busy)
    for axes, seconds in of_activations:
        if seconds > busy:
            yield _of_activations(priced, wired, axes, seconds, busy)


def _wired(priced: Priced) -> Network | None:
    """The links, if the speed of all is known."""
    levels = priced.slice.levels if priced.slice else ()
    return None if any(level.size > 1 and level.bandwidth is None for level in levels) else priced.network


def _rate(priced: Priced) -> float | None:
    """Operations a second of a chip in the width that is computed in."""
    compute = priced.train.precision.compute if priced.train else "float32"
    return priced.slice.matrix_rates.get(compute) if priced.slice else None


def _idle(priced: Priced) -> float:
    """Share of a step in which stages wait for each other, and links may go on."""
    pipeline = priced.placed.pipeline
    return 0.0 if pipeline is None else pipeline.schedule.idle_share(pipeline.cut.layers)


def _travelling(wired: Network, collectives: Iterable[Collective]) -> Iterator[tuple[tuple[str, ...], float]]:
    """Seconds that what goes over the same axes takes at least."""
    took: dict[tuple[str, ...], float] = {}
    for c in collectives:
        seconds = wired.seconds(c.op, c.axes, c.bytes_per_device)
        took[c.axes] = took.get(c.axes, 0.0) + (seconds or 0.0)
    yield from took.items()


def _of_weights(priced: Priced, wired: Network, axes: tuple[str, ...], seconds: float, busy: float) -> Diagnostic:
    names = priced.placed.refined.declared(axes)
    link, span, batch = wired.link(axes), priced.placed.program.axis(names[0]).span, priced.placed.batch
    assert link and batch
    grown = (batch.name, math.ceil(batch.size * seconds / busy))
    return say.batch_too_small(names, span, link.name, link.bandwidth, seconds, busy, _tokens(priced), grown)


def _of_activations(priced: Priced, wired: Network, axes: tuple[str, ...], seconds: float, busy: float) -> Diagnostic:
    largest = max((c for c in priced.of_activations if c.axes == axes), key=lambda c: c.bytes_per_device)
    views = [axis.name for view in priced.placed.program.views for axis in view.axes]
    names = priced.placed.refined.declared(axes, views if largest.what else ())
    link, span = wired.link(axes), priced.placed.program.axis(names[0]).span
    assert link
    return say.activations_travel(names, span, link.name, link.bandwidth, seconds, busy)


def _tokens(priced: Priced) -> tuple[int, str]:
    """What a device has of the batch in a step, and what that is: ids, or rows of an input of numbers."""
    inputs, batch = priced.placed.inputs, priced.placed.batch
    ids = next((p for p in inputs if p.value.kind is Kind.INT and batch in p.value.dims), None)
    if ids is not None:
        return math.prod(ids.local_shape(priced.placed.sizes)), "tokens"
    rows = next(p for p in inputs if p.value.dims[:1] == (batch,))
    return local_shape(rows.value.dims, rows.layout, priced.placed.sizes)[0], "rows"
