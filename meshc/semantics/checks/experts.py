"""What can be done with tokens at their experts: they lie in slots, and only `combine` makes tokens of them again."""

from __future__ import annotations

from collections.abc import Iterator

from meshc.diagnostics.model import Diagnostic, Label
from meshc.diagnostics.suggest import quoted
from meshc.semantics.checks.context import Context
from meshc.semantics.program import (
    Combine,
    Concat,
    Contract,
    Dim,
    Dropped,
    Elementwise,
    Invoke,
    Load,
    LoadBalance,
    Loss,
    Metric,
    Module,
    Op,
    Reduce,
    Rename,
    Repeat,
    Route,
    Softmax,
    Split,
    Statement,
    Update,
)
from meshc.semantics.region import Routes, routes
from meshc.semantics.statements import operands
from meshc.source import Span

HELPS = (
    "between `route` and `combine` lie products with weights, elementwise operations, and reductions of a token's dims",
    "in the one layer",
)


def routed_stay(context: Context) -> Iterator[Diagnostic]:
    """E0258, once for each cause."""
    model = context.placed.program.model
    if not context.placed.routes and not _expects(model.body):
        return
    seen: set[Span] = set()
    for what, span in _module(model):
        if span not in seen:
            seen.add(span)
            yield Diagnostic("E0258", what, (Label(span),), (", ".join(HELPS),))


def _expects(body: tuple[Statement, ...]) -> bool:
    """Whether something is there that is for routed tensors."""
    for statement in body:
        match statement:
            case Combine() | Load() | LoadBalance():
                return True
            case Repeat(body=inner) | Invoke(module=Module(body=inner)):
                if _expects(inner):
                    return True
            case _:
                pass
    return False


def _module(module: Module) -> Iterator[tuple[str, Span]]:
    found = routes(module.body)
    problems = list(_body(module.body, found))
    yield from problems or _never_sent(module.body, found)  # of what is wrong before, one thing is said
    for value in module.outputs:
        if value in found:
            yield f"the layer returns `{value.name}`, which is routed", value.span


def _body(body: tuple[Statement, ...], found: Routes) -> Iterator[tuple[str, Span]]:
    for statement in body:
        match statement:
            case Invoke(module=module, inputs=inputs):
                for value in inputs:
                    if value in found:
                        yield f"`{value.name}` is routed, and `{module.layer}` is given it", statement.span
                yield from _module(module)
            case Repeat(body=inner, carries=carries):
                within = routes(inner, found)
                for carry in carries:
                    if carry.before in found or carry.end in within:
                        yield f"a repeat hands on `{carry.start.name}`, which is routed", statement.span
                yield from _body(inner, within)
            case Loss(value=value) | Metric(value=value) | Update(value=value):
                if value in found:
                    yield f"`{value.name}` is routed, and each device has its own", statement.span
            case Combine(operand=rows, routed=routed):
                if rows in found and found[rows] != found.get(routed):
                    yield f"{quoted([rows.name, routed.name], 'and')} are routed each in its own way", statement.span
            case Load() | LoadBalance() | Dropped():
                pass
            case _:
                yield from _op(statement, found)


def _never_sent(body: tuple[Statement, ...], found: Routes) -> Iterator[tuple[str, Span]]:
    for statement in body:
        match statement:
            case Combine(operand=rows) if rows not in found:
                yield f"`{rows.name}` is not routed, and `combine` brings back what was sent", statement.span
            case Repeat(body=inner):
                yield from _never_sent(inner, routes(inner, found))
            case _:
                pass


def _op(op: Op, found: Routes) -> Iterator[tuple[str, Span]]:
    """What one operation does with routed operands that it cannot do."""
    given = [v for v in operands(op) if v in found]
    if not given:
        return
    route, name = found[given[0]], given[0].name
    sent = (*route.operand.dims[:-1], route.experts)
    if len({found[v] for v in given}) > 1:
        yield f"{quoted([v.name for v in given], 'and')} are routed each in its own way", op.span
        return
    if mixed := [v for v in operands(op) if v not in found and any(d in sent[:-1] for d in v.dims)]:
        yield f"`{name}` is routed, and `{mixed[0].name}` lies as tokens do", op.span
        return
    match op:
        case Elementwise():
            return
        case Contract():
            yield from _contract(op, found, route)
        case Reduce(over=over):
            yield from _along(over, sent, name, op.span)
        case Softmax(over=dim) | Concat(along=dim) | Split(along=dim) | Rename(old=dim):
            yield from _along((dim,), sent, name, op.span)
        case _:
            yield f"`{name}` is routed, and {type(op).__name__.lower()} works on tokens", op.span


def _contract(op: Contract, found: Routes, route: Route) -> Iterator[tuple[str, Span]]:
    if op.left not in found:
        yield f"`{op.right.name}` is routed: it stands on the left of @", op.span
        return
    sent = (*route.operand.dims[:-1], route.experts)
    own = [d for d in op.left.dims if d not in sent]
    yield from _along(op.over, sent, op.left.name, op.span)
    if route.experts in op.right.dims and [d for d in own if d in op.over] != own:
        kept = quoted([d.name for d in own if d not in op.over])
        yield f"a bank contracts all of a token's dims, and {kept} is left", op.span


def _along(over: tuple[Dim, ...], sent: tuple[Dim, ...], name: str, span: Span) -> Iterator[tuple[str, Span]]:
    if wrong := [d.name for d in over if d in sent]:
        yield f"`{name}` is routed: no device has all of its {quoted(wrong, 'and')}", span
