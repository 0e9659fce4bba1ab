"""What placement complains of, in words: clashing claims, axes used twice, layouts that no operation can use."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from meshc.diagnostics.model import Diagnostic, Label
from meshc.diagnostics.suggest import divisors, listed
from meshc.semantics.needs import Trouble
from meshc.semantics.program import Attend, Custom, Op, Program, Rest, Route, Rule
from meshc.semantics.refine import Refined
from meshc.semantics.rules import Claimed, Clash, Twice, in_text_order
from meshc.source import Span

TITLES = {
    "data": "data parallelism",
    "fsdp": "FSDP",
    "zero1": "ZeRO-1",
    "zero2": "ZeRO-2",
    "tensor": "tensor parallelism",
    "ulysses": "Ulysses",
    "ring": "ring attention",
    "gather_kv": "all-gather context parallelism",
    "expert": "expert parallelism",
}
SHARED_SEQUENCE = "seq"
AT_REST = {Rest.USE: "", Rest.PARAMS: " at rest", Rest.GRADS: " in `grads`", Rest.OPTIMIZER: " in `optimizer`"}


Taken = dict[str, str]
"""Axes, and the dim that each splits already in a tensor in dispute."""


class Reports:
    """Collects diagnostics, each cause once."""

    def __init__(self, program: Program, refined: Refined) -> None:
        self.program = program
        self.refined = refined
        self.clashes: dict[frozenset[object], tuple[Clash, Taken]] = {}
        self.others: list[Diagnostic] = []
        self.seen: set[object] = set()
        self.twice: set[tuple[str, str]] = set()  # dims and the axes that another dim of a tensor has, too

    @property
    def diagnostics(self) -> list[Diagnostic]:
        return [*(clash_diagnostic(*found, self.program) for found in self.clashes.values()), *self.others]

    def claimed(self, claimed: Claimed, tensor: str, span: Span, dims: Sequence[str]) -> None:
        if not claimed.clashes and not claimed.twice:
            return
        for clash in claimed.clashes:
            cause = frozenset((_cause(clash.first), _cause(clash.second)))
            _, taken = self.clashes.setdefault(cause, (clash, {}))
            taken.update(_taken_by_others(clash, claimed, dims, self.refined))
        disputed = {id(rule) for clash in claimed.clashes for rule in (clash.first, clash.second)}
        for twice in claimed.twice:
            self.twice |= {(dim, twice.axis) for dim in twice.dims}
            twice = replace(twice, axis=self._shared(twice))
            if any(id(rule) in disputed for rule in twice.rules):
                continue  # which of the claims holds is to be settled first
            if self._first((twice.axis, frozenset(map(_cause, twice.rules)))):
                self.others.append(twice_diagnostic(twice, tensor, span, dims, self.program))

    def trouble(self, trouble: Trouble, op: Op) -> None:
        if trouble.axes and all((trouble.dim.name, axis) in self.twice for axis in trouble.axes):
            return  # which of the dims keeps the axis is to be decided first
        if trouble.kind == "keys_split" and along_samples(op, self.program):
            return  # E0228 says it
        trouble = replace(
            trouble, axes=self.refined.declared(trouble.axes), other_axes=self.refined.declared(trouble.other_axes)
        )
        if trouble.kind in ("heads_straddle", "tokens") and any(self.program.axis(a).assumed for a in trouble.axes):
            return
        if self._first((trouble.kind, trouble.dim, trouble.axes)):
            self.others.append(trouble_diagnostic(trouble, op, self.program))

    def _shared(self, twice: Twice) -> str:
        """The axis of a tensor that two rules name, by the name that the later one has for it."""
        axes = twice.rules[1].axes
        return next((a for a in axes if twice.axis in self.refined.of([a])), twice.axis)

    def _first(self, cause: object) -> bool:
        new = cause not in self.seen
        self.seen.add(cause)
        return new


def along_samples(op: Op, program: Program) -> bool:
    """Whether an attention would run from sample to sample: along the first dim of the inputs, where they have more."""
    inputs = [value.dims for value in program.model.inputs if len(value.dims) > 1]
    return isinstance(op, Attend) and bool(inputs) and op.seq == inputs[0][0]


def _taken_by_others(clash: Clash, claimed: Claimed, dims: Sequence[str], refined: Refined) -> Taken:
    """Axes that other dims of this tensor have and do not give up."""
    taken = {}
    for dim, axes in zip(dims, claimed.axes, strict=True):
        if dim not in (*clash.first.dims, *clash.second.dims):
            named = [a for rule in claimed.because.get(dim, ()) if not rule.where_free for a in rule.axes]
            taken |= {a: dim for a in named if set(refined.of([a])) & set(axes)}
    return taken


def _cause(rule: Rule) -> object:
    return rule.origin or rule


def _title(rule: Rule) -> str:
    if rule.origin is None:
        return "this rule"
    return TITLES.get(rule.origin.name, f"`{rule.origin.name}`")


def _sized(axes: Sequence[str], program: Program) -> str:
    names = ", ".join(f"`{a}`" for a in axes)
    sizes = ["*" if program.axis(a).assumed else str(program.axis(a).size) for a in axes]
    return f"{names} ({' * '.join(sizes)})"


def _puts(rule: Rule, dims: Sequence[str], program: Program) -> str:
    if not rule.axes:
        return f"{_title(rule)} clears {', '.join(dims)}"
    return f"{_title(rule)} puts {', '.join(dims)} on {_sized(rule.axes, program)}"


# ---------------------------------------------------------------- two claims


def clash_diagnostic(clash: Clash, taken: Taken, program: Program) -> Diagnostic:
    """E0201. The later claim is the primary place; the cures are computed for these sizes."""
    first, second = in_text_order(clash.first, clash.second)
    dims = [d for d in second.dims if d in first.dims and d in program.dims] or [clash.dim]
    by = "two strategies" if first.origin and second.origin else "two rules"
    inside = max(first.within, second.within, key=len)
    where = f" inside `{inside[-1]}`" if inside else AT_REST[clash.rest]
    return Diagnostic(
        "E0201",
        f"`{dims[0]}` is claimed by {by}{where}",
        (
            Label(second.place, _puts(second, dims, program)),
            Label(first.place, _puts(first, dims, program)),
        ),
        tuple(_cures(first, second, dims, inside, taken, program)),
    )


def _cures(
    first: Rule, second: Rule, dims: Sequence[str], inside: tuple[str, ...], taken: Taken, program: Program
) -> Iterator[str]:
    axes = tuple(dict.fromkeys((*first.axes, *second.axes)))
    rule = f"{', '.join(dims)} -> {', '.join(axes) or 'none'}"
    shared = f"within {inside[-1]} {{ {rule} }}" if inside else rule
    if len(axes) < 2 or not first.axes or not second.axes:
        yield f"write the one that is meant in `partition` itself: {shared}"
        return
    if lost := [a for a in axes if a in taken]:
        yield f"`{lost[0]}` splits `{taken[lost[0]]}` of the same tensor: one dim of it can have the axis"
        yield f"keep one of the claims, or let one give way: {dims[0]} -> .., {lost[0]} where free"
        return
    sizes = {d: program.dims[d].size for d in dims if d in program.dims}
    shards = math.prod(program.axis(a).size for a in axes)
    unknown = any(program.axis(a).assumed for a in axes)
    bad = [] if unknown else [d for d, size in sizes.items() if size % shards]
    if bad:
        yield f"{sizes[bad[-1]]} {bad[-1]} cannot be split over {' * '.join(axes)} = {shards} shards"
    either = ""
    if ring := _sequence_rival(first, second, inside, program):
        keeper, rival = ring
        kept = ", ".join(f"`{a}`" for a in keeper.axes)
        yield f"`ring({', '.join(rival.axes)})` shards the sequence through attention and leaves {dims[0]} to {kept}"
        either = "or "
    if not bad:
        yield f"{either}share them{', where their sizes divide' if unknown else ''}: {shared}"
    elif smaller := _smaller(first, second, sizes, program):
        yield f"{either}make {second.axes[-1]} {smaller} and share them: {shared}"


def _sequence_rival(first: Rule, second: Rule, inside: tuple[str, ...], program: Program) -> tuple[Rule, Rule] | None:
    """Inside attention, the claimant whose strategy also splits the sequence could exchange keys in place of heads."""
    if not inside or inside[-1] != "attend":
        return None
    splits = {r.origin for r in program.rules if SHARED_SEQUENCE in r.dims and not r.within}
    for keeper, rival in ((first, second), (second, first)):
        if rival.origin in splits and rival.within and not keeper.within:
            return keeper, rival
    return None


def _smaller(first: Rule, second: Rule, sizes: dict[str, int], program: Program) -> int | None:
    """The largest smaller size of the second claim's axis with which all dims divide."""
    others = math.prod(program.axis(a).size for a in (*first.axes, *second.axes[:-1]))
    size, common = program.axis(second.axes[-1]).size, math.gcd(*sizes.values())
    legal = divisors(common // others) if common % others == 0 else []
    return max((n for n in legal if 1 < n < size), default=None)


# ---------------------------------------------------------------- one axis, two dims


def twice_diagnostic(twice: Twice, tensor: str, span: Span, dims: Sequence[str], program: Program) -> Diagnostic:
    """E0250."""
    one, other = twice.dims
    first, second = twice.rules
    labels = [Label(second.place, f"puts {other} on `{twice.axis}`")]
    if first.place != second.place:
        labels.append(Label(first.place, f"puts {one} on `{twice.axis}`"))
    else:
        labels = [Label(second.place, f"puts both {one} and {other} on `{twice.axis}`")]
    labels.append(Label(span, f"`{tensor}` is [{', '.join(dims)}]"))
    return Diagnostic(
        "E0250",
        f"`{twice.axis}` splits both `{one}` and `{other}` of `{tensor}`",
        tuple(labels),
        (
            f"an axis can split one dim of a tensor: take `{other}` or `{one}` off `{twice.axis}`",
            *_ways_out(twice, program),
        ),
    )


def _ways_out(twice: Twice, program: Program) -> Iterator[str]:
    """Edits after which the tensor is right: of a rule that the user wrote, or in the place of the inner one."""
    claims = tuple(zip(twice.rules, twice.dims, strict=True))
    own = [dim for rule, dim in claims if rule.origin is None and not rule.where_free]
    if own:
        yield f"or let one give way: {own[-1]} -> .., {twice.axis} where free"
    (outer, dim), (inner, _) = sorted(claims, key=lambda claim: len(claim[0].within))
    if outer.within == inner.within:
        return
    place = inner.within[-1]
    if outer.rest is Rest.USE and outer.origin:
        yield f"or let {dim} be whole there: within {place} {{ {dim} -> none }}"
    axis = next((axis for axis in program.axes if axis.name == twice.axis), None)
    if axis and place not in {view.name for view in program.views}:
        size = "*" if axis.assumed else axis.size
        yield (
            f"or give {place} a view of these devices, in which {dim} gives way: "
            f"mesh {place} = regroup({axis.name}) {{ {axis.name}_{place} = {size} }}, and {axis.name}_{place} there"
        )


# ---------------------------------------------------------------- layouts that do not work


def trouble_diagnostic(trouble: Trouble, op: Op, program: Program) -> Diagnostic:
    rules = [r for r in program.rules if set(r.axes) & set(trouble.axes) and trouble.dim.name in r.dims]
    rules.sort(key=lambda r: -len(r.within) if trouble.kind == "whole" else 0)
    because = tuple(Label(r.place, f"puts {trouble.dim.name} on {_sized(r.axes, program)}") for r in rules[:1])
    match trouble.kind:
        case "keys_split":
            assert isinstance(op, Attend)
            rings = " and ".join(f"`ring({axis})`" for axis in trouble.axes)
            rules_by_hand = "; ".join(f"exchange kv by ring over {axis}" for axis in trouble.axes)
            axes = ", ".join(trouble.axes)
            heads = ", ".join(dict.fromkeys((op.heads.name, op.kv_heads.name)))
            return Diagnostic(
                "E0253",
                f"attention needs whole keys, but `{trouble.dim.name}` is split over {_sized(trouble.axes, program)}",
                (*because, Label(op.span, "keys and values are split here")),
                (
                    f"say how they travel: {rings}, or within attend {{ {rules_by_hand} }}",
                    f"or give the axis to the heads inside attention: `ulysses({axes})`"
                    if len(trouble.axes) == 1
                    else f"or give the axes to the heads: within attend {{ {op.seq.name} -> none; {heads} -> {axes} }}",
                ),
            )
        case "whole":
            inside = op.name if isinstance(op, Custom) else getattr(op, "function", type(op).__name__.lower())
            return Diagnostic(
                "E0256",
                f"`{inside}` works on whole `{trouble.dim.name}`, which a rule inside it splits",
                (*because, Label(op.span, f"takes {trouble.dim.name} whole")),
                (f"take {trouble.dim.name} off {_sized(trouble.axes, program)} inside `{inside}`",),
            )
        case "tokens":
            assert isinstance(op, Route) and trouble.other is not None
            return _equal_tokens(trouble, op, program)
        case "heads_straddle":
            assert trouble.other is not None
            return _straddle(trouble, op, because, program)
        case "heads_apart":
            assert trouble.other is not None
            heads, kv_heads = trouble.dim.name, trouble.other.name
            held = _sized(trouble.other_axes, program)
            return Diagnostic(
                "E0252",
                f"`{heads}` and `{kv_heads}` lie on different axes inside `attend`",
                (*because, Label(op.span, f"{kv_heads} is on {held} here")),
                (f"put both on the same: {heads}, {kv_heads} -> {', '.join(trouble.axes or trouble.other_axes)}",),
            )


def _equal_tokens(trouble: Trouble, op: Route, program: Program) -> Diagnostic:
    """`dim` and `other` are the last and the first token dim, with the sizes of one device's parts."""
    sizes = dict.fromkeys(f"{dim.size} {dim.name}" for dim in (trouble.other, trouble.dim) if dim is not None)
    shards = math.prod(program.axis(a).size for a in trouble.axes)
    whole = program.dims[trouble.dim.name].size if trouble.dim.name in program.dims else trouble.dim.size
    enough = whole // trouble.dim.size * math.lcm(trouble.dim.size, shards)
    return Diagnostic(
        "E0301",
        f"tokens are equal along {_sized(trouble.axes, program)}, and a device's {' * '.join(sizes)} of them cannot be "
        f"split over {shards} shards",
        (Label(op.span, f"each of the {shards} sends tokens of its own"),),
        (
            f"{trouble.dim.name} may be {enough}",
            f"or leave {' and '.join(f'`{axis}`' for axis in trouble.axes)} out of the axes that experts share",
        ),
    )


def _straddle(trouble: Trouble, op: Op, because: tuple[Label, ...], program: Program) -> Diagnostic:
    heads, kv_heads = trouble.dim, trouble.other
    assert kv_heads is not None
    shards = math.prod(program.axis(a).size for a in trouble.axes)
    group = heads.size // kv_heads.size
    legal = [n for n in divisors(heads.size) if _fits(heads.size // n, group)]
    return Diagnostic(
        "E0254",
        f"{heads.size // shards} {heads.name} a device straddle their {kv_heads.name}, each of which serves {group}",
        (*because, Label(op.span, f"{kv_heads.name} is whole here")),
        (
            f"`{trouble.axes[-1]}` may be {listed(legal, near=shards)}"
            if len(trouble.axes) == 1
            else f"{' * '.join(trouble.axes)} may be {listed(legal, near=shards)}",
        ),
    )


def _fits(local: int, group: int) -> bool:
    return local % group == 0 or group % local == 0
