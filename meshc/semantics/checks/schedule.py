"""A pipeline's schedule: whether microbatches fill its stages, and what share of a step they leave idle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from meshc.diagnostics.model import Diagnostic, Label
from meshc.diagnostics.suggest import divisors
from meshc.semantics.checks.context import Context
from meshc.semantics.checks.pipeline import filling, nearly_even, other_microbatches, rows_of_a_device, stages_apart
from meshc.semantics.pipeline import Cut
from meshc.semantics.program import StageRule
from meshc.semantics.schedule import Schedule

MOST_IDLE = 0.2
"""Share of a step above which W0329 speaks: with 1F1B and GPipe of n stages what fewer than 4 (n - 1) microbatches
leave."""
MOST_TRIED = 4096
"""Microbatches up to which numbers are tried."""
ENDLESS = 16
"""Microbatches for each stage with which filling and emptying hardly count: what is idle then, no number of them
mends."""
SHOWN = 3


def microbatches_fill(context: Context) -> Iterator[Diagnostic]:
    """E0330: 1F1B and interleaved stages with fewer microbatches than stages: no device ever has all its work."""
    stage = next(iter(context.placed.program.stages), None)
    rows = rows_of_a_device(context)
    if stage is None or not _too_few(context, stage) or rows is None or rows % stage.microbatches:
        return  # that they divide is another check's
    size = context.placed.program.axis(stage.axis).size
    legal = filling(context, stage, rows)
    idle = Schedule("gpipe", size, stage.microbatches).idle_share()
    microbatches = "1 microbatch does" if stage.microbatches == 1 else f"{stage.microbatches} microbatches do"
    helps = () if legal else (f"a device's rows, {rows}, make no {size} microbatches: it needs more of them",)
    yield Diagnostic(
        "E0330",
        f"{microbatches} not fill the {size} stages of {stage.schedule}",
        (Label(stage.place, f"each stage waits: {size} stages work at once with {size} microbatches or more"),),
        (*helps, f'with schedule = "gpipe", which needs no more, {idle:.1%} of a step is idle'),
        cures=tuple(other_microbatches(stage, legal)),
    )


def _too_few(context: Context, stage: StageRule) -> bool:
    return stage.schedule != "gpipe" and stage.microbatches < context.placed.program.axis(stage.axis).size


def stages_busy(context: Context) -> Iterator[Diagnostic]:
    """W0329, counted from the schedule and the layers of each stage."""
    pipeline, rows = context.placed.pipeline, rows_of_a_device(context)
    if pipeline is None or rows is None or not context.placed.sound or any(stages_apart(context)):
        return
    rule, cut = pipeline.cut.rule, pipeline.cut
    if rows % rule.microbatches or len(context.placed.program.stages) > 1:
        return
    idle = _idle(cut, rule.microbatches)
    if idle <= MOST_IDLE + 1e-9 or _too_few(context, rule):
        return
    rounds = f" in {rule.rounds} rounds" if rule.rounds > 1 else ""
    yield Diagnostic(
        "W0329",
        f"{idle:.1%} of a step the stages are idle: {rule.microbatches} microbatches through {cut.stages} "
        f"stages{rounds}",
        (Label(rule.place, f"{rule.schedule} fills and empties the stages once a step"),),
        tuple(_cures(cut, rows)),
    )


def _idle(cut: Cut, microbatches: int, layers: Sequence[int] = ()) -> float:
    return Schedule(cut.rule.schedule, cut.stages, microbatches, cut.rule.rounds).idle_share(layers or cut.layers)


def _cures(cut: Cut, rows: int) -> Iterator[str]:
    """Numbers of microbatches that leave little idle, else that leave less; and of the layers evenly, or in turns."""
    rule = cut.rule
    more = [m for m in divisors(rows) if rule.microbatches < m <= MOST_TRIED]
    better = [m for m in more if _idle(cut, m) <= MOST_IDLE + 1e-9][:SHOWN] or more[-1:]
    if better:
        yield ", ".join(f"{m} microbatches leave {_idle(cut, m):.1%}" for m in better)
    elif _idle(cut, ENDLESS * cut.stages) <= MOST_IDLE:
        yield f"a device's {rows} rows make no more microbatches: a larger batch does, or fewer microsteps"
    even = nearly_even(sum(cut.layers), len(cut.layers))
    if (share := _idle(cut, rule.microbatches, even)) < _idle(cut, rule.microbatches) - 1e-9:
        yield f"stages = {'even' if even[0] == even[-1] else even} leaves {share:.1%}"
    rounds = rule.rounds * 2
    if rule.stages is None and sum(cut.layers) % (cut.stages * rounds) == 0 and rule.microbatches >= cut.stages:
        share = Schedule("interleaved", cut.stages, rule.microbatches, rounds).idle_share()
        if share < _idle(cut, rule.microbatches) - 1e-9:
            yield f'or layers in turns: schedule = "interleaved", rounds = {rounds} leaves {share:.1%}'
