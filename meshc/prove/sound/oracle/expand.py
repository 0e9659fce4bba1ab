"""The model, written out: each call of a layer anew, each operation with its operands and results where they lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from meshc.prove.sound.oracle import operations
from meshc.prove.sound.oracle.functions import SIGNATURES
from meshc.prove.sound.oracle.reading import Scope, Spec, Wrong
from meshc.prove.sound.oracle.sizes import NoSize, Unknown, number
from meshc.prove.sound.oracle.values import (
    DimName,
    Dims,
    Expanded,
    Num,
    Other,
    Path,
    Several,
    Tensor,
    Value,
    Weight,
)  # fmt: skip
from meshc.syntax import ast

INITIAL = ("ones", "zeros", "normal")


class Stop(Exception):
    """Something is wrong with names, calls or tensors: what follows cannot be known."""


@dataclass
class Frame:
    """One call of a layer, or the model. staged: the model's repeat that it is in; stack: dims of the repeats"""

    scope: Scope
    names: dict[str, Value]
    path: Path
    dotted: str
    stack: Dims = ()
    staged: int | None = None
    returned: Value | None = None
    instances: set[str] = field(default_factory=set)


@dataclass
class Walk:
    sizes: dict[str, int]
    wrong: Wrong
    out: Expanded = field(default_factory=Expanded)
    padded: frozenset[str] = frozenset()
    calls: int = 0

    def fail(self, kind: operations.First, why: str) -> Stop:
        self.wrong.say(kind, why)
        return Stop()


def expand(spec: Spec, sizes: dict[str, int], wrong: Wrong) -> Expanded:
    padded = (dim.name.text for dim in spec.dims if isinstance(dim.size, ast.Call))
    walk = Walk(sizes, wrong, padded=frozenset(padded))
    model = spec.model
    if model is None:
        return walk.out
    frame = Frame(spec.scope, {}, (), model.name.text)
    for parameter in model.parameters:
        if parameter.dims is None:
            raise walk.fail("tensor", f"the input `{parameter.name.text}` has no dims")
        of = _dim(walk, frame, parameter.of) if parameter.of else None
        one = Tensor(_dims(walk, frame, parameter.dims), of)
        frame.names[parameter.name.text] = one
        walk.out.inputs.append(one)
        operations.note(walk, frame, one.dims, ())
    if len({one.dims[:1] for one in walk.out.inputs}) > 1:
        wrong.say("tensor", "inputs of unlike rows")
    if walk.out.inputs and walk.out.inputs[0].dims:
        walk.out.batch = walk.out.inputs[0].dims[0]
    block(walk, frame, model.body)
    if not walk.out.losses:
        wrong.say("call", "no loss")
    return walk.out


def block(walk: Walk, frame: Frame, body: Sequence[ast.Statement]) -> None:
    repeats = 0
    for statement in body:
        if frame.returned is not None:
            raise walk.fail("call", "a statement after the return")
        if isinstance(statement, ast.Repeat):
            _repeat(walk, frame, statement, follows=repeats > 0)
            repeats += 1
        else:
            repeats = 0
            _statement(walk, frame, statement)


def _repeat(walk: Walk, frame: Frame, repeat: ast.Repeat, follows: bool) -> None:
    count = value_of(walk, frame, repeat.count)
    if isinstance(count, DimName):
        dim, turns = count.name, walk.sizes[count.name]
    elif isinstance(count, Num) and count.value == int(count.value or 0) and (count.value or 0) >= 1:
        turns = int(count.value or 1)
        dim = f"repeat_{turns}"
        while dim in frame.stack:
            dim += f"_in_{len(frame.stack)}"
        walk.sizes.setdefault(dim, turns)
    else:
        raise walk.fail("call", "a repeat of what is no number")
    inner = replace(frame, stack=(*frame.stack, dim), names=dict(frame.names))
    walk.out.stacks.add(dim)
    if not frame.path and not frame.stack:
        inner.staged = len(walk.out.turns)
        walk.out.turns[inner.staged] = (dim, turns)
        if follows:
            walk.out.beside[-1].append(inner.staged)
        else:
            walk.out.beside.append([inner.staged])
    block(walk, inner, repeat.body)
    for name, before in frame.names.items():
        after = inner.names[name]
        if isinstance(before, Tensor) and isinstance(after, Tensor) and before.dims != after.dims:
            raise walk.fail("tensor", f"`{name}` changes its dims from turn to turn")
        frame.names[name] = after


