"""Expressions of layers: arithmetic by dim name, `@`, table lookups. Calls are in functions.py and expand.py."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from meshc.diagnostics import spec_names, spec_sizes, spec_tensors
from meshc.diagnostics.model import Label
from meshc.semantics.build import Builder, Wish
from meshc.semantics.operands import BROKEN, Broken, Constant, Operand, Results, described, names, number_of
from meshc.semantics.program import Contract, Dim, Elementwise, Kind, Lookup, Rename, Value
from meshc.source import Span
from meshc.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Sequence

ARITHMETIC = {"+": "add", "-": "sub", "*": "mul", "/": "div", "**": "pow"}
CONSTANT: dict[str, Callable] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "**": operator.pow,
    "//": operator.floordiv, "%": operator.mod, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


def evaluate(b: Builder, expr: ast.Expr, wish: Wish = ()) -> Operand:
    """The one operand that an expression yields; operations are emitted on the way."""
    match expr:
        case ast.Number(value=value) | ast.Text(value=value) | ast.Literal(value=value):
            return Constant(value)
        case ast.Ref(name=name):
            return b.look_up(name)
        case ast.Unary(op=op, operand=operand):
            return _unary(b, op, operand, expr.span, wish)
        case ast.Binary(op="@", left=left, right=right):
            return _contract(b, _tensor(b, left), _tensor(b, right), expr.span, wish)
        case ast.Binary(op=op, left=left, right=right):
            return _binary(b, op, (left, right), expr.span, wish)
        case ast.Call():
            return _one(b, expr, wish)
        case ast.Index(table=table, ids=ids):
            return _lookup(b, _tensor(b, table), ids_of(b, ids), expr.span, wish)
        case ast.ListExpr():
            b.report(spec_names.wrong_type("a tensor or a number", "a list", expr.span))
            return BROKEN


def evaluate_all(b: Builder, expr: ast.Expr, wish: Wish = ()) -> Results:
    """All that an expression yields: several operands of a `split` or a layer that returns several."""
    if isinstance(expr, ast.Call):
        from meshc.semantics.calls import call

        return call(b, expr, wish)
    return (evaluate(b, expr, wish),)


def _one(b: Builder, expr: ast.Call, wish: Wish) -> Operand:
    results = evaluate_all(b, expr, wish)
    if len(results) != 1:
        b.report(spec_names.wrong_count(1, len(results), f"`{expr.callee.text}`", expr.span))
        return BROKEN
    return results[0]


def tensor_of(b: Builder, operand: Operand, span: Span) -> Value | Broken:
    """The operand as a tensor of floats, else broken and reported."""
    if isinstance(operand, Broken) or (isinstance(operand, Value) and operand.kind is Kind.FLOAT):
        return operand
    b.report(spec_names.wrong_type("a tensor", described(operand), span))
    return BROKEN


def _tensor(b: Builder, expr: ast.Expr) -> Value | Broken:
    return tensor_of(b, evaluate(b, expr), expr.span)


def ids_of(b: Builder, expr: ast.Expr) -> Value | Broken:
    operand = evaluate(b, expr)
    if isinstance(operand, Broken) or (isinstance(operand, Value) and operand.kind is Kind.INT):
        return operand
    hint = ("an input is ids when it says what it counts: `tokens: [batch, seq] of vocab`",)
    found = spec_names.wrong_type("ids", described(operand), expr.span, hint)
    declared = (Label(operand.span, "declared here"),) if isinstance(operand, Value) else ()
    b.report(replace(found, labels=(*found.labels, *declared)))
    return BROKEN


# ---------------------------------------------------------------- arithmetic


def _unary(b: Builder, op: str, operand: ast.Expr, span: Span, wish: Wish) -> Operand:
    given = evaluate(b, operand)
    if op == "not":
        if isinstance(given, Constant) and isinstance(given.value, bool):
            return Constant(not given.value)
        if not isinstance(given, Broken):
            b.report(spec_names.wrong_type("true or false", described(given), operand.span))
        return BROKEN
    number = number_of(given)
    if number is not None:
        return Constant(-number)
    value = tensor_of(b, given, operand.span)
    return value if isinstance(value, Broken) else elementwise(b, "neg", (value,), span, wish)


def _binary(b: Builder, op: str, sides: tuple[ast.Expr, ast.Expr], span: Span, wish: Wish) -> Operand:
    left, right = (evaluate(b, side) for side in sides)
    if isinstance(left, Broken) or isinstance(right, Broken):
        return BROKEN
    if not isinstance(left, Value) and not isinstance(right, Value):
        return _fold(b, op, left, right, span)
    if op not in ARITHMETIC:
        b.report(spec_names.wrong_type("numbers", "a tensor", span, (f"`{op}` is for numbers only",)))
        return BROKEN
    operands = tuple(_addend(b, o, side.span) for o, side in zip((left, right), sides, strict=True))
    if any(isinstance(o, Broken) for o in operands):
        return BROKEN
    return elementwise(b, ARITHMETIC[op], tuple(o for o in operands if not isinstance(o, Broken)), span, wish)


def _addend(b: Builder, operand: Operand, span: Span) -> Value | float | Broken:
    """An operand of arithmetic: a float tensor or a number."""
    number = number_of(operand)
    return tensor_of(b, operand, span) if number is None else number


def _fold(b: Builder, op: str, left: Operand, right: Operand, span: Span) -> Operand:
    """Arithmetic on constants."""
    one, other = _plain(left), _plain(right)
    if op in ("and", "or") and isinstance(one, bool) and isinstance(other, bool):
        return Constant(one and other if op == "and" else one or other)
    numbers = number_of(left) is not None and number_of(right) is not None
    if op in ("and", "or") or not (numbers or op in ("==", "!=")):
        wrong = left if number_of(left) is None else right
        b.report(spec_names.wrong_type("numbers", described(wrong), span))
        return BROKEN
    if op == "**" and isinstance(one, int) and isinstance(other, int) and abs(one) > 1 and other > 64:
        b.report(spec_sizes.number_too_large(span))
        return BROKEN
    return computed(b, partial(CONSTANT[op], one, other), span)


def computed(b: Builder, compute: Callable[[], Any], span: Span) -> Constant | Broken:
    """What is computed of constants, where it is a number that a float holds; else broken and reported."""
    try:
        value = compute()
        if isinstance(value, complex):
            b.report(spec_names.wrong_type("a number", "no number", span))
        elif math.isfinite(value):  # of an integer that no float holds: OverflowError
            return Constant(value)
        else:
            b.report(spec_sizes.number_too_large(span))
    except ZeroDivisionError:
        b.report(spec_sizes.division_by_zero(span))
    except OverflowError:
        b.report(spec_sizes.number_too_large(span))
    return BROKEN


def _plain(operand: Operand) -> object:
    return operand.value if isinstance(operand, Constant) else number_of(operand)


def elementwise(b: Builder, function: str, operands: Sequence[Value | float], span: Span, wish: Wish) -> Value:
    """Emits an operation on tensors of any dims, broadcast by name."""
    result = b.value(_called(function, operands), broadcast(operands), span, wish)
    b.emit(Elementwise(function, tuple(operands), result, span))
    return result


def broadcast(operands: Sequence[Value | float]) -> tuple[Dim, ...]:
    """The dims of the first operand that has all, else all in the order in which they appear."""
    every = [operand.dims for operand in operands if isinstance(operand, Value)]
    union = tuple(dict.fromkeys(dim for dims in every for dim in dims))
    return next((dims for dims in every if len(dims) == len(union)), union)


RESULT_NAMES = {
    "add": "h", "sub": "difference", "mul": "h", "div": "ratio", "pow": "power", "square": "squares", "sqrt": "root",
    "rsqrt": "inverse_root", "exp": "exponential", "log": "logarithm", "abs": "magnitude", "sign": "signs",
}  # fmt: skip


def _called(function: str, operands: Sequence[Value | float]) -> str:
    """A name for a result that the spec leaves unnamed: what is only activated, scaled or shifted keeps its own."""
    tensors = [operand for operand in operands if isinstance(operand, Value)]
    if function in RESULT_NAMES and (len(tensors) == len(operands) == 1 or len(tensors) > 1):
        return RESULT_NAMES[function]
    return tensors[0].name


# ---------------------------------------------------------------- products and lookups


def _contract(b: Builder, left: Value | Broken, right: Value | Broken, span: Span, wish: Wish) -> Value | Broken:
    """`left @ right`: sums over the dims both have; those of a bank are batched instead."""
    if isinstance(left, Broken) or isinstance(right, Broken):
        return BROKEN
    bank = b.facts.banks.get(left, frozenset()) | b.facts.banks.get(right, frozenset())
    shared = [dim for dim in left.dims if dim in right.dims]
    over = tuple(dim for dim in shared if dim not in bank)
    if not over:
        sides = (left.name, names(left.dims), right.name, names(right.dims))
        b.report(spec_tensors.nothing_to_contract(*sides, span))
        return BROKEN
    dims = tuple(d for d in left.dims if d not in over) + tuple(d for d in right.dims if d not in shared)
    primed = [dim for dim in dims if dim.name != dim.base and dim.base not in names(dims)]
    primed = list({dim.base: dim for dim in reversed(primed)}.values())[::-1]  # of embed' and embed'' the first
    result = b.value(_product_name(b, left, right), dims, span, () if primed else wish)
    b.emit(Contract(left, right, over, result, span))
    for i, dim in enumerate(primed):
        plain = replace(dim, name=dim.base)
        renamed = tuple(plain if d == dim else d for d in result.dims)
        after = b.value(result.name, renamed, span, wish if i == len(primed) - 1 else ())
        b.emit(Rename(result, dim, plain, after, span))
        result = after
    return result


def _product_name(b: Builder, left: Value, right: Value) -> str:
    """`q` of `x @ wq`, `gate` of `x @ gate`."""
    weight = b.facts.weights.get(right) or b.facts.weights.get(left)
    if weight is None:
        return "product"
    name = weight.name
    return name[1:] if name.startswith("w") and 1 < len(name) <= 3 else name


def _lookup(b: Builder, table: Value | Broken, ids: Value | Broken, span: Span, wish: Wish) -> Value | Broken:
    if isinstance(table, Broken) or isinstance(ids, Broken):
        return BROKEN
    row = b.facts.counts.get(ids)
    if row is None:
        b.report(spec_tensors.ids_without_of(ids.name, span))
        return BROKEN
    if row not in table.dims:
        b.report(spec_tensors.not_rows(ids.name, row.name, table.name, names(table.dims), span))
        return BROKEN
    dims = ids.dims + tuple(dim for dim in table.dims if dim != row)
    if not b.distinct(dims, span):
        return BROKEN
    result = b.value("rows", dims, span, wish)
    b.emit(Lookup(table, ids, row, result, span))
    return result
