"""The functions of the language: what each takes, what it asks of tensors' dims, and the operation it makes."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from meshc.diagnostics import spec_names, spec_tensors
from meshc.diagnostics.suggest import divisors, legal_sizes
from meshc.semantics.alternatives import dim_may_be
from meshc.semantics.arguments import Arguments
from meshc.semantics.binding import Slot
from meshc.semantics.build import Builder, Wish
from meshc.semantics.experts import combine, dropped, load, load_balance, route
from meshc.semantics.expressions import computed, elementwise
from meshc.semantics.losses import cross_entropy, next_token
from meshc.semantics.operands import BROKEN, Broken, Constant, Operand, Results, names
from meshc.semantics.parts import concat, split
from meshc.semantics.program import Attend, Dim, Dropout, Reduce, Softmax, Value
from meshc.semantics.rotary import rope

Make = Callable[[Builder, Arguments, Wish], "Operand | Results"]


@dataclass(frozen=True)
class Function:
    """A function of the language; a slot that ends in `?` has a default."""

    slots: tuple[Slot, ...]
    make: Make


def _function(slots: str, make: Make) -> Function:
    return Function(tuple(Slot(name.rstrip("?"), not name.endswith("?")) for name in slots.split()), make)


def _unary(function: str, constant: Callable[[float], float] | None) -> Function:
    """A function of one tensor; on a constant it is computed here."""

    def make(b: Builder, args: Arguments, wish: Wish) -> Operand:
        operand = args.operand("x")
        if isinstance(operand, Value):
            return elementwise(b, function, (operand,), args.span, wish)
        if isinstance(operand, Broken):
            return BROKEN
        if constant is not None:
            with suppress(ValueError):
                return computed(b, partial(constant, operand), args.span)
        b.report(spec_names.wrong_type("a tensor", f"the number {operand}", args.span_of("x")))
        return BROKEN

    return _function("x", make)


def _binary(function: str, constant: Callable[[float, float], float]) -> Function:
    def make(b: Builder, args: Arguments, wish: Wish) -> Operand:
        left, right = args.operand("a"), args.operand("b")
        if isinstance(left, Broken) or isinstance(right, Broken):
            return BROKEN
        if isinstance(left, Value) or isinstance(right, Value):
            return elementwise(b, function, (left, right), args.span, wish)
        return Constant(constant(left, right))

    return _function("a b", make)


def _reduce(function: str, suggestion: str) -> Function:
    """`mean(x, over = dim | [dims])`; over all dims where none are given."""

    def make(b: Builder, args: Arguments, wish: Wish) -> Operand:
        x, over = args.tensor("x"), args.dims("over")
        if isinstance(x, Broken) or isinstance(over, Broken):
            return BROKEN
        over = x.dims if over is None else over
        if not (_all_in(b, over, x, args) and b.distinct(over, args.span_of("over"))):
            return BROKEN
        result = b.value(suggestion, tuple(d for d in x.dims if d not in over), args.span, wish)
        b.emit(Reduce(function, x, over, result, args.span))
        return result

    return _function("x over?", make)


def _all_in(b: Builder, dims: tuple[Dim, ...], x: Value, args: Arguments) -> bool:
    for dim in dims:
        if dim not in x.dims:
            b.report(spec_tensors.no_such_dim(dim.name, x.name, names(x.dims), args.span_of("over")))
            return False
    return True


def _logsumexp(b: Builder, args: Arguments, wish: Wish) -> Operand:
    x, over = args.tensor("x"), args.dim("over")
    if isinstance(x, Broken) or not isinstance(over, Dim) or not _all_in(b, (over,), x, args):
        return BROKEN
    result = b.value("log_sum", tuple(d for d in x.dims if d != over), args.span, wish)
    b.emit(Reduce("logsumexp", x, (over,), result, args.span))
    return result


def _softmax(b: Builder, args: Arguments, wish: Wish) -> Operand:
    x, over = args.tensor("x"), args.dim("over")
    if isinstance(x, Broken) or not isinstance(over, Dim) or not _all_in(b, (over,), x, args):
        return BROKEN
    result = b.value("probabilities", x.dims, args.span, wish)
    b.emit(Softmax(x, over, result, args.span))
    return result


def _attend(b: Builder, args: Arguments, wish: Wish) -> Operand:
    q, k, v = (args.tensor(name) for name in "qkv")
    causal, window, sinks = args.flag("causal", True), args.count("window"), args.optional_tensor("sinks")
    scale, cap, chunk = args.positive("scale"), args.positive("cap"), args.count("chunk")
    segments = args.ids("segments") if args.gives("segments") else None
    if isinstance(q, Broken) or isinstance(k, Broken) or isinstance(v, Broken) or isinstance(sinks, Broken):
        return BROKEN
    if isinstance(causal, Broken) or isinstance(window, Broken) or isinstance(scale, Broken) or isinstance(cap, Broken):
        return BROKEN
    if isinstance(chunk, Broken) or isinstance(segments, Broken):
        return BROKEN
    if problem := _attend_problem(q.dims, k.dims, v.dims):
        b.report(spec_tensors.bad_attend(problem, names(q.dims), names(k.dims), names(v.dims), args.span))
        return BROKEN
    seq, heads, kv_heads = q.dims[-3], q.dims[-2], k.dims[-2]
    if heads.real % kv_heads.real:
        sizes = (heads.name, heads.real, kv_heads.name, kv_heads.real)
        cures = (
            *dim_may_be(kv_heads.name, kv_heads.real, divisors(heads.real)),
            *dim_may_be(heads.name, heads.real, legal_sizes(heads.real, kv_heads.real)),
        )
        b.report(spec_tensors.uneven_heads(*sizes, args.span, cures))
        return BROKEN
    if heads.size != kv_heads.size * (group := heads.real // kv_heads.real):
        padded = (heads.size, kv_heads.size, kv_heads.real)
        b.report(spec_tensors.heads_padded_apart(heads.name, kv_heads.name, group, padded, args.span))
        return BROKEN
    if sinks is not None and sinks.dims != (heads,):
        b.report(spec_tensors.bad_sinks(sinks.name, names(sinks.dims), heads.name, args.span_of("sinks")))
        return BROKEN
    if segments is not None and segments.dims != q.dims[:-2]:
        found, wanted = names(segments.dims), names(q.dims[:-2])
        b.report(spec_tensors.bad_segments(segments.name, found, wanted, args.span_of("segments")))
        return BROKEN
    result = b.value("attended", (*q.dims[:-1], v.dims[-1]), args.span, wish)
    options = (causal, window, scale, cap, sinks, segments, chunk)
    b.emit(Attend(q, k, v, seq, heads, kv_heads, *options, result, args.span))
    return result


def _attend_problem(q: tuple[Dim, ...], k: tuple[Dim, ...], v: tuple[Dim, ...]) -> str | None:
    """What is wrong with the dims of attention's operands, as a headline."""
    if min(len(q), len(k), len(v)) < 3:
        return "attention needs a sequence, heads and a head dim"
    if not len(q) == len(k) == len(v):
        return f"queries have {len(q)} dims, keys {len(k)} and values {len(v)}"
    if k[:-1] != v[:-1]:
        return f"keys and values differ in `{_first_difference(k, v)}`"
    if q[:-2] != k[:-2]:
        return f"queries and keys differ in `{_first_difference(q[:-2], k[:-2])}`"
    if q[-1] != k[-1]:
        return f"queries end in `{q[-1].name}`, keys in `{k[-1].name}`"
    return None


