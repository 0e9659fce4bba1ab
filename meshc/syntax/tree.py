"""What each rule of the grammar makes of its children: the nodes of ast.py."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from meshc.source import Span
from meshc.syntax import ast, errors
from meshc.syntax.cut import ITEMS
from meshc.syntax.machine import Mistake

ACTIONS: dict[str, Callable[..., Any]] = {}
_LITERALS = {"true": True, "false": False, "none": None}
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}
PLACES = ("params", "grads", "optimizer")


def action(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        ACTIONS.update(dict.fromkeys(names, function))
        return function

    return register


# ---------------------------------------------------------------- names and lists


@action("name", "callee")
def _name(span: Span, text: str) -> ast.Name:
    return ast.Name(text, span)


@action("dotted")
def _dotted(span: Span, left: ast.Name, right: ast.Name) -> ast.Name:
    return ast.Name(f"{left.text}.{right.text}", span)


@action("names", "dim_tuple", "parameters", "block", "rules", "_tuple")
def _tuple(span: Span, *children: Any) -> tuple[Any, ...]:
    return children


@action("nothing")
def _nothing(span: Span) -> None:
    return None


@action("item", "parens", "positional", "initial")
def _same(span: Span, child: Any) -> Any:
    return child


# ---------------------------------------------------------------- expressions


@action("number")
def _number(span: Span, text: str) -> ast.Number:
    digits = text.replace("_", "")
    if digits.isdigit():
        return ast.Number(int(digits), span)
    value = float(digits)
    if value == float("inf"):
        raise Mistake(errors.number_too_large(span))
    return ast.Number(value, span)


@action("text")
def _text(span: Span, quoted: str) -> ast.Text:
    return ast.Text(_unquoted(span, quoted), span)


def _unquoted(span: Span, quoted: str) -> str:
    head, *rest = quoted[1:-1].split("\\")
    parts, skip = [head], False
    for number, part in enumerate(rest):
        if skip:  # the second backslash of a pair: what follows it is plain
            parts.append(part)
            skip = False
        elif part == "":
            parts.append("\\")
            skip = True
        elif part[0] not in _ESCAPES:
            at = span.start + 1 + len(head) + sum(len(p) + 1 for p in rest[:number])
            raise Mistake(errors.unknown_escape(Span(span.source, at, at + 2)))
        else:
            parts.append(_ESCAPES[part[0]] + part[1:])
    return "".join(parts)


@action("literal")
def _literal(span: Span, word: str) -> ast.Literal:
    return ast.Literal(_LITERALS[word], span)


@action("ref")
def _ref(span: Span, name: ast.Name) -> ast.Ref:
    return ast.Ref(name)


@action("unary")
def _unary(span: Span, op: str, operand: ast.Expr) -> ast.Unary:
    return ast.Unary(op, operand, span)


@action("binary")
def _binary(span: Span, left: ast.Expr, op: str, right: ast.Expr) -> ast.Binary:
    return ast.Binary(op, left, right, span)


@action("keyword")
def _keyword(span: Span, name: ast.Name, value: ast.Expr) -> ast.Keyword:
    return ast.Keyword(name, value)


@action("call")
def _call(span: Span, callee: ast.Name, *arguments: Any) -> ast.Call:
    return _make_call(span, callee, arguments, None)


@action("named_call")
def _named_call(span: Span, callee: ast.Name, *arguments: Any) -> ast.Call:
    return _make_call(span, callee, arguments[:-1], arguments[-1])


def _make_call(span: Span, callee: ast.Name, arguments: tuple[Any, ...], alias: ast.Name | None) -> ast.Call:
    keywords = tuple(a for a in arguments if isinstance(a, ast.Keyword))
    for before, argument in itertools.pairwise(arguments):
        if isinstance(before, ast.Keyword) and not isinstance(argument, ast.Keyword):
            raise Mistake(errors.positional_after_keyword(argument.span, before.name.span.to(before.value.span)))
    args = tuple(a for a in arguments if not isinstance(a, ast.Keyword))
    return ast.Call(callee, args, keywords, alias, span)


@action("index")
def _index(span: Span, table: ast.Expr, ids: ast.Expr) -> ast.Index:
    return ast.Index(table, ids, span)


@action("list")
def _list(span: Span, *items: ast.Expr) -> ast.ListExpr:
    return ast.ListExpr(items, span)


# ---------------------------------------------------------------- statements


@action("matrix")
def _matrix(span: Span, names: tuple[ast.Name, ...], ins: Any, outs: Any, init: Any) -> ast.Param:
    return ast.Param(names, (), ins, outs, init, span)


@action("bank")
def _bank(span: Span, names: tuple[ast.Name, ...], bank: Any, ins: Any, outs: Any, init: Any) -> ast.Param:
    return ast.Param(names, bank, ins, outs, init, span)


@action("array")
def _array(span: Span, names: tuple[ast.Name, ...], dims: tuple[ast.Name, ...], init: Any) -> ast.Param:
    return ast.Param(names, (), None, dims, init, span)


@action("state")
def _state(span: Span, name: ast.Name, dims: tuple[ast.Name, ...], init: Any) -> ast.State:
    return ast.State(name, dims, init, span)


@action("assign")
def _assign(span: Span, targets: tuple[ast.Name, ...], value: ast.Expr) -> ast.Assign:
    return ast.Assign(targets, value, span)


@action("update")
def _update(span: Span, name: ast.Name, value: ast.Expr) -> ast.Update:
    return ast.Update(name, value, span)


@action("repeat")
def _repeat(span: Span, count: ast.Expr, body: tuple[ast.Statement, ...]) -> ast.Repeat:
    return ast.Repeat(count, body, span)


@action("loss")
def _loss(span: Span, value: ast.Expr) -> ast.Loss:
    return ast.Loss(value, span)


@action("metric")
def _metric(span: Span, name: ast.Name, value: ast.Expr) -> ast.Metric:
    return ast.Metric(name, value, span)


@action("returns")
def _returns(span: Span, *values: ast.Expr) -> ast.Return:
    return ast.Return(values, span)


# ---------------------------------------------------------------- rules


@action("no_axes")
def _no_axes(span: Span) -> tuple[bool, tuple[ast.Name, ...]]:
    return False, ()


@action("only_axes")
def _only_axes(span: Span, names: tuple[ast.Name, ...]) -> tuple[bool, tuple[ast.Name, ...]]:
    return False, names


@action("more_axes")
def _more_axes(span: Span, names: tuple[ast.Name, ...]) -> tuple[bool, tuple[ast.Name, ...]]:
    return True, names


@action("flag")
def _flag(span: Span, *words: str) -> tuple[str, Span]:
    return words[0], span


@action("claim")
def _claim(span: Span, dims: Any, axes: Any, *flags: tuple[str, Span]) -> ast.Claim:
    return _make_claim(span, False, dims, axes, flags)


@action("first_claim")
def _first_claim(span: Span, dims: Any, axes: Any, *flags: tuple[str, Span]) -> ast.Claim:
    return _make_claim(span, True, dims, axes, flags)


def _make_claim(span: Span, first: bool, dims: Any, axes: Any, flags: tuple[tuple[str, Span], ...]) -> ast.Claim:
    append, names = axes
    words = [word for word, _ in flags]
    for number, (word, place) in enumerate(flags):
        if word in words[:number]:
            raise Mistake(errors.said_twice(place, flags[words.index(word)][1]))
        if not names:
            raise Mistake(errors.flag_without_axes(place))
    return ast.Claim(dims, first, names, append, "zigzag" in words, "repeat" in words, "where" in words, span)


@action("exchange")
def _exchange(span: Span, what: ast.Name, method: ast.Name, axis: ast.Name) -> ast.Exchange:
    return ast.Exchange(what, method, axis, span)


@action("stage")
def _stage(span: Span, dim: ast.Name, axis: ast.Name) -> ast.Stage:
    return ast.Stage(dim, axis, span)


@action("within")
def _within(span: Span, *children: Any) -> ast.Place:
    word = ast.Name("within", span.head(len("within")))
    return ast.Place((word,), children[:-1], None, children[-1], span)


@action("place")
def _place(span: Span, kinds: tuple[ast.Name, ...], rules: tuple[ast.Rule, ...]) -> ast.Place:
    return _make_place(span, kinds, None, rules)


@action("place_of")
def _place_of(span: Span, kinds: tuple[ast.Name, ...], of: ast.Name, rules: tuple[ast.Rule, ...]) -> ast.Place:
    return _make_place(span, kinds, of, rules)


def _make_place(span: Span, kinds: tuple[ast.Name, ...], of: ast.Name | None, rules: tuple[ast.Rule, ...]) -> ast.Place:
    seen: dict[str, Span] = {}
    for kind in kinds:
        if kind.text not in PLACES:
            raise Mistake(errors.unknown_place(kind), instead=span if kind.text in ITEMS else None)
        if kind.text in seen:
            raise Mistake(errors.said_twice(kind.span, seen[kind.text]))
        seen[kind.text] = kind.span
    return ast.Place(kinds, (), of, rules, span)


@action("condition")
def _condition(span: Span, condition: ast.Expr, rules: tuple[ast.Rule, ...]) -> ast.If:
    return ast.If(condition, rules, span)


@action("use")
def _use(span: Span, callee: ast.Name, *arguments: Any) -> ast.Use:
    return ast.Use(_make_call(span, callee, arguments, None))


# ---------------------------------------------------------------- items


@action("import")
def _import(span: Span, path: ast.Text, alias: ast.Name | None = None) -> ast.Import:
    return ast.Import(path, alias, span)


@action("mesh")
def _mesh(span: Span, *axes: ast.Axis) -> ast.Mesh:
    return ast.Mesh(None, None, axes, span)


@action("view")
def _view(span: Span, name: ast.Name, group: tuple[ast.Name, ...], *axes: ast.Axis) -> ast.Mesh:
    return ast.Mesh(name, group, axes, span)


@action("axis")
def _axis(span: Span, name: ast.Name, size: ast.Expr) -> ast.Axis:
    return ast.Axis(name, size, span)


@action("rest")
def _rest(span: Span, name: ast.Name) -> ast.Axis:
    return ast.Axis(name, None, span)


@action("dims")
def _dims(span: Span, *entries: ast.Dim) -> ast.Dims:
    return ast.Dims(entries, span)


@action("entry")
def _entry(span: Span, name: ast.Name, size: ast.Expr) -> ast.Dim:
    return ast.Dim(name, size, span)


@action("parameter")
def _parameter(span: Span, name: ast.Name, default: ast.Expr | None) -> ast.Parameter:
    return ast.Parameter(name, None, None, default, span)


@action("tensor")
def _tensor(span: Span, name: ast.Name, dims: Any, default: ast.Expr | None) -> ast.Parameter:
    return ast.Parameter(name, dims, None, default, span)


@action("ids")
def _ids(span: Span, name: ast.Name, dims: Any, of: ast.Name, default: ast.Expr | None) -> ast.Parameter:
    return ast.Parameter(name, dims, of, default, span)


@action("layer")
def _layer(span: Span, name: ast.Name, parameters: Any, body: Any) -> ast.Layer:
    return ast.Layer(name, parameters, body, span)


@action("model")
def _model(span: Span, name: ast.Name, parameters: Any, body: Any) -> ast.Model:
    return ast.Model(name, parameters, body, span)


@action("primitive")
def _primitive(span: Span, name: ast.Name, parameters: Any, dims: Any, target: ast.Text, whole: Any) -> ast.Primitive:
    return ast.Primitive(name, parameters, dims, target, whole or (), span)


@action("strategy")
def _strategy(span: Span, name: ast.Name, parameters: Any, rules: Any) -> ast.Strategy:
    return ast.Strategy(name, parameters, rules, span)


@action("partition")
def _partition(span: Span, rules: Any) -> ast.Partition:
    return ast.Partition(rules, span)
