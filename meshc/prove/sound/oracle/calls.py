"""Calls of strategies: arguments, options, conditions."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING

from meshc.syntax import ast

if TYPE_CHECKING:
    from meshc.prove.sound.oracle.rules import Writing

Value = float | str | bool | list | None
"""A name is its text: of an axis, a dim, an option's word."""
COMPARE = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
           ">=": operator.ge}  # fmt: skip
WORDS = ("again", "kept", "even")


def arguments(
    strategy: ast.Strategy, call: ast.Call, outer: Mapping[str, Value], writing: Writing
) -> dict[str, Value] | None:
    """Parameter -> what it is in this use; None where they do not fit."""
    wanted = [parameter.name.text for parameter in strategy.parameters]
    names = [keyword.name.text for keyword in call.keywords]
    given: dict[str, ast.Expr] = dict(zip(wanted, call.args, strict=False))
    twice = len(set(names)) < len(names) or set(names) & set(given)
    if len(call.args) > len(wanted) or set(names) - set(wanted) or twice:
        writing.wrong.say("call", f"arguments that `{strategy.name.text}` does not take")
        return None
    given.update({keyword.name.text: keyword.value for keyword in call.keywords})
    found: dict[str, Value] = {}
    for parameter in strategy.parameters:
        name = parameter.name.text
        if name in given:
            found[name] = value(given[name], outer, writing)
        elif parameter.default is not None:
            found[name] = value(parameter.default, found, writing)
        else:
            writing.wrong.say("call", f"`{strategy.name.text}` needs `{name}`")
            return None
    return found


def value(expr: ast.Expr, names: Mapping[str, Value], writing: Writing) -> Value:
    match expr:
        case ast.Number(value=one) | ast.Text(value=one) | ast.Literal(value=one):
            return one
        case ast.Ref(name=name) if name.text in names:
            return names[name.text]
        case ast.Ref(name=name):
            return name.text
        case ast.ListExpr(items=items):
            return [value(item, names, writing) for item in items]
        case ast.Unary(op="not", operand=operand):
            return not value(operand, names, writing)
        case ast.Unary(operand=operand):
            one = value(operand, names, writing)
            return -one if isinstance(one, int | float) else one
        case ast.Binary(op="and", left=left, right=right):
            return value(left, names, writing) and value(right, names, writing)
        case ast.Binary(op="or", left=left, right=right):
            return value(left, names, writing) or value(right, names, writing)
        case ast.Binary(op=op, left=left, right=right) if op in COMPARE:
            return COMPARE[op](value(left, names, writing), value(right, names, writing))
        case _:
            return None


def truth(condition: ast.Expr, names: Mapping[str, Value], writing: Writing) -> bool:
    return bool(value(condition, names, writing))


def axes(names: list[str], given: Mapping[str, Value]) -> list[str]:
    """What names of axes are in this use; none of a parameter that is none."""
    found: list[str] = []
    for name in names:
        one = given.get(name, name)
        found += [str(part) for part in one] if isinstance(one, list) else [] if one is None else [str(one)]
    return found


def dim(name: str, given: Mapping[str, Value]) -> str:
    return str(given.get(name, name))


def options(strategy: ast.Strategy, names: Mapping[str, Value], writing: Writing) -> None:
    """Options with a meaning have values that can be."""
    if "gathered" in names:
        if names["gathered"] not in ("again", "kept"):
            writing.wrong.say("call", f"gathered = {names['gathered']}")
        writing.gathered.add(str(names["gathered"]))
    if not any(isinstance(rule, ast.Stage) for rule in strategy.rules):
        return
    schedule, rounds, stages = names.get("schedule", "1f1b"), names.get("rounds", 1), names.get("stages", "even")
    if schedule not in ("gpipe", "1f1b", "interleaved"):
        writing.wrong.say("call", f"schedule = {schedule}")
    for count in (names.get("microbatches", 1), rounds):
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            writing.wrong.say("call", f"{count} microbatches or rounds")
    if rounds != 1 and schedule != "interleaved":
        writing.wrong.say("call", f"rounds with {schedule}")
    if stages != "even" and not (isinstance(stages, list) and all(isinstance(n, int) for n in stages)):
        writing.wrong.say("call", f"stages = {stages}")