def _statement(walk: Walk, frame: Frame, statement: ast.Statement) -> None:
    match statement:
        case ast.Param():
            _param(walk, frame, statement)
        case ast.State(name=name, dims=dims, init=init):
            _initial(walk, frame, init)
            _weight(walk, frame, name.text, _dims(walk, frame, dims), (), state=True)
        case ast.Assign(targets=targets, value=value):
            _assign(walk, frame, [target.text for target in targets], value_of(walk, frame, value))
        case ast.Update(name=name, value=value):
            known = frame.names.get(name.text)
            if known is None:
                raise walk.fail("name", f"`{name.text}` is unknown")
            if not isinstance(known, Tensor) or known.weight is None or not walk.out.weights[known.weight].state:
                raise walk.fail("tensor", f"an update of `{name.text}`, which is no state")
            value_of(walk, frame, value)
        case ast.Loss(value=value):
            walk.out.losses += 1
            value_of(walk, frame, value)
        case ast.Metric(value=value):
            value_of(walk, frame, value)
        case ast.Return(values=values):
            found = tuple(value_of(walk, frame, value) for value in values)
            if any(isinstance(one, Tensor) and one.route for one in found):
                walk.wrong.say("whole", "a routed tensor is returned")
            frame.returned = found[0] if len(found) == 1 else Several(found)
        case _:
            pass


def _param(walk: Walk, frame: Frame, param: ast.Param) -> None:
    bank = _dims(walk, frame, param.bank)
    dims = (*bank, *_dims(walk, frame, (*(param.ins or ()), *param.outs)))
    if len(set(dims)) < len(dims):
        raise walk.fail("tensor", f"a dim twice in {dims}")
    _initial(walk, frame, param.init)
    for name in param.names:
        _weight(walk, frame, name.text, dims, bank)


def _initial(walk: Walk, frame: Frame, init: ast.Expr | None) -> None:
    match init:
        case ast.Ref(name=name) if name.text in frame.names or name.text in (*INITIAL, *walk.sizes):
            pass
        case ast.Call(callee=ast.Name(text="normal")) | ast.Number() | ast.Unary(operand=ast.Number()) | None:
            pass
        case ast.Ref():
            raise walk.fail("name", "an initial value that is none")
        case ast.Call():
            raise walk.fail("tensor", "an initial value that is none")
        case _:
            pass


def _weight(walk: Walk, frame: Frame, name: str, dims: Dims, bank: Dims, state: bool = False) -> None:
    if name in frame.instances:
        raise walk.fail("call", f"`{name}` twice")
    frame.instances.add(name)
    dotted = f"{frame.dotted}.{name}"
    walk.out.weights.append(Weight(dotted, dims, frame.stack, frame.path, bank, frame.staged, state))
    frame.names[name] = Tensor(dims, weight=len(walk.out.weights) - 1)


def _assign(walk: Walk, frame: Frame, targets: list[str], value: Value) -> None:
    values = value.values if isinstance(value, Several) else (value,)
    if len(values) != len(targets):
        raise walk.fail("call", f"{len(values)} values for {targets}")
    frame.names.update(zip(targets, values, strict=True))


def _dims(walk: Walk, frame: Frame, names: Sequence[ast.Name]) -> Dims:
    return tuple(_dim(walk, frame, name) for name in names)


def _dim(walk: Walk, frame: Frame, name: ast.Name) -> str:
    plain = name.text.rstrip("'")
    primes = name.text[len(plain) :]
    local = frame.names.get(plain)
    if isinstance(local, DimName):
        return local.name + primes
    if plain not in walk.sizes:
        raise walk.fail("name", f"the dim `{plain}` is not declared")
    return name.text


def value_of(walk: Walk, frame: Frame, expr: ast.Expr) -> Value:
    match expr:
        case ast.Number(value=value):
            return Num(value)
        case ast.Text(value=value) | ast.Literal(value=value):
            return Other(value)
        case ast.Ref(name=name):
            return _ref(walk, frame, name.text)
        case ast.ListExpr(items=items):
            return Other(tuple(value_of(walk, frame, item) for item in items))
        case ast.Unary(operand=operand):
            value = value_of(walk, frame, operand)
            return operations.constant(walk, expr) if isinstance(value, Num | DimName) else value
        case ast.Binary(op=op, left=left, right=right):
            return _binary(walk, frame, expr, op, value_of(walk, frame, left), value_of(walk, frame, right))
        case ast.Index(table=table, ids=ids):
            return operations.looked_up(walk, frame, value_of(walk, frame, table), value_of(walk, frame, ids))
        case ast.Call():
            return _call(walk, frame, expr)


