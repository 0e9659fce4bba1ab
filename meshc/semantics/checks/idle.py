"""What a spec says to no effect: strategies and rules that match nothing, axes that split nothing."""

from __future__ import annotations

from collections.abc import Iterator

from meshc.diagnostics.model import Diagnostic, Label
from meshc.semantics.checks.context import Context


def strategies_match(context: Context) -> Iterator[Diagnostic]:
    """E0251: no rule of a strategy speaks of any tensor. (One with an axis of size 1 claims nothing and is fine.)"""
    program = context.placed.program
    others = {r.origin for r in (*program.exchanges, *program.stages)}
    for use in program.uses:
        own = [r for r in program.rules if r.origin is use]
        if own and use not in others and not any(r in context.placed.spoken for r in own):
            dims = ", ".join(f"`{d}`" for d in dict.fromkeys(d for r in own for d in r.dims))
            yield Diagnostic(
                "E0251",
                f"`{use.name}` matches nothing in this program",
                (Label(use.span, f"speaks of {dims}, which no tensor has"),),
                ("name the dims of the model as the strategy does, or write the rules for its dims in `partition`",),
            )


def rules_match(context: Context) -> Iterator[Diagnostic]:
    """W0305: a rule written in `partition` that speaks of no tensor."""
    for rule in context.placed.program.rules:
        if rule.origin is None and rule not in context.placed.spoken:
            where = f" within {', '.join(rule.within)}" if rule.within else ""
            of = f" of `{rule.of}`" if rule.of else ""
            yield Diagnostic(
                "W0305",
                "this rule matches no tensor",
                (Label(rule.span, f"no tensor{of}{where} has {', '.join(f'`{d}`' for d in rule.dims)}"),),
                (f"`meshc explain {context.placed.program.source.name}` lists the tensors and their dims",),
            )


def axes_shard(context: Context) -> Iterator[Diagnostic]:
    """W0304: the devices along an axis all do the same. (Where claims clash, that is to be said of it.)"""
    program = context.placed.program
    if not context.placed.sound:
        return
    used = {a for spot in context.spots for a in spot.axes} | {a for v in program.views for a in v.group}
    used |= {r.axis for r in program.stages}
    for view in program.views:  # in the place of a view, tokens lie over whatever axes of it are left
        if any(axis.name in used for axis in view.axes):
            used |= {axis.name for axis in view.axes}
    for axis in (*program.axes, *(a for v in program.views for a in v.axes)):
        if axis.size > 1 and axis.name not in used and axis.span:
            yield Diagnostic(
                "W0304",
                f"`{axis.name}` splits nothing: {axis.size} groups of devices do the same work",
                (Label(axis.span),),
                (f"use it in `partition` (for instance `data({axis.name})`), or make it 1",),
            )