def _first_difference(one: tuple[Dim, ...], other: tuple[Dim, ...]) -> str:
    different = (a.name for a, b in zip(one, other, strict=False) if a != b)
    return next(different, (one + other)[min(len(one), len(other))].name)


def _dropout(b: Builder, args: Arguments, wish: Wish) -> Operand:
    """A rate of 0 is no operation."""
    x, rate = args.tensor("x"), args.number("rate", 0.0)
    if isinstance(x, Broken) or isinstance(rate, Broken) or rate is None:
        return BROKEN
    if not 0 <= rate < 1:
        b.report(spec_names.wrong_type("a rate from 0 to below 1", f"the number {rate}", args.span_of("rate")))
        return BROKEN
    if rate == 0:
        return x
    frame = b.frame
    frame.masks += 1
    mask = "dropout" if frame.masks == 1 else f"dropout_{frame.masks}"
    result = b.value(x.name, x.dims, args.span, wish)
    b.emit(Dropout(x, float(rate), (*frame.path, mask), result, args.span))
    return result


def _sign(x: float) -> float:
    return math.copysign(1.0, x) if x else 0.0


FUNCTIONS: dict[str, Function] = {
    "square": _unary("square", lambda x: x * x),
    "sqrt": _unary("sqrt", math.sqrt),
    "rsqrt": _unary("rsqrt", lambda x: 1 / math.sqrt(x)),
    "exp": _unary("exp", math.exp),
    "log": _unary("log", math.log),
    "abs": _unary("abs", abs),
    "tanh": _unary("tanh", math.tanh),
    "sign": _unary("sign", _sign),
    **{name: _unary(name, None) for name in ("sigmoid", "silu", "gelu", "gelu_tanh", "relu", "softplus", "float32")},
    "maximum": _binary("maximum", max),
    "minimum": _binary("minimum", min),
    "mean": _reduce("mean", "mean"),
    "sum": _reduce("sum", "total"),
    "max": _reduce("max", "largest"),
    "logsumexp": _function("x over", _logsumexp),
    "softmax": _function("x over", _softmax),
    "rope": _function("x theta? along? interleaved? scaling? factor? original? low? high? whole? magnitude?", rope),
    "attend": _function("q k v causal? window? scale? cap? sinks? segments? chunk?", _attend),
    "dropout": _function("x rate", _dropout),
    "concat": _function("a b c? d? along", concat),
    "split": _function("x along into", split),
    "next_token": _function("logits tokens segments?", next_token),
    "cross_entropy": _function("logits labels", cross_entropy),
    "route": _function("x by top_k? bias? capacity? normalise? scale? groups? top_groups?", route),
    "combine": _function("x routed", combine),
    "dropped": _function("routed", dropped),
    "load": _function("routed", load),
    "load_balance": _function("routed", load_balance),
}