def _ref(walk: Walk, frame: Frame, name: str) -> Value:
    if name in frame.names:
        return frame.names[name]
    if name in walk.sizes:
        return DimName(name)
    raise walk.fail("name", f"`{name}` is unknown")


def _binary(walk: Walk, frame: Frame, expr: ast.Binary, op: str, left: Value, right: Value) -> Value:
    if not isinstance(left, Tensor) and not isinstance(right, Tensor):

        def look(name: str) -> float:
            value = _ref(walk, frame, name)
            if isinstance(value, DimName):
                return walk.sizes[value.name]
            if isinstance(value, Num) and value.value is not None:
                return value.value
            raise NoSize

        try:
            return Num(number(expr, look))
        except (NoSize, Unknown):
            return Num(None)
    return operations.binary(walk, frame, op, left, right)


def _call(walk: Walk, frame: Frame, call: ast.Call) -> Value:
    name = call.callee.text
    args = [value_of(walk, frame, arg) for arg in call.args]
    keywords: dict[str, Value] = {}
    for keyword in call.keywords:
        if keyword.name.text in keywords:
            raise walk.fail("call", f"`{keyword.name.text}` twice")
        keywords[keyword.name.text] = value_of(walk, frame, keyword.value)
    if name in frame.scope.names and not isinstance(frame.scope.names[name][0], ast.Strategy):
        definition, scope = frame.scope.names[name]
        if isinstance(definition, ast.Layer):
            return _enter(walk, frame, definition, scope, args, keywords, call.alias)
        assert isinstance(definition, ast.Primitive)
        if definition.target.value.count(":") != 1:
            raise walk.fail("call", f"`{name}` names no function")
        return operations.primitive(walk, frame, definition, args)
    if name in SIGNATURES:
        return operations.call(walk, frame, name, args, keywords)
    raise walk.fail("name", f"no layer or function `{name}`")


def _enter(
    walk: Walk,
    frame: Frame,
    layer: ast.Layer,
    scope: Scope,
    args: list[Value],
    keywords: Mapping[str, Value],
    alias: ast.Name | None,
) -> Value:
    name = layer.name.text
    walk.calls += 1
    if len(frame.path) >= 50 or walk.calls > 20_000:
        raise walk.fail("call", f"`{name}` is called too deep or too often")
    wanted = [parameter.name.text for parameter in layer.parameters]
    given = dict(zip(wanted, args, strict=False))
    if len(args) > len(wanted) or set(keywords) - set(wanted) or set(given) & set(keywords):
        raise walk.fail("call", f"arguments that `{name}` does not take")
    given.update(keywords)
    instance, tries = alias.text if alias else name, 1
    while instance in frame.instances:
        tries += 1
        instance = f"{alias.text if alias else name}_{tries}"
    frame.instances.add(instance)
    inner = Frame(scope, {}, (*frame.path, name), f"{frame.dotted}.{instance}", frame.stack, frame.staged)
    walk.out.entered.add(name)
    for parameter in layer.parameters:
        if parameter.name.text in given:
            inner.names[parameter.name.text] = given[parameter.name.text]
        elif parameter.default is not None:
            inner.names[parameter.name.text] = value_of(walk, inner, parameter.default)
        else:
            raise walk.fail("call", f"`{name}` needs `{parameter.name.text}`")
    for parameter in layer.parameters:
        _entering(walk, inner, parameter)
    block(walk, inner, layer.body)
    if inner.returned is None:
        raise walk.fail("call", f"`{name}` returns nothing")
    for one in inner.returned.values if isinstance(inner.returned, Several) else (inner.returned,):
        if isinstance(one, Tensor):
            operations.note(walk, frame, one.dims, ())
    return inner.returned


def _entering(walk: Walk, inner: Frame, parameter: ast.Parameter) -> None:
    """What a layer is given lies in the layer as its rules say."""
    value = inner.names[parameter.name.text]
    if parameter.dims is not None:
        wanted = _dims(walk, inner, parameter.dims)
        if not isinstance(value, Tensor) or value.dims != wanted:
            raise walk.fail("tensor", f"`{parameter.name.text}` is not {wanted}")
    if isinstance(value, Tensor):
        if value.route:
            walk.wrong.say("whole", "a routed tensor is given to a layer")
        operations.note(walk, inner, value.dims, ())
