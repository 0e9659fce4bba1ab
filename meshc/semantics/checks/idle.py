"""What a spec says to no effect: strategies and rules that match nothing, axes that split nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase

from meshc.diagnostics.edits import line_after, removed
from meshc.diagnostics.model import Cure, Diagnostic, Edit, Label, Option
from meshc.diagnostics.suggest import did_you_mean, nearest, quoted
from meshc.semantics.alternatives import axis_may_be, trades
from meshc.semantics.checks.context import Context
from meshc.semantics.placed import Computed
from meshc.semantics.program import Attend, NextToken, Program, Rest, Rule, StrategyUse
from meshc.semantics.statements import modules, statements
from meshc.source import Span


def strategies_match(context: Context) -> Iterator[Diagnostic]:
    """E0251: no rule of a strategy speaks of any tensor. (One with an axis of size 1 claims nothing and is fine.)"""
    program = context.placed.program
    for use in _matching_nothing(context):
        dims = quoted(list(dict.fromkeys(d for r in program.rules if r.origin is use for d in r.dims)), "and")
        spoken = f"speaks of {dims}, which no tensor has" if dims else "is for attention, which no layer computes"
        yield Diagnostic(
            "E0251",
            f"`{use.name}` matches nothing in this program",
            (Label(use.span, spoken),),
            ("name the dims of the model as the strategy does, or write the rules for its dims in `partition`",),
            cures=(Cure("or take it out", (Option("", (), (removed(use.span),)),)),),
        )


def _matching_nothing(context: Context) -> list[StrategyUse]:
    """Uses with rules of which none speaks of a tensor. Exchanges speak of attention, stages of repeats."""
    program = context.placed.program
    spoken = {*program.of_one, *(r.origin for r in (*program.stages, *context.placed.spoken))}
    exchanging = {r.origin for r in program.exchanges}
    called = modules(program.model) if exchanging - spoken else ()
    if any(isinstance(op, Attend) for module in called for op in statements(module.body)):
        spoken |= exchanging
    ruling = {r.origin for r in program.rules} | exchanging
    return [use for use in program.uses if use in ruling and use not in spoken]


def rules_match(context: Context) -> Iterator[Diagnostic]:
    """W0305: a rule written in `partition` that speaks of no tensor, or some of its dims of none."""
    placed = context.placed
    for rule in placed.program.rules:
        silent = [d for d in rule.dims if (rule, d) not in placed.spoken_of]
        if rule.origin is None and silent and not (rule.first and len(silent) < len(rule.dims)):
            where = f" within {', '.join(rule.within)}" if rule.within else ""
            of = f" of `{rule.of}`" if rule.of else ""
            free = f" and {quoted(rule.axes)} free" if rule.where_free else ""
            few = f" with {quoted(silent)}" if len(silent) < len(rule.dims) else ""
            if sent := _sent(context, rule, silent):
                cures = tuple(replace(cure, says="") for cure in _without(rule, silent))
                yield Diagnostic("W0305", f"this rule says nothing of tokens at their experts{few}", *sent, cures=cures)
                continue
            yield Diagnostic(
                "W0305",
                f"this rule matches no tensor{few}",
                (Label(rule.span, f"no tensor{of}{where} has {', '.join(f'`{d}`' for d in silent)}{free}"),),
                (called := _weights_called(context, rule.of))
                or (f"`meshc explain {placed.program.source.name}` lists the tensors and their dims",),
                cures=_as_called(context, rule) if called else _without(rule, silent),
            )


def _sent(context: Context, rule: Rule, silent: list[str]) -> tuple[tuple[Label, ...], tuple[str, ...]] | None:
    """Label and cures, where a rule would place what tokens are sent by: they lie as they did, and are not placed."""
    if "experts" not in rule.within or rule.rest is not Rest.USE:
        return None
    tokens = {dim.name for route in context.placed.routes.values() for dim in route.operand.dims[:-1]}
    names = [dim for dim in silent if dim in tokens]
    if names != silent:
        return None
    own = {dim.name for value in context.placed.routes for dim in value.dims} - tokens
    label = Label(rule.span, f"tokens lie along {quoted(names, 'and')} as they did where they were sent")
    return (label,), (
        f"take it out: rules within experts place {quoted(sorted(own), 'and')}",
        f"tokens are split by what is said of {quoted(names, 'and')} outside of the experts",
    )


def _as_called(context: Context, rule: Rule) -> tuple[Cure, ...]:
    """The rule for the weight that is meant, whose path stands before it."""
    near = nearest(rule.of or "", [weight.weight.dotted for weight in context.placed.weights])
    source = rule.span.source
    at = source.text.rfind(rule.of or "", 0, rule.span.start)
    if not near or at < 0:
        return ()
    return (Cure("", (Option("", (), (Edit(Span(source, at, at + len(rule.of or "")), near),)),)),)


def _without(rule: Rule, silent: list[str]) -> tuple[Cure, ...]:
    """A direct rule gone, or without the dims that it has in vain."""
    kept = [dim for dim in rule.dims if dim not in silent]
    if not kept:
        return (Cure("or take it out", (Option("", (), (removed(rule.span),)),)),)
    text = f"{', '.join(kept)} {rule.span.text[rule.span.text.index('->') :]}"
    return () if rule.first else (Cure(f"or write it without: {text}", (Option("", (), (Edit(rule.span, text),)),)),)


def _weights_called(context: Context, of: str | None) -> tuple[str, ...]:
    """A suggestion where no weight has the path that a rule names."""
    paths = [weight.weight.dotted for weight in context.placed.weights]
    if of is None or any(fnmatchcase(path, of) for path in paths):
        return ()
    if inside := next((path for path in paths if path.startswith(f"{of}.")), None):
        return (f"`{of}` is no weight: name one in it, such as `{inside}`",)
    return did_you_mean(of, paths)


def exchanges_move(context: Context) -> Iterator[Diagnostic]:
    """W0305: an exchange, though no attention has keys that are split over its axis."""
    if not context.placed.sound:
        return
    moved = {rule.axis for rule in context.placed.exchanged}
    said = _matching_nothing(context)
    for rule in context.placed.program.exchanges:
        if rule.origin in said:
            continue
        if rule not in context.placed.exchanged and (rule.axis not in moved or rule.origin is None):
            where = f" within {', '.join(rule.within)}" if rule.within else ""
            yield Diagnostic(
                "W0305",
                f"nothing is exchanged over `{rule.axis}`",
                (Label(rule.place, f"no keys{where} are split over it"),),
                (f"split the sequence over it: seq -> .., {rule.axis}",)
                if rule.origin is None
                else (f"`{rule.origin.name}` is for attention; `data` splits the batch, `tensor` the weights",),
            )


def axes_shard(context: Context) -> Iterator[Diagnostic]:
    """W0304: the devices along an axis all do the same. (Where claims clash, that is to be said of it.)"""
    program = context.placed.program
    if not context.placed.sound:
        return
    used = {a for spot in context.spots for a in spot.axes}
    refined = context.placed.refined
    used |= set(refined.of([*(r.axis for r in program.stages), *(a for v in program.views for a in v.group)]))
    idle = [a for a in program.axes if a.size > 1 and used.isdisjoint(refined.parts[a.name])]
    named = {a for rule in context.placed.spoken for a in rule.axes}
    for view in program.views:
        if all(axis.size > 1 and axis.name not in named for axis in view.axes):  # those of size 1 rules name in vain
            names = quoted([axis.name for axis in view.axes])
            yield Diagnostic(
                "W0304",
                f"no rule within `{view.name}` names an axis of its view: {names} split no weights",
                (Label(view.span),),
                (f"use one: within {view.name} {{ DIM -> {view.axes[-1].name} }}, or remove the view",),
            )
    for axis in idle:
        if axis.span:
            yield Diagnostic(
                "W0304",
                f"`{axis.name}` splits nothing: {axis.size} groups of devices do the same work",
                (Label(axis.span),),
                cures=(
                    Cure("use it in `partition`: {}", _in_partition(program, axis.name)),
                    *axis_may_be(axis, [1], "make `{axis}` {{}}"),
                    *trades(program, axis, lambda size: size == 1),
                ),
            )


def losses_have_targets(context: Context) -> Iterator[Diagnostic]:
    """W0521: where a row is one token, none of them has a next one."""
    for item in context.flat.statements:
        match item.statement:
            case Computed(op=NextToken(seq=seq, ids=ids, span=span)) if seq.real == 1:
                labels = [Label(span, f"predicts the next of `{ids.name}` along `{seq.name}`")]
                labels += [Label(seq.span, f"{seq.name} is 1")] if seq.span else []
                message = f"no token has a next one along {seq.name} = 1: the loss is 0, and nothing is trained"
                yield Diagnostic("W0521", message, tuple(labels), (f"make {seq.name} 2 or more",))


def _in_partition(program: Program, axis: str) -> tuple[Option, ...]:
    """Strategies that are for every model, behind the last line of `partition`."""
    rules = (*program.uses, *program.rules, *program.exchanges, *program.stages)
    places = [rule.span if isinstance(rule, StrategyUse) else rule.place for rule in rules]
    own = [place for place in places if place.source is program.source]
    if not own:
        return ()
    last = max(own, key=lambda place: place.end)
    texts = (f"{strategy}({axis})" for strategy in ("data", "fsdp"))
    return tuple(Option(f"`{text}`", (), (line_after(last, text),)) for text in texts)
