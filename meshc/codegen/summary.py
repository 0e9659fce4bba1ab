"""The table of traffic and memory at the head of a program, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from meshc.cost.memory import memory
from meshc.cost.of_job import settings_of
from meshc.job.model import Job
from meshc.semantics.collectives import Collective, sent
from meshc.semantics.placed import PlacedProgram


def summary(placed: PlacedProgram, job: Job, collectives: Sequence[Collective]) -> Iterator[str]:
    if sums := sent(collectives):
        yield "Traffic a device and step, in MB that it sends (ring algorithms):"
        for (op, axes), size in sorted(sums.items(), key=lambda item: -item[1]):
            yield f"    {op + ' over ' + ', '.join(axes):<44} {_rounded(size / 1e6):>10}"
    held = memory(placed, settings_of(job), job.train.optimizer)
    yield "At rest on a device, in MiB:"
    yield f"    {'weights':<44} {_rounded((held.params + held.state) / 2**20):>10}"
    if held.optimizer:
        yield f"    {job.train.optimizer.name:<44} {_rounded(held.optimizer / 2**20):>10}"


def _rounded(amount: float) -> str:
    return f"{amount:.3g}" if amount < 100 else f"{amount:,.0f}"
