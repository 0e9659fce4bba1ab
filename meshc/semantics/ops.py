"""What each operation needs of its operands' layouts to work on local parts, and what layout its result then has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import assert_never

from meshc.semantics.attention import attend
from meshc.semantics.needs import Axes, Need, Places, Rules, Trouble, axes_of, whole, without
from meshc.semantics.placed import InnerCollective
from meshc.semantics.program import (
    Attend,
    Combine,
    Concat,
    Contract,
    CrossEntropy,
    Custom,
    Dropout,
    Dropped,
    Elementwise,
    Load,
    LoadBalance,
    Lookup,
    NextToken,
    Op,
    Reduce,
    Rename,
    Rope,
    Route,
    Softmax,
    Split,
    Value,
)
from meshc.semantics.routing import experts

WRITTEN_AS_SIGNS = frozenset(("add", "sub", "mul", "div", "pow", "neg"))


def needs(op: Op, rules: Rules) -> Need:
    """Layouts for an operation; the result's home gives way where the operation takes an axis for itself."""
    home = {d.name: a for d, a in zip(op.result.dims, rules.ruled(op.result, _place(op)), strict=True)}
    need = _needs(op, rules, home)
    refused = tuple(_refused(op, rules))
    return replace(need, trouble=(*need.trouble, *refused)) if refused else need


def _needs(op: Op, rules: Rules, home: Places) -> Need:
    match op:
        case Elementwise():
            return _alike(op.operands, op.result, home)
        case Dropout():
            return _alike((op.operand,), op.result, home)
        case Contract():
            return _contract(op, rules, home)
        case Lookup():
            return _lookup(op, rules, home)
        case Reduce():
            return _reduce(op, rules, home)
        case Softmax():
            return _alike((op.operand,), op.result, whole(home, op.over))
        case Rope():
            return _alike((op.operand,), op.result, whole(home, op.operand.dims[-1]))
        case Attend():
            return attend(op, rules, _place(op))
        case Concat():
            places = whole(home, op.along)
            return Need(tuple((v, axes_of(v.dims, places)) for v in op.operands), axes_of(op.result.dims, places))
        case Split():
            places = whole(home, op.part)
            return Need(((op.operand, axes_of(op.operand.dims, places)),), axes_of(op.result.dims, places))
        case Rename():
            held = rules.places(op.operand)[op.old.name]
            places = {**without(home, held), op.old.name: held, op.new.name: held}
            return Need(((op.operand, axes_of(op.operand.dims, places)),), axes_of(op.result.dims, places))
        case NextToken() | CrossEntropy():
            return _cross_entropy(op, rules)
        case Custom():
            return _custom(op, rules, home)
        case Route() | Combine() | LoadBalance() | Load() | Dropped():
            return experts(op, rules, home)
    assert_never(op)


def _place(op: Op) -> tuple[str, ...]:
    """The place of rules that an operation is of itself, as in `within softmax { … }`."""
    match op:
        case Custom():
            return (op.name,)
        case Elementwise() if op.function not in WRITTEN_AS_SIGNS:
            return (op.function,)
        case Attend() | Softmax() | Rope() | Dropout():
            return (type(op).__name__.lower(),)
        case _:
            return ()


def _refused(op: Op, rules: Rules) -> Iterator[Trouble]:
    """What rules within an operation say of the dims that it takes whole. (Said further out, the tensor moves.)"""
    match op:
        case Softmax():
            taken = [(op.result, op.over)]
        case Rope():
            taken = [(op.result, op.result.dims[-1])]
        case Attend():
            taken = [(op.q, op.q.dims[-1]), (op.v, op.v.dims[-1])]
            taken += [(op.k, op.k.dims[-3])] if op.k.dims[-3] != op.seq else []
        case Custom():
            taken = [(op.result, dim) for dim in op.whole if dim in op.result.dims]
        case _:
            return
    for value, dim in taken:
        at = value.dims.index(dim)
        axes = rules.ruled(value, _place(op))[at]
        if axes and axes != rules.ruled(value, ())[at]:
            yield Trouble("whole", dim, axes)


