"""Which argument of a call is for which parameter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from meshc.diagnostics import spec_names as say
from meshc.semantics.report import Report
from meshc.syntax import ast


@dataclass(frozen=True)
class Slot:
    """A parameter by name; one that is not required has a default."""

    name: str
    required: bool = True


def slots_of(parameters: Sequence[ast.Parameter]) -> tuple[Slot, ...]:
    return tuple(Slot(p.name.text, p.default is None) for p in parameters)


def bind(slots: Sequence[Slot], call: ast.Call, report: Report) -> dict[str, ast.Expr] | None:
    """The expression given for each parameter that is given one; None (reported) where the call does not fit."""
    callee, names = call.callee.text, [slot.name for slot in slots]
    if len(call.args) > len(slots):
        extra = call.args[len(slots)].span.to(call.args[-1].span)
        report(say.too_many_arguments(callee, len(call.args), names, extra))
        return None
    bound = dict(zip(names, call.args, strict=False))
    fits = True
    for keyword in call.keywords:
        name = keyword.name
        if name.text not in names:
            report(say.unknown_argument(name.text, callee, name.span, names))
            fits = False
        elif name.text in bound:
            report(say.argument_twice(callee, name.text, name.span))
            fits = False
        else:
            bound[name.text] = keyword.value
    for slot in slots:
        if fits and slot.required and slot.name not in bound:
            report(say.missing_argument(callee, slot.name, call.span, names))
            return None
    return bound if fits else None
