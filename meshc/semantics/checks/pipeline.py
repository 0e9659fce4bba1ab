"""A pipeline's microbatches against the batch: whole rows, as many of them in each, on every device."""

from __future__ import annotations

from collections.abc import Iterator

from meshc.diagnostics.model import Diagnostic, Label
from meshc.diagnostics.suggest import divisors, listed
from meshc.semantics.checks.context import Context
from meshc.semantics.program import StageRule


def microbatches_divide(context: Context) -> Iterator[Diagnostic]:
    """E0301, of the first stage rule: the rows of a microstep are cut into microbatches, and these over devices."""
    batch, steps = context.placed.batch, context.placed.accumulated
    stages = context.placed.program.stages
    if batch is None or not stages or batch.size % steps:
        return
    stage, rows = stages[0], batch.size // steps
    shards = context.shards(_axes_of_batch(context))
    if rows % shards or rows // shards % stage.microbatches == 0:
        return  # whether the devices share the rows is another check's
    local = rows // shards
    each = f"{local} of {rows} {batch.name} a device" if shards > 1 else f"{local} {batch.name}"
    declared = (Label(batch.span, f"{batch.name} is {batch.size}"),) if batch.span else ()
    yield Diagnostic(
        "E0301",
        f"{each} cannot be cut into {stage.microbatches} microbatches: "
        f"{local} % {stage.microbatches} = {local % stage.microbatches}",
        (Label(stage.place, f"cuts {batch.name} into {stage.microbatches}"), *declared),
        tuple(_cures(context, stage, local)),
    )


def _axes_of_batch(context: Context) -> tuple[str, ...]:
    placed = context.placed
    layouts = [i.layout.axes[0] for i in placed.inputs if i.value.dims and i.value.dims[0] == placed.batch]
    return layouts[0] if layouts else ()


def _cures(context: Context, stage: StageRule, rows: int) -> Iterator[str]:
    legal = divisors(rows)
    yield f"microbatches may be {listed(legal, near=stage.microbatches)}"
    size = context.placed.program.axis(stage.axis).size
    full = [m for m in legal if m >= size][:3]
    if full:
        idle = ", ".join(f"{m} leaves {(size - 1) / (m * stage.rounds + size - 1):.1%} of a step idle" for m in full)
        yield f"with {size} stages, {idle}"
