"""The table of traffic and memory at the head of a program, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from meshc.codegen.context import BITS
from meshc.job.model import Job, OptimizerName
from meshc.semantics.collectives import Collective
from meshc.semantics.placed import Layout, PlacedProgram, local_shape
from meshc.semantics.program import Dim

MOMENTS: dict[OptimizerName, int] = {"adamw": 2, "adam": 2, "lamb": 2, "lion": 1}


def summary(placed: PlacedProgram, job: Job, collectives: Sequence[Collective]) -> Iterator[str]:
    sent: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for one in collectives:
        sent[one.op, one.axes] += one.bytes_per_device
    if sent:
        yield "Traffic a device and step, in MB that it sends (ring algorithms):"
        for (op, axes), size in sorted(sent.items(), key=lambda item: -item[1]):
            yield f"    {op + ' over ' + ', '.join(axes):<44} {_rounded(size / 1e6):>10}"
    yield "At rest on a device, in MiB:"
    width = BITS[job.train.precision.params] // 8
    trained = [w for w in placed.weights if w.weight.trained]
    weights = sum(_elements(w.weight.dims, w.rest, placed.sizes) for w in trained) * width
    state = sum(_elements(w.weight.dims, w.optimizer, placed.sizes) for w in trained) * width
    yield f"    {'weights':<44} {_rounded(weights / 2**20):>10}"
    if moments := MOMENTS.get(job.train.optimizer.name):
        yield f"    {job.train.optimizer.name:<44} {_rounded(moments * state / 2**20):>10}"


def _rounded(amount: float) -> str:
    return f"{amount:.3g}" if amount < 100 else f"{amount:,.0f}"


def _elements(dims: tuple[Dim, ...], layout: Layout, sizes: dict[str, int]) -> int:
    count = 1
    for size in local_shape(dims, layout, sizes):
        count *= size
    return count
