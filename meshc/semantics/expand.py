"""Elaborating layers: each call of a layer becomes a module with weights and operations on tensors of known dims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never

from meshc.diagnostics import spec_names, spec_tensors
from meshc.semantics.binding import bind, slots_of
from meshc.semantics.build import Builder, Frame, Wish
from meshc.semantics.calls import fitting
from meshc.semantics.expressions import evaluate, evaluate_all, tensor_of
from meshc.semantics.operands import BROKEN, Broken, Constant, Operand, Results, described
from meshc.semantics.program import Dim, Invoke, Kind, Loss, Metric, Module, Value
from meshc.semantics.recall import elaborated
from meshc.semantics.repeats import repeat
from meshc.semantics.scope import Definition
from meshc.semantics.weights_of import declare_params, declare_state, update
from meshc.syntax import ast


def elaborate(b: Builder, definition: Definition) -> Module | None:
    """The whole model; None (and reported) where its inputs cannot be made."""
    model = definition.node
    assert isinstance(model, ast.Model)
    frame = Frame(definition.scope, (model.name.text,), is_model=True)
    b.frames.append(frame)
    b.open.append(model)
    for parameter in model.parameters:
        frame.names[parameter.name.text] = _input(b, parameter)
    run(b, model.body)
    module = _close(b, model)
    return module


def _input(b: Builder, parameter: ast.Parameter) -> Operand:
    """An input of the model, or one of its constants."""
    name = parameter.name
    if parameter.dims is None:
        if parameter.default is not None:
            return evaluate(b, parameter.default)
        b.report(spec_tensors.input_without_dims(name.text, name.span))
        return BROKEN
    dims = b.dims_of(parameter.dims)
    counted = b.dim(parameter.of) if parameter.of else None
    if isinstance(dims, Broken) or isinstance(counted, Broken) or not b.distinct(dims, name.span):
        return BROKEN
    value = Value(name.text, dims, Kind.FLOAT if counted is None else Kind.INT, name.span, named=True)
    if counted is not None:
        b.facts.counts[value] = counted
    b.frame.inputs.append(value)
    return value


def _close(b: Builder, node: ast.Layer | ast.Model) -> Module:
    """Ends the frame on top and makes its module."""
    frame = b.frames.pop()
    b.open.pop()
    outputs = tuple(value for value in frame.returned if isinstance(value, Value))
    module = Module(
        frame.path[-1], node.name.text, frame.path, tuple(frame.weights), tuple(frame.inputs), outputs,
        tuple(frame.body), node.name.span,
    )  # fmt: skip
    b.modules.append(module)
    return module


# ---------------------------------------------------------------- calls of layers


def invoke(b: Builder, definition: Definition, call: ast.Call, wish: Wish) -> Results:
    """A call of a layer: its body elaborated for these arguments."""
    layer = definition.node
    assert isinstance(layer, ast.Layer)
    broken = (BROKEN,) * max(1, len(wish))
    if layer in b.open:
        names = [node.name.text for node in b.open[b.open.index(layer) :]]
        b.report(spec_names.recursion([*names, layer.name.text], call.span))
        return broken
    if b.exhausted(call.span):
        return broken
    bound = bind(slots_of(layer.parameters), call, b.report)
    if bound is None:
        return broken
    given = {name: evaluate(b, expr) for name, expr in bound.items()}
    alias = call.alias or ast.Name(layer.name.text, call.callee.span)
    path = (*b.frame.path, b.frame.instance(alias.text, alias.span))
    frame = Frame(definition.scope, path, stack=b.frame.stack)
    module, returned = elaborated(b, definition, frame, given, lambda: _elaborate(b, layer, frame, given, bound, call))
    if returned is None:
        return ()
    if any(isinstance(value, Broken) for value in (*returned, *given.values())):
        return (BROKEN,) * len(returned)
    inputs = tuple(value for p in layer.parameters if isinstance(value := given.get(p.name.text), Value))
    return _outputs(b, module, returned, inputs, call, wish)


def _elaborate(
    b: Builder,
    layer: ast.Layer,
    frame: Frame,
    given: Mapping[str, Operand],
    bound: Mapping[str, ast.Expr],
    call: ast.Call,
) -> tuple[Module, Results | None]:
    """The module of a call of a layer, and what the layer returns; None where it has no `return`."""
    b.frames.append(frame)
    b.open.append(layer)
    b.deepest = max(b.deepest, len(b.open))
    b.report.calls.append(call.span)
    _bind(b, layer, given, bound)
    run(b, layer.body)
    module = _close(b, layer)
    b.report.calls.pop()
    return module, frame.returned if frame.return_span is not None else None


def _bind(b: Builder, layer: ast.Layer, given: Mapping[str, Operand], bound: Mapping[str, ast.Expr]) -> None:
    """Gives the parameters of the frame on top their operands."""
    frame = b.frame
    for parameter in layer.parameters:
        name = parameter.name.text
        operand = given[name] if name in given else _default(b, parameter)
        if name in bound:
            operand = _fitting(b, operand, parameter, bound[name])
        if isinstance(operand, Value):
            inner = Value(name, operand.dims, operand.kind, parameter.name.span, named=True)
            b.facts.same(inner, operand)
            frame.inputs.append(inner)
            operand = inner
        frame.names[name] = operand


def _default(b: Builder, parameter: ast.Parameter) -> Operand:
    """A parameter's default: a constant, a dim, or an earlier parameter."""
    assert parameter.default is not None
    return evaluate(b, parameter.default)