def _alike(operands: Sequence[Value | float], result: Value, places: Places) -> Need:
    """Every operand lies as the result does, dim for dim."""
    wanted = tuple((x, axes_of(x.dims, places)) if isinstance(x, Value) else x for x in operands)
    return Need(wanted, axes_of(result.dims, places))


def _contract(op: Contract, rules: Rules, home: Places) -> Need:
    """Contracted dims keep the axes that both operands can have; the sum over them is partial."""
    left, right = rules.places(op.left), rules.places(op.right)
    summed: Places = {}
    for dim in op.over:
        summed[dim.name] = _agree(left[dim.name], right[dim.name], home)
    partial = tuple(dict.fromkeys(a for axes in summed.values() for a in axes))
    places = {**without(home, partial), **summed}
    wanted = tuple((v, axes_of(v.dims, places)) for v in (op.left, op.right))
    return Need(wanted, axes_of(op.result.dims, places), partial)


def _agree(left: Axes, right: Axes, home: Places) -> Axes:
    if left == right:
        return left
    taken = {a for axes in home.values() for a in axes}
    choices = [axes for axes in sorted((left, right), key=len, reverse=True) if not taken & set(axes)]
    return choices[0] if choices else ()


def _lookup(op: Lookup, rules: Rules, home: Places) -> Need:
    """Rows split over devices: each looks up those it holds, zero elsewhere, and the sum is the lookup."""
    rows = rules.places(op.table)[op.row.name]
    places = {**without(home, rows), op.row.name: rows}
    result = axes_of(op.result.dims, {**places, op.row.name: ()})
    return Need(((op.table, axes_of(op.table.dims, places)), (op.ids, axes_of(op.ids.dims, places))), result, rows)


def _reduce(op: Reduce, rules: Rules, home: Places) -> Need:
    over = {d.name for d in op.over}
    if op.function in ("max", "logsumexp"):
        return Need(((op.operand, axes_of(op.operand.dims, whole(home, *op.over))),), axes_of(op.result.dims, home))
    held = rules.places(op.operand)
    summed = {name: axes for name, axes in held.items() if name in over}
    partial = tuple(dict.fromkeys(a for axes in summed.values() for a in axes))
    places = {**without(home, partial), **summed}
    return Need(((op.operand, axes_of(op.operand.dims, places)),), axes_of(op.result.dims, places), partial)


def _cross_entropy(op: NextToken | CrossEntropy, rules: Rules) -> Need:
    """The vocabulary may be split: then the maximum and two sums over its axes, a number for each token."""
    places = rules.places(op.logits)
    vocab = places[op.vocab.name]
    tokens = [d for d in op.logits.dims if d != op.vocab]
    partial = tuple(dict.fromkeys(a for d in tokens for a in places[d.name]))
    elements = rules.local(tokens, places)
    inner = (
        InnerCollective("all_reduce_max", vocab, elements, 1, 0, "largest logit of each token"),
        InnerCollective("all_reduce", vocab, elements, 2, 0, "normaliser and target logit of each token"),
    )
    wanted = ((op.logits, axes_of(op.logits.dims, places)), (op.ids, axes_of(op.ids.dims, places)))
    return Need(wanted, (), partial, inner if vocab else ())


def _custom(op: Custom, rules: Rules, home: Places) -> Need:
    """A user's function sees the `whole` dims whole and its operands' other dims split as its result's are."""
    places = dict(home)
    for operand in op.operands:
        for name, axes in rules.places(operand).items():
            places.setdefault(name, axes)
    places = whole(places, *op.whole)
    taken: set[str] = set()
    for name, axes in places.items():
        places[name] = tuple(a for a in axes if a not in taken)
        taken |= set(places[name])
    return Need(tuple((v, axes_of(v.dims, places)) for v in op.operands), axes_of(op.result.dims, places))
