"""What a repeat stacks lies whole at rest: each turn takes its own layer from what a device holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from meshc.diagnostics.edits import removed
from meshc.diagnostics.model import Cure, Diagnostic, Label, Option
from meshc.diagnostics.suggest import quoted
from meshc.semantics.checks.context import Context
from meshc.semantics.checks.pipeline import regrouped_stages
from meshc.semantics.placed import PlacedWeight
from meshc.semantics.program import Dim, Rest, Rule


def stacks_stay_whole(context: Context) -> Iterator[Diagnostic]:
    """E0259, once a rule: `layers` of weights or gradients split by something that is no pipeline."""
    if context.placed.pipeline is not None and regrouped_stages(context):
        return  # where the region is in stages, E0261 says so
    said: set[Rule] = set()
    for weight in context.placed.weights:
        for place, layout in ((Rest.PARAMS, weight.rest), (Rest.GRADS, weight.grads)):
            stack = weight.weight.stack
            for dim, axes, own in zip(stack, layout.axes, _of_stages(context, weight), strict=False):
                if axes == own:
                    continue
                rules = weight.because.get((place, dim.name)) or _clearing(context, dim)
                if said & {*rules}:
                    continue
                said |= {*rules}
                where = "params" if place is Rest.PARAMS else "grads"
                yield _not_whole(dim, where, axes, rules) if not own else _not_staged(dim, where, own, rules)


def _clearing(context: Context, dim: Dim) -> tuple[Rule, ...]:
    return tuple(rule for rule in context.placed.program.rules if dim.name in rule.dims and not rule.axes)


def _not_whole(dim: Dim, where: str, axes: Sequence[str], rules: Sequence[Rule]) -> Diagnostic:
    return Diagnostic(
        "E0259",
        f"`{dim.name}` of {where} cannot be split over {quoted(axes)}: a repeat takes one layer a turn",
        tuple(Label(rule.place, f"splits {dim.name}") for rule in rules[:1]),
        (
            "split another dim of the weights",
            f"or give each device its own layers: stage {dim.name} over {axes[-1]}",
            f"optimizer {{ {dim.name} -> … }} is fine: the update is no repeat",
        ),
        cures=_without(rules[0]) if rules else (),
    )


def _without(rule: Rule) -> tuple[Cure, ...]:
    if rule.origin or len(rule.dims) > 1:
        return ()
    return (Cure(f"or take out {rule.span.text}", (Option("", (), (removed(rule.span),)),)),)


def _not_staged(dim: Dim, where: str, own: Sequence[str], rules: Sequence[Rule]) -> Diagnostic:
    return Diagnostic(
        "E0259",
        f"`{dim.name}` of {where} must lie on {quoted(own)} alone, which cuts the layers into stages",
        tuple(Label(rule.place, f"puts {dim.name} elsewhere") for rule in rules[:1]),
        ("remove the rule: a device holds the layers of its stages",),
    )


def _of_stages(context: Context, weight: PlacedWeight) -> tuple[tuple[str, ...], ...]:
    """The axes that a pipeline gives the dims of a stack."""
    pipeline = context.placed.pipeline
    staged = pipeline is not None and weight.weight.value in pipeline.cut.weights
    return (pipeline.axes if pipeline and staged else (), *((),) * len(weight.weight.stack))
