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
    found: dict[str, Span] = {}
    for what, span in _all(placed):
        found.setdefault(what, span)
    return [
        Diagnostic(
            "E0299", f"no program is generated for {what} yet", (Label(span),), ("`meshc lint` and `explain` work",)
        )
        for what, span in found.items()
    ]


def _all(placed: PlacedProgram) -> Iterator[tuple[str, Span]]:
    yield from falsified(placed)
    if placed.pipeline is not None:
        yield from placed.pipeline.trouble
        at_end = {p for s in placed.pipeline.after for p in made(s)} | {slot.after for slot in placed.pipeline.slots}
        for output in placed.model.outputs:
            if output not in at_end:
                yield "outputs from before a pipeline's stages", output.value.span
    for weight in placed.weights:
        if not weight.weight.trained and placed.microsteps > 1 and placed.batch in weight.weight.dims:
            yield "a state of each row of the batch, with microsteps", weight.weight.value.span
