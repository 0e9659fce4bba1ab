"""What the language can say and programs are not generated for yet: said before a build, each with its place."""

from __future__ import annotations

from collections.abc import Iterator

from meshc.codegen.padding import falsified
from meshc.diagnostics.model import Diagnostic, Label
from meshc.semantics.placed import PlacedProgram
from meshc.semantics.walk import made
from meshc.source import Span


def unsupported(placed: PlacedProgram) -> list[Diagnostic]:
    """E0299 for each kind of placement that has no code yet, once."""
    found: dict[str, tuple[str, Span]] = {}
    for what, cure, span in _all(placed):
        found.setdefault(what, (cure, span))
    return [
        Diagnostic("E0299", f"no program is generated for {what} yet", (Label(span),), (cure,))
        for what, (cure, span) in found.items()
    ]


def _all(placed: PlacedProgram) -> Iterator[tuple[str, str, Span]]:
    """What there is no code for, what to write in its place, and where."""
    yield from falsified(placed)
    if placed.pipeline is not None:
        yield from placed.pipeline.trouble
        at_end = {p for s in placed.pipeline.after for p in made(s)} | {slot.after for slot in placed.pipeline.slots}
        for output in placed.model.outputs:
            if output not in at_end:
                name = output.value.name
                yield (
                    "outputs from before a pipeline's stages",
                    f"compute it behind them: 1 * {name}",
                    output.value.span,
                )
    for weight in placed.weights:
        if not weight.weight.trained and placed.microsteps > 1 and placed.batch in weight.weight.dims:
            cure = f"give it no dim `{placed.batch.name}`, or take the batch in one microstep" if placed.batch else ""
            yield "a state of each row of the batch, with microsteps", cure, weight.weight.value.span
