"""What strategies are called with: axes, numbers, words; and the conditions on them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from meshc.diagnostics import spec_names, spec_rules
from meshc.semantics.report import Report
from meshc.semantics.sizes import shortened
from meshc.source import Span
from meshc.syntax import ast

SCHEDULES = ("gpipe", "1f1b", "interleaved")


@dataclass(frozen=True)
class AxisArgument:
    """A name given where an axis may stand. Whether the mesh has it is asked when a rule uses it."""

    name: str
    span: Span


@dataclass(frozen=True)
class Word:
    """An option's word, such as `kept`."""

    value: str
    span: Span


@dataclass(frozen=True)
class Plain:
    """A number, a text, a truth value, `none`, or a list of numbers."""

    value: int | float | bool | str | tuple[int, ...] | None
    span: Span


Bound = AxisArgument | Word | Plain


def described(bound: Bound) -> str:
    match bound:
        case AxisArgument(name=name):
            return f"`{name}`"
        case Word(value=value):
            return f"`{value}`"
        case Plain(value=bool(value)):
            return str(value).lower()
        case Plain(value=None):
            return "none"
        case Plain(value=str(value)):
            return f'"{value}"'
        case Plain(value=tuple(value)):
            return str(list(value))
        case Plain(value=value):
            return str(value)


def bind_options(
    strategy: ast.Strategy,
    given: Mapping[str, ast.Expr],
    outer: Mapping[str, Bound],
    axes: Sequence[str],
    report: Report,
) -> dict[str, Bound] | None:
    """The value of each parameter; `outer` are the parameters of the strategy that makes the call."""
    names: dict[str, Bound] = {}
    fits = True
    for parameter in strategy.parameters:
        name, default = parameter.name.text, parameter.default
        is_word = isinstance(default, ast.Ref)
        bound = _bound(given.get(name) or default, outer if name in given else names, is_word, axes, report)
        if bound is None or (name in given and not _fits(bound, default, report)):
            fits = False
        else:
            names[name] = bound
    return names if fits else None


def _bound(
    expr: ast.Expr | None, outer: Mapping[str, Bound], is_word: bool, axes: Sequence[str], report: Report
) -> Bound | None:
    match expr:
        case ast.Ref(name=name) if name.text in outer:
            return replace(outer[name.text], span=name.span)
        case ast.Ref(name=name):
            return (
                Word(name.text, name.span) if is_word and name.text not in axes else AxisArgument(name.text, name.span)
            )
        case ast.Number(value=value) | ast.Text(value=value) | ast.Literal(value=value):
            return Plain(value, expr.span)
        case ast.ListExpr(items=items) if all(isinstance(i, ast.Number) and isinstance(i.value, int) for i in items):
            return Plain(
                tuple(i.value for i in items if isinstance(i, ast.Number) and isinstance(i.value, int)), expr.span
            )
        case None:
            raise AssertionError("a parameter without default is always bound")
        case _:
            text = f"`{shortened(expr.span.text)}`"
            want = (
                "a list of positive whole numbers" if isinstance(expr, ast.ListExpr) else "an axis, a number or a word"
            )
            report(spec_names.wrong_type(want, text, expr.span))
            return None


def _fits(bound: Bound, default: ast.Expr | None, report: Report) -> bool:
    """Whether an option is of the kind of its default."""
    match default:
        case ast.Literal(value=bool()):
            fits, want = isinstance(bound, Plain) and isinstance(bound.value, bool), "true or false"
        case ast.Number():
            fits = (
                isinstance(bound, Plain) and isinstance(bound.value, int | float) and not isinstance(bound.value, bool)
            )
            want = "a number"
        case ast.Text():
            fits, want = isinstance(bound, Plain) and isinstance(bound.value, str), "a text"
        case _:
            return True
    if not fits:
        report(spec_names.wrong_type(want, described(bound), bound.span))
    return fits


# ---------------------------------------------------------------- conditions