def _fitting(b: Builder, operand: Operand, parameter: ast.Parameter, given: ast.Expr) -> Operand:
    """An argument as its parameter wants it: declared dims mean a tensor, a default says what else it is."""
    match operand:
        case Broken():
            return BROKEN
        case Value() if parameter.dims is not None:
            if (operand.kind is Kind.INT) != (parameter.of is not None):
                return _wrong(b, "ids" if parameter.of else "a tensor", operand, given)
            return fitting(b, operand, parameter, given)
        case _ if parameter.dims is not None:
            return _wrong(b, "a tensor", operand, given)
    match parameter.default:
        case None | ast.Literal(value=None):
            return operand
        case ast.Literal():
            fits = isinstance(operand, Constant) and isinstance(operand.value, bool)
            return operand if fits else _wrong(b, "true or false", operand, given)
        case ast.Number():
            fits = isinstance(operand, Dim) or (
                isinstance(operand, Constant) and isinstance(operand.value, int | float) and operand.value is not True
            )
            return operand if fits else _wrong(b, "a number", operand, given)
    return operand


def _wrong(b: Builder, expected: str, operand: Operand, given: ast.Expr) -> Broken:
    b.report(spec_names.wrong_type(expected, described(operand), given.span))
    return BROKEN


def _outputs(
    b: Builder, module: Module, returned: Results, inputs: tuple[Value, ...], call: ast.Call, wish: Wish
) -> Results:
    """The caller's values for what the layer returns."""
    outputs: list[Value] = []
    for i, inner in enumerate(module.outputs):
        outer = b.value(instance_name(module), inner.dims, call.span, wish, i)
        b.facts.same(outer, inner)
        outputs.append(outer)
    if len(outputs) == len(returned):
        b.emit(Invoke(module, inputs, tuple(outputs), call.span))
    return tuple(outputs)


def instance_name(module: Module) -> str:
    """A variable's name for what a module yields: the instance's in lower case with underscores."""
    name = module.name
    return "".join(
        f"_{c.lower()}" if c.isupper() and i and name[i - 1].islower() else c.lower() for i, c in enumerate(name)
    )


# ---------------------------------------------------------------- statements


def run(b: Builder, body: Sequence[ast.Statement]) -> None:
    """Elaborates statements in the frame on top."""
    for statement in body:
        if b.frame.return_span is not None:
            b.report(spec_names.after_return(statement.span, b.frame.return_span))
            return
        _run(b, statement)


def _run(b: Builder, node: ast.Statement) -> None:
    match node:
        case ast.Param():
            declare_params(b, node)
        case ast.State():
            declare_state(b, node)
        case ast.Assign():
            _assign(b, node)
        case ast.Update():
            update(b, node)
        case ast.Repeat():
            repeat(b, node, run)
        case ast.Loss():
            value = tensor_of(b, evaluate(b, node.value), node.value.span)
            if isinstance(value, Value):
                b.has_loss = True
                b.emit(Loss(value, node.span))
        case ast.Metric():
            value = tensor_of(b, evaluate(b, node.value, (node.name.text,)), node.value.span)
            if first := b.frame.metrics.get(node.name.text):
                b.report(spec_names.defined_twice(node.name.text, node.name.span, first))
            elif isinstance(value, Value):
                b.frame.metrics[node.name.text] = node.name.span
                b.emit(Metric((*b.frame.path, node.name.text), value, node.span))
        case ast.Return():
            b.frame.returned = tuple(_returned(b, expr) for expr in node.values)
            b.frame.return_span = node.span
        case _:
            assert_never(node)


def _returned(b: Builder, expr: ast.Expr) -> Operand:
    operand = evaluate(b, expr)
    if isinstance(operand, Value):
        return operand
    return tensor_of(b, operand, expr.span)


def _assign(b: Builder, node: ast.Assign) -> None:
    names = tuple(target.text for target in node.targets)
    results = evaluate_all(b, node.value, names)
    if len(results) != len(names):
        if BROKEN not in results:
            what = f"`{node.value.callee.text}`" if isinstance(node.value, ast.Call) else "this"
            b.report(spec_names.wrong_count(len(names), len(results), what, node.value.span))
        results = (BROKEN,) * len(names)
    b.frame.names.update(zip(names, results, strict=True))
