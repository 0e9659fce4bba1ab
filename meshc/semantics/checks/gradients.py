"""Where gradients lie in a pipeline: its microbatches add theirs up where weights rest."""

from __future__ import annotations

import math
from collections.abc import Iterator

from meshc.diagnostics.model import Cure, Diagnostic, Edit, Label, Option
from meshc.semantics.checks.context import Context
from meshc.semantics.placed import PlacedProgram, local_shape
from meshc.semantics.program import Rest, Rule, StrategyUse

FLOAT = 4
"""Bytes of a gradient that is the sum of several: float32."""
AS_MUCH = {"zero2": "zero1"}
"""What is left of a strategy without what it says of gradients."""


def gradients_lie_apart(context: Context) -> Iterator[Diagnostic]:
    """W0308: a place of gradients that would save memory between microsteps, where a pipeline has only one."""
    placed = context.placed
    if placed.pipeline is None or placed.accumulated > 1 or not placed.sound:
        return
    said: set[object] = set()
    for rule in placed.program.rules:
        if rule.rest is Rest.GRADS and rule.place not in said and (saved := _saved(placed, rule)):
            said.add(rule.place)
            yield _saves_nothing(rule, saved)


def _saved(placed: PlacedProgram, rule: Rule) -> int:
    """Bytes of a device that gradients of the weights that a rule speaks of would be less where it puts them."""
    total = 0
    for weight in placed.weights:
        dims = weight.weight.dims
        if weight.weight.trained and any(rule in weight.because.get((Rest.GRADS, d.name), ()) for d in dims):
            rest, grads = (math.prod(local_shape(dims, at, placed.sizes)) for at in (weight.rest, weight.grads))
            total += FLOAT * (rest - grads)
    return total


def _saves_nothing(rule: Rule, saved: int) -> Diagnostic:
    what = f"`{rule.origin.name}`" if rule.origin else "this rule"
    return Diagnostic(
        "W0308",
        f"{what} saves no memory of gradients: a pipeline adds them up where weights rest, in {saved:,} bytes more",
        (Label(rule.place, "holds between microsteps, and there is one"),),
        ("with train.microsteps = 2 what they add up lies there",),
        cures=tuple(_cures(rule.origin)),
    )


def _cures(use: StrategyUse | None) -> Iterator[Cure]:
    if use and (less := AS_MUCH.get(use.name)):
        call = less + use.text.removeprefix(use.name)
        yield Cure(f"`{call}` splits the optimizer's state alike", (Option("", (), (Edit(use.span, call),)),))
