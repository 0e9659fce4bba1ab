"""The table of traffic and memory at the head of a program, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from meshc.codegen.text import comment
from meshc.cost.memory import memory
from meshc.cost.of_job import settings_of
from meshc.cost.stages import stages
from meshc.diagnostics.units import duration
from meshc.job.model import Job
from meshc.semantics.collectives import Collective, sent
from meshc.semantics.links import Network
from meshc.semantics.placed import PlacedProgram


def summary(
    placed: PlacedProgram, job: Job, collectives: Sequence[Collective], network: Network | None = None
) -> Iterator[str]:
    """Lines without their indent. With a network whose links have known speeds, each collective's slowest link."""
    if cut := stages(placed):
        yield from wrap(cut.words[0].upper() + cut.words[1:] + ".", 100)
        yield ""
    if sums := sent(collectives):
        priced = network if network and network.total_seconds(collectives) is not None else None
        where = f", and on `{comment(priced.slice.name)}` the slowest link and the least time" if priced else ""
        yield f"Traffic a device and step, in MB that it sends (ring algorithms){where}:"
        for (op, axes), size in sorted(sums.items(), key=lambda item: -item[1]):
            line = f"    {op + ' over ' + ', '.join(axes):<44} {_rounded(size / 1e6):>10}"
            if priced and (link := priced.link(axes)):
                line += f"   {comment(link.name)}, {duration(priced.seconds(op, axes, size))}"
            yield line
    held = memory(placed, settings_of(job), job.train.optimizer)
    yield "At rest on a device, in MiB:"
    yield f"    {'weights':<44} {_rounded((held.params + held.state) / 2**20):>10}"
    if held.optimizer:
        yield f"    {job.train.optimizer.name:<44} {_rounded(held.optimizer / 2**20):>10}"


def _rounded(amount: float) -> str:
    return f"{amount:.3g}" if amount < 100 else f"{amount:,.0f}"
