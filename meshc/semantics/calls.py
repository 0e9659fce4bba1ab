"""Calls in layers: of a function of the language, of a user's primitive, of a layer."""

from __future__ import annotations

from meshc.diagnostics import spec_names, spec_tensors
from meshc.semantics.arguments import Arguments
from meshc.semantics.binding import bind, slots_of
from meshc.semantics.build import Builder, Wish
from meshc.semantics.functions import FUNCTIONS
from meshc.semantics.operands import BROKEN, Broken, Operand, Results, names
from meshc.semantics.program import Custom, Value
from meshc.semantics.shipped import shipped_in
from meshc.syntax import ast


def call(b: Builder, node: ast.Call, wish: Wish) -> Results:
    """All that a call yields; one broken operand where it cannot be made."""
    name = node.callee
    if function := FUNCTIONS.get(name.text):
        bound = bind(function.slots, node, b.report)
        if bound is None:
            return _broken(wish)
        made = function.make(b, Arguments(b, bound, node), wish)
        results = made if isinstance(made, tuple) else (made,)
        return _broken(wish) if len(results) == 1 and results[0] is BROKEN else results
    definition = b.frame.scope.callable(name.text)
    if definition is None:
        known = [*FUNCTIONS, *b.frame.scope.names("callables")]
        b.report(spec_names.unknown_function(name.text, name.span, known, shipped_in(name.text)))
        return _broken(wish)
    b.called.add(definition.span)
    b.frame.callees.add(name.text)
    if isinstance(definition.node, ast.Primitive):
        return (_custom(b, definition.node, node, wish),)
    from meshc.semantics.expand import invoke

    return invoke(b, definition, node, wish)


def _broken(wish: Wish) -> Results:
    return (BROKEN,) * max(1, len(wish))


def _custom(b: Builder, primitive: ast.Primitive, node: ast.Call, wish: Wish) -> Operand:
    """A user's primitive: tensors in, one tensor out, dims as declared."""
    bound = bind(slots_of(primitive.parameters), node, b.report)
    if bound is None:
        return BROKEN
    args = Arguments(b, bound, node)
    operands = [_declared(b, args, parameter) for parameter in primitive.parameters]
    dims, whole = b.dims_of(primitive.dims), b.dims_of(primitive.whole)
    values = tuple(value for value in operands if isinstance(value, Value))
    if isinstance(dims, Broken) or isinstance(whole, Broken) or len(values) != len(operands):
        return BROKEN
    if not b.distinct(dims, primitive.name.span):
        return BROKEN
    result = b.value(primitive.name.text, dims, node.span, wish)
    b.emit(Custom(primitive.name.text, primitive.target.value, values, whole, result, node.span))
    return result


def _declared(b: Builder, args: Arguments, parameter: ast.Parameter) -> Value | Broken:
    name = parameter.name.text
    value = args.ids(name) if parameter.of else args.tensor(name)
    return fitting(b, value, parameter, args.given[name]) if isinstance(value, Value) else BROKEN


def fitting(b: Builder, value: Value, parameter: ast.Parameter, given: ast.Expr) -> Value | Broken:
    """A tensor where the parameter's declared dims must be; read in the scope of the declaration."""
    if parameter.dims is None:
        return value
    dims = b.dims_of(parameter.dims)
    if isinstance(dims, Broken):
        return BROKEN
    if dims != value.dims:
        declared = parameter.dims[0].span.to(parameter.dims[-1].span) if parameter.dims else parameter.name.span
        what = spec_tensors.wrong_dims(parameter.name.text, names(dims), names(value.dims), given.span, declared)
        b.report(what)
        return BROKEN
    return value