COMPARE: dict[str, Callable] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def holds(condition: ast.Expr, names: Mapping[str, Bound], report: Report) -> bool:
    """Whether an `if` is to be followed; false (and reported) where it is not a condition."""
    match condition:
        case ast.Literal(value=bool(value)):
            return value
        case ast.Unary(op="not", operand=operand):
            return not holds(operand, names, report)
        case ast.Binary(op="and", left=left, right=right):
            return holds(left, names, report) and holds(right, names, report)
        case ast.Binary(op="or", left=left, right=right):
            return holds(left, names, report) or holds(right, names, report)
        case ast.Binary(op=op, left=left, right=right) if op in COMPARE:
            return _compare(op, _value(left, names), _value(right, names), condition, report)
        case ast.Ref(name=name) if name.text not in names:
            report(spec_names.unknown("option of this strategy", "E0202", name.text, name.span, names))
            return False
        case ast.Ref(name=name):
            bound = names[name.text]
            if isinstance(bound, Plain) and isinstance(bound.value, bool):
                return bound.value
            report(spec_rules.not_a_condition(described(bound), condition.span))
            return False
        case _:
            report(spec_rules.not_a_condition(f"`{shortened(condition.span.text)}`", condition.span))
            return False


def _value(expr: ast.Expr, names: Mapping[str, Bound]) -> object:
    match expr:
        case ast.Ref(name=name) if name.text in names:
            bound = names[name.text]
            return bound.name if isinstance(bound, AxisArgument) else bound.value
        case ast.Ref(name=name):
            return name.text
        case ast.Number(value=value) | ast.Text(value=value) | ast.Literal(value=value):
            return value
        case _:
            return None


def _compare(op: str, left: object, right: object, condition: ast.Expr, report: Report) -> bool:
    try:
        return bool(COMPARE[op](left, right))
    except TypeError:
        report(spec_rules.not_a_condition(f"`{shortened(condition.span.text)}`", condition.span))
        return False


# ---------------------------------------------------------------- options with a meaning of their own


def word_of(name: str, option: Bound, known: Sequence[str], report: Report) -> str | None:
    value = option.name if isinstance(option, AxisArgument) else option.value
    if isinstance(value, str) and value in known:
        return value
    report(spec_rules.bad_option(name, described(option), option.span, known))
    return None


@dataclass(frozen=True)
class Schedule:
    """How a pipeline runs. `microbatches` None: as many as stages; `stages` None: evenly cut."""

    microbatches: int | None = None
    schedule: str = "1f1b"
    rounds: int = 1
    stages: tuple[int, ...] | None = None


def schedule_of(names: Mapping[str, Bound], report: Report) -> Schedule | None:
    """The options of the strategy that a `stage` rule stands in; None (and reported) where one is wrong."""
    microbatches = _count("microbatches", names, report)
    rounds = _count("rounds", names, report)
    schedule = word_of("schedule", names["schedule"], SCHEDULES, report) if "schedule" in names else "1f1b"
    stages = names.get("stages")
    cut = stages.value if isinstance(stages, Plain) and isinstance(stages.value, tuple) else None
    even = stages is None or cut is not None or word_of("stages", stages, ("even",), report)
    if rounds not in (None, 0, 1) and schedule in ("gpipe", "1f1b"):
        rounds, written = names["rounds"].span, names["schedule"].span if "schedule" in names else None
        beside = written if written and written.source is rounds.source else None
        report(spec_rules.only_interleaved(schedule, rounds, beside))
        return None
    if schedule is None or not even or 0 in (microbatches, rounds):
        return None
    return Schedule(microbatches, schedule, rounds or 1, cut)


def _count(name: str, names: Mapping[str, Bound], report: Report) -> int | None:
    """A number of 1 or more; None where none is given, 0 (and reported) where it is not one."""
    if name not in names:
        return None
    option = names[name]
    if isinstance(option, Plain) and type(option.value) is int and option.value >= 1:
        return option.value
    report(spec_rules.bad_option(name, described(option), option.span, ()))
    return 0
