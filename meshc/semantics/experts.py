"""Mixtures of experts: `route` sends tokens out, `combine` brings them back; `load_balance` is their auxiliary loss,
`load` what each is sent."""

from __future__ import annotations

from meshc.diagnostics import spec_tensors
from meshc.semantics.arguments import Arguments
from meshc.semantics.build import Builder, Wish
from meshc.semantics.operands import BROKEN, Broken, Operand, names
from meshc.semantics.program import Combine, Dim, Dropped, Load, LoadBalance, Metric, Route, Value


def route(b: Builder, args: Arguments, wish: Wish) -> Operand:
    """`route(x, by = scores, top_k = 2)`: x's dims and, before the last, the scores' own one: the experts."""
    x, by, top_k = args.tensor("x"), args.tensor("by"), args.count("top_k", 2)
    bias, capacity = args.optional_tensor("bias"), args.number("capacity")
    normalise, scale = args.flag("normalise", top_k != 1), args.number("scale", 1.0)
    if isinstance(x, Broken) or isinstance(by, Broken) or isinstance(top_k, Broken) or top_k is None:
        return BROKEN
    if isinstance(bias, Broken) or isinstance(capacity, Broken):
        return BROKEN
    if isinstance(normalise, Broken) or isinstance(scale, Broken) or scale is None:
        return BROKEN
    own = [dim for dim in by.dims if dim not in x.dims]
    if len(own) != 1 or len(by.dims) != len(x.dims) or x.dims[:-1] != tuple(d for d in by.dims if d not in own):
        tokens, scores = (spec_tensors.bracketed(names(value.dims)) for value in (x, by))
        shapes = f"`{x.name}` is {tokens}, the scores {scores}"
        hint = ("scores have the tokens' dims and one for the experts: softmax(x @ router, over = experts)",)
        b.report(spec_tensors.bad_route(f"these scores do not route these tokens: {shapes}", args.span_of("by"), hint))
        return BROKEN
    experts = own[0]
    if top_k > experts.real:
        problem = f"each token is sent to {top_k} of {experts.real} `{experts.name}`"
        b.report(spec_tensors.bad_route(problem, args.span_of("top_k")))
        return BROKEN
    if bias is not None and bias.dims != (experts,):
        got, want = spec_tensors.bracketed(names(bias.dims)), spec_tensors.bracketed([experts.name])
        b.report(spec_tensors.bad_route(f"the bias is {got}, must be {want}", args.span_of("bias")))
        return BROKEN
    if capacity is not None and capacity <= 0:
        b.report(spec_tensors.bad_route(f"a capacity of {capacity} holds no token", args.span_of("capacity")))
        return BROKEN
    groups = _groups(b, args, experts, top_k)
    if groups is None:
        return BROKEN
    if normalise and top_k == 1:
        hint = ("one weight divided by itself is 1: write normalise = false",)
        b.report(spec_tensors.bad_route("the router would get no gradient", args.span_of("normalise"), hint))
        return BROKEN
    share = None if capacity is None else float(capacity)
    result = b.value("routed", (*x.dims[:-1], experts, x.dims[-1]), args.span, wish)
    op = Route(x, by, experts, top_k, bias, share, normalise, float(scale), *groups, result, args.span)
    b.facts.routes[result] = op
    b.emit(op)
    if share is not None:
        _told(b, op)
    return result


def _told(b: Builder, route: Route) -> None:
    """What a capacity drops is logged by itself, under the routed tensor's name."""
    value = b.value("dropped", (), route.span)
    name, number = f"{route.result.name}.dropped", 1
    while name in b.frame.metrics:
        number += 1
        name = f"{route.result.name}.dropped_{number}"
    b.frame.metrics[name] = route.span
    b.emit(Dropped(route.result, value, route.span))
    b.emit(Metric((*b.frame.path, *name.split(".")), value, route.span))


def _groups(b: Builder, args: Arguments, experts: Dim, top_k: int) -> tuple[int, int] | None:
    """`groups` and `top_groups`; None (reported) where they do not fit."""
    groups = args.count("groups", 1)
    if isinstance(groups, Broken) or groups is None:
        return None
    best = args.count("top_groups", groups)
    if isinstance(best, Broken) or best is None:
        return None
    problem = None
    if experts.real % groups:
        problem = f"{experts.real} `{experts.name}` make no {groups} even groups"
    elif best > groups:
        problem = f"the best {best} of {groups} groups"
    elif top_k > best * (experts.real // groups):
        problem = (
            f"each token is sent to {top_k} `{experts.name}`, and {best} groups have {best * experts.real // groups}"
        )
    elif best < groups and experts.real == groups:
        problem = f"a group of one `{experts.name}` has no two best ones to be chosen by"
    if problem:
        b.report(spec_tensors.bad_route(problem, args.span_of("top_groups" if best != groups else "groups")))
        return None
    return groups, best


def combine(b: Builder, args: Arguments, wish: Wish) -> Operand:
    """`combine(h, routed)`: the experts' outputs back in token order."""
    x, found = args.tensor("x"), _routed(b, args)
    if isinstance(x, Broken) or found is None:
        return BROKEN
    routed, op = found
    tokens = op.operand.dims[:-1]
    if op.experts not in x.dims or any(dim not in x.dims for dim in tokens):
        want = spec_tensors.bracketed([*names(tokens), op.experts.name, "…"])
        got = spec_tensors.bracketed(names(x.dims))
        b.report(spec_tensors.bad_route(f"`combine` asks for {want}, got {got}", args.span_of("x")))
        return BROKEN
    result = b.value("combined", tuple(dim for dim in x.dims if dim != op.experts), args.span, wish)
    b.emit(Combine(x, routed, result, args.span))
    return result


def load_balance(b: Builder, args: Arguments, wish: Wish) -> Operand:
    found = _routed(b, args)
    if found is None:
        return BROKEN
    result = b.value("balance", (), args.span, wish)
    b.emit(LoadBalance(found[0], result, args.span))
    return result


def load(b: Builder, args: Arguments, wish: Wish) -> Operand:
    found = _routed(b, args)
    if found is None:
        return BROKEN
    result = b.value("load", (found[1].experts,), args.span, wish)
    b.emit(Load(found[0], result, args.span))
    return result


def dropped(b: Builder, args: Arguments, wish: Wish) -> Operand:
    found = _routed(b, args)
    if found is None:
        return BROKEN
    result = b.value("dropped", (), args.span, wish)
    b.emit(Dropped(found[0], result, args.span))
    return result


def _routed(b: Builder, args: Arguments) -> tuple[Value, Route] | None:
    """The argument `routed` and the routing that made it."""
    value = args.tensor("routed")
    if isinstance(value, Broken):
        return None
    if value not in b.facts.routes:
        b.report(spec_tensors.bad_route(f"`{value.name}` is not what `route` yields", args.span_of("routed")))
        return None
    return value, b.facts.routes[value]
