"""Declarations of weights: `param` and `state`, their dims, initial values and paths, and a state's update."""

from __future__ import annotations

import math

from meshc.diagnostics import spec_names, spec_tensors
from meshc.semantics.build import Builder
from meshc.semantics.expressions import evaluate, tensor_of
from meshc.semantics.operands import BROKEN, Broken, Constant, names, number_of
from meshc.semantics.program import Dim, Init, Kind, Update, Value, Weight
from meshc.semantics.sizes import shortened
from meshc.syntax import ast

VECTOR = Init("normal", 0.02)  # of a `param name: [dims]` that gives no initial value (GPT-2, arXiv:1909.05858's code)


def declare_params(b: Builder, node: ast.Param) -> None:
    """`param a, b: [bank] ins -> outs = init`: normal with variance 1 / (product of the ins) by default."""
    bank, ins, outs = b.dims_of(node.bank), b.dims_of(node.ins or ()), b.dims_of(node.outs)
    if isinstance(bank, Broken) or isinstance(ins, Broken) or isinstance(outs, Broken):
        _break(b, node.names)
        return
    default = VECTOR if node.ins is None else Init("fan_in", fan_in=math.prod(dim.real for dim in ins))
    init = default if node.init is None else _init(b, node.init)
    for name in node.names:
        weight = _declare(b, name, bank + ins + outs, init, trained=True)
        if weight is not None and bank:
            b.facts.banks[weight.value] = frozenset(bank)


def declare_state(b: Builder, node: ast.State) -> None:
    dims = b.dims_of(node.dims)
    if isinstance(dims, Broken):
        _break(b, (node.name,))
        return
    init = Init("constant", 0.0) if node.init is None else _init(b, node.init)
    weight = _declare(b, node.name, dims, init, trained=False)
    if weight is not None:
        b.frame.states[node.name.text] = weight


def _declare(b: Builder, name: ast.Name, dims: tuple[Dim, ...], init: Init | None, trained: bool) -> Weight | None:
    """Adds a weight to the module being made, in the repeats around the statement."""
    frame = b.frame
    if first := frame.taken.get(name.text):
        b.report(spec_names.defined_twice(name.text, name.span, first))
        frame.names.setdefault(name.text, BROKEN)  # the first may have been in another repeat
        return None
    frame.taken[name.text] = name.span
    if init is None or not b.distinct(frame.stack + dims, name.span):
        _break(b, (name,))
        return None
    value = Value(name.text, dims, Kind.FLOAT, name.span, named=True)
    weight = Weight((*frame.path, name.text), value, init, frame.stack, trained)
    frame.weights.append(weight)
    frame.names[name.text] = value
    b.facts.weights[value] = weight
    return weight


def _break(b: Builder, declared: tuple[ast.Name, ...]) -> None:
    for name in declared:
        b.frame.names[name.text] = BROKEN


def _init(b: Builder, expr: ast.Expr) -> Init | None:
    """`ones`, `zeros`, `normal(0.02)` or a number, which may be a constant of the layer."""
    match expr:
        case ast.Ref(name=ast.Name(text="ones")):
            return Init("constant", 1.0)
        case ast.Ref(name=ast.Name(text="zeros")):
            return Init("constant", 0.0)
        case ast.Call(callee=ast.Name(text="normal"), args=(scale,), keywords=()):
            number = _constant(b, scale)
            if number is not None and number < 0:
                b.report(spec_tensors.bad_init(f"a standard deviation of {number}", scale.span))
                return None
            return None if number is None else Init("normal", number)
        case ast.Call(callee=callee):
            b.report(spec_tensors.bad_init(f"`{shortened(expr.span.text)}`", callee.span))
            return None
        case _:
            number = _constant(b, expr)
            return None if number is None else Init("constant", number)


def _constant(b: Builder, expr: ast.Expr) -> float | None:
    operand = BROKEN if isinstance(expr, ast.ListExpr) else evaluate(b, expr)
    number = number_of(operand)
    if number is None or not isinstance(operand, Constant | Dim):
        if isinstance(expr, ast.ListExpr) or not isinstance(operand, Broken):
            b.report(spec_tensors.bad_init(f"`{shortened(expr.span.text)}`", expr.span))
        return None
    return float(number)


def update(b: Builder, node: ast.Update) -> None:
    """`state := expr`: the value that the state has in the next step."""
    name, frame = node.name, b.frame
    value = tensor_of(b, evaluate(b, node.value), node.value.span)
    weight = frame.states.get(name.text)
    if weight is None:
        if not isinstance(frame.names.get(name.text), Broken):
            b.report(spec_tensors.not_a_state(name.text, name.span, list(frame.states)))
        return
    if first := frame.updated.get(name.text):
        b.report(spec_tensors.updated_twice(name.text, name.span, first))
        return
    frame.updated[name.text] = name.span
    if weight.stack != frame.stack:
        b.report(spec_tensors.updated_in_repeat(name.text, name.span, weight.value.span))
        return
    if isinstance(value, Broken):
        return
    if value.dims != weight.value.dims:
        wrong = spec_tensors.wrong_dims(
            name.text, names(weight.value.dims), names(value.dims), node.value.span, weight.value.span
        )
        b.report(wrong)
        return
    b.emit(Update(weight, value, node.span))
