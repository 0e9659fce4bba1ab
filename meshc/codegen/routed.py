"""Routed tensors as code: they lie as rows in their experts' slots, beside a record of how they came there."""

from __future__ import annotations

from collections.abc import Sequence

from meshc.codegen.text import Text, call, quoted, tuple_of
from meshc.semantics.placed import Computed, Placed
from meshc.semantics.program import Contract, Dim, Dropped, Load, LoadBalance, Route, Value
from meshc.semantics.routing import SLOTS


def lying(value: Value, route: Route | None) -> tuple[Dim, ...]:
    """The dims of a tensor as devices hold it: a routed one's slots in place of its tokens and experts."""
    if route is None:
        return value.dims
    sent = (*route.operand.dims[:-1], route.experts)
    return (Dim(SLOTS, 0, 0), *(d for d in value.dims if d not in sent))


def sending(
    op: Route, computed: Computed, turned: dict[int, int], x: Text, scores: Text, bias: Text | None = None
) -> Text:
    """`turned`: the token dims in zigzag order, and into how many pairs of chunks each is cut."""
    tokens = computed.operands[0]
    assert isinstance(tokens, Placed)
    options = {"top_k": str(op.top_k)}
    if axes := computed.result.layout.axes[op.result.dims.index(op.experts)]:
        options["axes"] = _tuple(axes)
    if not op.normalise:
        options["normalise"] = "False"
    if op.scale != 1:
        options["scale"] = repr(op.scale)
    if op.top_groups < op.groups:
        options |= {"groups": str(op.groups), "top_groups": str(op.top_groups)}
    if op.experts.padded:
        options["padding"] = str(op.experts.size - op.experts.real)
    if op.capacity is not None:
        options["capacity"] = repr(op.capacity)
        split = tokens.layout.axes[:-1]
        if any(split):
            options["split"] = tuple_of([_tuple(axes) for axes in split])
        if turned:
            options["zigzag"] = f"{{{', '.join(f'{dim}: {pairs}' for dim, pairs in turned.items())}}}"
    named = {} if bias is None else {"bias": bias}
    return call("moe.route", x, scores, *(_keyword(k, v) for k, v in named.items()), **options)


def shares(op: Load | LoadBalance | Dropped, computed: Computed, routing: Text) -> Text:
    """The axes of its sums are those that split the tokens, and what is sent of them."""
    function = {Load: "moe.load", LoadBalance: "moe.load_balance", Dropped: "moe.dropped"}[type(op)]
    return call(function, routing, **({"axes": _tuple(computed.inner[0].axes)} if computed.inner else {}))


def product(op: Contract, route: Route, left: Text, right: Text, routing: Text) -> Text:
    """Rows times their expert's matrix, whose dims are put in order where they are not: experts, ins, outs."""
    outs = [d for d in op.result.dims if d in op.right.dims and d != route.experts]
    ins = [d for d in op.left.dims if d in op.over]
    order = [op.right.dims.index(d) for d in (route.experts, *ins, *outs)]
    if order != sorted(order):
        right = call("jnp.transpose", right, tuple_of([str(i) for i in order]))
    several = {} if len(ins) == 1 else {"contracted": str(len(ins))}
    return call("moe.product", left, right, routing, **several)


def _keyword(name: str, value: Text) -> Text:
    return Text((f"{name}=", *value.pieces), value.level)


def _tuple(axes: Sequence[str]) -> str:
    return tuple_of([quoted(a) for a in axes]) if axes else "()"
