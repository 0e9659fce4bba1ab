"""Operations of the expanded model: the dims of what they yield, and where their operands and results lie."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from meshc.prove.sound.oracle import functions
from meshc.prove.sound.oracle.functions import OPERATIONS, Misfit, tensor
from meshc.prove.sound.oracle.values import (
    EXPERTS,
    Attend,
    DimName,
    Dims,
    Num,
    Other,
    Path,
    Route,
    Sent,
    Several,
    Spot,
    Tensor,
    Value,
)  # fmt: skip
from meshc.syntax import ast

if TYPE_CHECKING:
    from meshc.prove.sound.oracle.expand import Frame, Walk

First = Literal["name", "call", "tensor"]


def note(walk: Walk, frame: Frame, dims: Dims, inner: Path, whole: Dims = (), route: int | None = None) -> None:
    here = tuple(dim for dim in whole if dim in dims)
    walk.out.spots.add(Spot(dims, (*frame.path, *inner), frame.staged, here, route))


def constant(walk: Walk, expr: ast.Unary) -> Value:
    return Num(-expr.operand.value if isinstance(expr.operand, ast.Number) else None)


def binary(walk: Walk, frame: Frame, op: str, left: Value, right: Value) -> Value:
    if op != "@":
        if not isinstance(left, Tensor) or not isinstance(right, Tensor):
            return result(walk, frame, _dims(left) or _dims(right), [left, right])
        return result(walk, frame, functions.joined(left.dims, right.dims), [left, right])
    try:
        one, other = tensor(left), tensor(right)
        bank = walk.out.weights[other.weight].bank if other.weight is not None else ()
        dims = functions.product(one, other, bank)
    except Misfit:
        raise walk.fail("tensor", f"a product of {_dims(left)} and {_dims(right)}") from None
    return result(walk, frame, dims, [left, right])


def _dims(value: Value) -> Dims:
    return value.dims if isinstance(value, Tensor) else ()


def looked_up(walk: Walk, frame: Frame, table: Value, ids: Value) -> Value:
    if not isinstance(table, Tensor) or not isinstance(ids, Tensor) or ids.of is None or ids.of not in table.dims:
        raise walk.fail("tensor", "ids that do not index the table")
    rest = tuple(dim for dim in table.dims if dim != ids.of)
    return result(walk, frame, (*ids.dims, *rest), [table, ids])


def result(walk: Walk, frame: Frame, dims: Dims, operands: list[Value], op: str = "", whole: Dims = ()) -> Tensor:
    """Notes what an operation takes and yields, in the place that it is and, of some operations, in them."""
    routes = [one.route for one in operands if isinstance(one, Tensor) and one.route]
    inner: Path = (EXPERTS,) if routes else ()
    gone = routes[0].tokens if routes else ()
    if routes and (any(route != routes[0] for route in routes) or _tokens_meet(walk, operands, routes[0])):
        walk.wrong.say("whole", "routed rows meet tokens")
    for one in operands:
        if isinstance(one, Tensor):
            if one.weight is not None and routes:
                walk.out.weights[one.weight].path = (*frame.path, *inner)
            of_rows = one.route.number if one.route else None
            _in(walk, frame, tuple(dim for dim in one.dims if dim not in gone), inner, op, whole, of_rows)
    number = routes[0].number if routes else None
    _in(walk, frame, tuple(dim for dim in dims if dim not in gone), inner, op, whole, number)
    return Tensor(dims, route=routes[0] if routes else None)


def _tokens_meet(walk: Walk, operands: list[Value], route: Route) -> bool:
    return any(isinstance(one, Tensor) and one.route is None and set(one.dims) & set(route.tokens) for one in operands)


def _in(walk: Walk, frame: Frame, dims: Dims, inner: Path, op: str, whole: Dims, route: int | None) -> None:
    note(walk, frame, dims, inner, (), route)
    if op:
        note(walk, frame, dims, (*inner, op), whole, route)


def primitive(walk: Walk, frame: Frame, definition: ast.Primitive, args: list[Value]) -> Value:
    dims = tuple(name.text for name in definition.dims)
    whole = tuple(name.text for name in definition.whole)
    return result(walk, frame, dims, args, definition.name.text, whole)


def call(walk: Walk, frame: Frame, name: str, args: list[Value], keywords: Mapping[str, Value]) -> Value:
    try:
        return _called(walk, frame, name, functions.bound(name, args, keywords))
    except functions.BadCall:
        raise walk.fail("call", f"arguments that `{name}` does not take") from None
    except Misfit:
        raise walk.fail("tensor", f"`{name}` of {[_dims(one) for one in args]}") from None


def _called(walk: Walk, frame: Frame, name: str, given: dict[str, Value]) -> Value:
    first = next(iter(given.values()))
    operands = list(given.values())
    if not any(isinstance(one, Tensor) for one in operands):
        if name not in (*functions.ELEMENTWISE, "maximum", "minimum"):
            raise functions.BadCall
        return Num(None)
    place = name if name in OPERATIONS and not (name == "dropout" and given["rate"] == Num(0.0)) else ""
    match name:
        case "maximum" | "minimum":
            a, b = operands
            return result(walk, frame, functions.joined(_dims(a), _dims(b)), operands)
        case "mean" | "sum" | "max" | "logsumexp":
            gone = functions.over(given.get("over"), tensor(first).dims)
            return result(walk, frame, tuple(d for d in tensor(first).dims if d not in gone), operands)
        case "softmax":
            gone = functions.over(given["over"], tensor(first).dims)
            return result(walk, frame, tensor(first).dims, operands, place, gone)
        case "attend":
            return _attend(walk, frame, given)
        case "rope":
            return _rope(walk, frame, given)
        case "concat":
            return _concat(walk, frame, given)
        case "split":
            return _split(walk, frame, given)
        case "route":
            return _route(walk, frame, given)
        case "combine" | "load_balance" | "dropped" | "load":
            return _of_route(walk, frame, name, given)
        case "next_token" | "cross_entropy":
            return _loss(walk, frame, name, given)
        case _:
            return result(walk, frame, tensor(first).dims, operands, place)


def _attend(walk: Walk, frame: Frame, given: dict[str, Value]) -> Value:
    dims = functions.attention(given, walk.sizes)
    q, k = tensor(given["q"]).dims, tensor(given["k"]).dims
    walk.out.attends.add(Attend(q, k, (*frame.path, "attend"), frame.staged))
    walk.out.sequences.add(q[-3])
    if q[-2] != k[-2]:
        walk.out.kv.add(k[-2])
    operands = [one for one in given.values() if isinstance(one, Tensor)]
    return result(walk, frame, dims, list(operands), "attend", q[-1:])


def _rope(walk: Walk, frame: Frame, given: dict[str, Value]) -> Value:
    along = given.get("along", DimName("seq"))
    dims = tensor(given["x"]).dims
    if not isinstance(along, DimName) or along.name not in dims:
        raise Misfit
    if walk.sizes[dims[-1]] % 2 or dims[-1] in walk.padded:
        raise Misfit
    walk.out.sequences.add(along.name)
    return result(walk, frame, dims, [given["x"]], "rope", dims[-1:])


def _concat(walk: Walk, frame: Frame, given: dict[str, Value]) -> Value:
    a, b = tensor(given["a"]).dims, tensor(given["b"]).dims
    along = given.get("along")
    if not isinstance(along, DimName):
        raise Misfit
    whole = tuple(along.name if dim == a[-1] else dim for dim in a)
    return result(walk, frame, whole, [given["a"], given["b"]]) if b else given["a"]


def _split(walk: Walk, frame: Frame, given: dict[str, Value]) -> Value:
    along, into, dims = given.get("along"), given.get("into"), tensor(given["x"]).dims
    if not isinstance(along, DimName) or along.name not in dims or not isinstance(into, Other):
        raise Misfit
    names = functions.over(into, tuple(walk.sizes))
    if sum(walk.sizes[name] for name in names) != walk.sizes[along.name]:
        raise Misfit
    parts = [tuple(name if dim == along.name else dim for dim in dims) for name in names]
    return Several(tuple(result(walk, frame, part, [given["x"]]) for part in parts))


def _route(walk: Walk, frame: Frame, given: dict[str, Value]) -> Value:
    x, scores = tensor(given["x"]), tensor(given["by"])
    experts = tuple(dim for dim in scores.dims if dim not in x.dims)
    tokens = tuple(dim for dim in scores.dims if dim in x.dims)
    top_k = given.get("top_k", Num(2))
    if len(experts) != 1 or not set(tokens) < set(x.dims):
        raise Misfit
    if isinstance(top_k, Num) and top_k.value and not 1 <= top_k.value <= walk.sizes[experts[0]]:
        raise walk.fail("tensor", f"{top_k.value} of {walk.sizes[experts[0]]} experts")
    route = Route(len(walk.out.sent), tokens, experts)
    walk.out.sent.add(Sent(x.dims, frame.path, route, frame.staged))
    operands = [one for one in given.values() if isinstance(one, Tensor)]
    for one in operands:
        note(walk, frame, one.dims, ())
    dims = (*experts, *x.dims)
    note(walk, frame, tuple(dim for dim in dims if dim not in tokens), (EXPERTS,))
    return Tensor(dims, route=route)


def _of_route(walk: Walk, frame: Frame, name: str, given: dict[str, Value]) -> Value:
    routed = tensor(given["routed"])
    if routed.route is None:
        raise Misfit
    if name == "load":
        note(walk, frame, routed.route.experts, ())
        return Tensor(routed.route.experts)
    if name != "combine":
        return Tensor(())
    x = tensor(given["x"])
    if x.route != routed.route:
        walk.wrong.say("whole", "rows that come home another way")
    dims = tuple(dim for dim in x.dims if dim not in routed.route.experts)
    note(walk, frame, dims, ())
    return Tensor(dims)


def _loss(walk: Walk, frame: Frame, name: str, given: dict[str, Value]) -> Value:
    logits, ids = tensor(given["logits"]), tensor(list(given.values())[1])
    if ids.of is None or ids.of not in logits.dims or set(logits.dims) - {ids.of} != set(ids.dims):
        raise Misfit
    if name == "next_token":
        if len(ids.dims) < 2:
            raise Misfit
        walk.out.sequences.add(ids.dims[-1])
    for one in given.values():
        if isinstance(one, Tensor):
            note(walk, frame, one.dims, ())
    if isinstance(segments := given.get("segments"), Tensor):
        if segments.of is None:
            raise functions.BadCall
        walk.out.segments.add(segments)
    return Tensor(())
