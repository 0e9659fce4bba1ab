"""What placement complains of, in words: clashing claims, axes used twice, layouts that no operation can use."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from meshc.diagnostics.edits import removed
from meshc.diagnostics.model import Cure, Diagnostic, Edit, Label, Option
from meshc.diagnostics.suggest import divisors
from meshc.semantics.alternatives import in_place, instead, settle
from meshc.semantics.needs import Trouble
from meshc.semantics.program import Attend, Axis, Op, Program, Rest, Rule
from meshc.semantics.refine import Axes, Refined
from meshc.semantics.rules import Claimed, Clash, Twice, in_text_order
from meshc.semantics.statements import modules, statements
from meshc.semantics.troubles import sized, trouble_diagnostic, twice_diagnostic
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
        self.split_keys: list[tuple[Attend, Axes, Diagnostic]] = []  # where an exchange is missing
        self.asked = 0  # how often something was wrong, be it the same again
        self.seen: set[object] = set()
        self.twice: set[tuple[str, str]] = set()  # dims and the axes that another dim of a tensor has, too

    @property
    def diagnostics(self) -> list[Diagnostic]:
        keys = (said for op, axes, said in self.split_keys if not self._heads_disputed(op, axes))
        return [*(clash_diagnostic(*found, self.program) for found in self.clashes.values()), *self.others, *keys]

    def _heads_disputed(self, op: Attend, axes: Axes) -> bool:
        """Whether heads claim these axes in a clash: once that is settled, the sequence may lie on them no longer."""
        clashes = (clash for clash, _ in self.clashes.values())
        rules = [
            r for clash in clashes for r in (clash.first, clash.second) if {op.heads.name, op.kv_heads.name} & {*r.dims}
        ]
        return set(axes) <= {axis for rule in rules for axis in rule.axes}

    def claimed(self, claimed: Claimed, tensor: str, span: Span, dims: Sequence[str]) -> None:
        if not claimed.clashes and not claimed.twice:
            return
        self.asked += 1
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
        self.asked += 1
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
            said = trouble_diagnostic(trouble, op, self.program)
            if trouble.kind == "keys_split":
                assert isinstance(op, Attend)
                self.split_keys.append((op, trouble.axes, said))
            else:
                self.others.append(said)

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
    if not rule.calls:
        return "this rule"
    return TITLES.get(rule.calls[-1].name, f"`{rule.calls[-1].name}`")


def _puts(rule: Rule, dims: Sequence[str], program: Program) -> str:
    if not rule.axes:
        return f"{_title(rule)} clears {', '.join(dims)}"
    return f"{_title(rule)} puts {', '.join(dims)} on {sized(rule.axes, program)}"


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
        tuple(_labels(first, second, dims, program)),
        tuple(_facts(first, second, dims, taken, program)),
        cures=tuple(_cures(first, second, dims, inside, taken, program)),
    )


def _labels(first: Rule, second: Rule, dims: list[str], program: Program) -> Iterator[Label]:
    """Both claims where their ways part: in `partition`, or in a strategy that is used there and has both."""
    shared = next((i for i, (a, b) in enumerate(zip(first.calls, second.calls, strict=False)) if a is not b), None)
    deep = min(len(first.calls), len(second.calls)) if shared is None else shared
    if deep:
        yield Label(second.place, f"both are of `{second.calls[deep - 1].name}`")
    for rule in (second, first):
        yield Label(rule.calls[deep].span if len(rule.calls) > deep else rule.span, _puts(rule, dims, program))


def _together(first: Rule, second: Rule) -> tuple[str, ...]:
    """The axes of both claims; none where one of them clears."""
    axes = tuple(dict.fromkeys((*first.axes, *second.axes)))
    return axes if len(axes) > 1 and first.axes and second.axes else ()


def _facts(first: Rule, second: Rule, dims: list[str], taken: Taken, program: Program) -> Iterator[str]:
    """Why the claims cannot both hold."""
    axes = _together(first, second)
    if lost := [a for a in axes if a in taken]:
        yield f"`{lost[0]}` splits `{taken[lost[0]]}` of the same tensor: one dim of it can have the axis"
    elif axes and (bad := _indivisible(axes, dims, program)):
        shards = math.prod(program.axis(a).size for a in axes)
        yield f"{program.dims[bad[-1]].size} {bad[-1]} cannot be split over {' * '.join(axes)} = {shards} shards"


def _indivisible(axes: Sequence[str], dims: list[str], program: Program) -> list[str]:
    if any(program.axis(a).assumed for a in axes):
        return []
    shards = math.prod(program.axis(a).size for a in axes)
    return [d for d in dims if d in program.dims and program.dims[d].size % shards]


def _cures(
    first: Rule, second: Rule, dims: list[str], inside: tuple[str, ...], taken: Taken, program: Program
) -> Iterator[Cure]:
    axes = _together(first, second)
    if not axes:
        for rule in (second, first):
            claim = in_place(f"{', '.join(dims)} -> {', '.join(rule.axes) or 'none'}", inside)
            yield Cure(f"write the one that is meant in `partition` itself: {claim}", settle(second.place, claim))
        return
    shared = in_place(f"{', '.join(dims)} -> {', '.join(axes)}", inside)
    if lost := [a for a in axes if a in taken]:
        way = next((rule for rule in (second, first) if lost[0] in rule.axes), second)
        claim = f"{dims[0]} -> .., {lost[0]} where free"
        yield Cure(f"keep one of the claims, or let one give way: {claim}", _giving_way(way, dims[0], claim))
    if ring := _sequence_rival(first, second, inside, program):
        keeper, rival = ring
        kept, call = ", ".join(f"`{a}`" for a in keeper.axes), f"ring({', '.join(rival.axes)})"
        says = f"`{call}` shards the sequence through attention and leaves {dims[0]} to {kept}"
        yield Cure(says, (Option("", (), (Edit(rival.place, call),)),))
    if not _indivisible(axes, dims, program):
        unknown = any(program.axis(a).assumed for a in axes)
        says = f"share them{', where their sizes divide' if unknown else ''}: {shared}"
        yield Cure(says, settle(second.place, shared))
        return
    sizes = {d: program.dims[d].size for d in dims if d in program.dims}
    for smaller in _smaller(first, second, sizes, program):
        yield from _with_less(program.axis(second.axes[-1]), smaller, second, shared, program)
    yield from _kept(first, second)


def _giving_way(rule: Rule, dim: str, claim: str) -> tuple[Option, ...]:
    return instead([rule], [dim], claim, rule.within) if rule.origin is None and rule.rest is Rest.USE else ()


def _with_less(axis: Axis, size: int, rule: Rule, shared: str, program: Program) -> Iterator[Cure]:
    """The shared claim with a smaller axis, whose devices go nowhere, or to another axis."""
    edits = settle(rule.place, shared)[0].edits
    one = (f"mesh.{axis.name}", size)
    says = f"make {axis.name} {size} and share them: {shared}"
    yield Cure(says, (Option("", (one,), edits),))
    for other in sorted(program.axes, key=lambda other: other.size == 1):
        if other.name not in rule.axes and not other.assumed:
            more = other.size * axis.size // size
            says = f"make {axis.name} {size} and {other.name} {more}, and share them: {shared}"
            yield Cure(says, (Option("", (one, (f"mesh.{other.name}", more)), edits),), unless="mesh")


def _kept(first: Rule, second: Rule) -> Iterator[Cure]:
    """One of two strategies, where nothing else would do."""
    pairs = [(gone.origin, kept.origin) for gone, kept in ((second, first), (first, second))]
    options = tuple(
        Option(f"`{kept.text}`", (), (removed(gone.span),))
        for gone, kept in pairs
        if gone and kept and gone is not kept
    )
    yield Cure("keep {} alone", options, usable=False, unless="any")


def _sequence_rival(first: Rule, second: Rule, inside: tuple[str, ...], program: Program) -> tuple[Rule, Rule] | None:
    """Inside attention, the claimant whose strategy also splits the sequence could exchange keys in place of heads."""
    if not inside or inside[-1] != "attend":
        return None
    attends = (op for module in modules(program.model) for op in statements(module.body) if isinstance(op, Attend))
    sequences = {op.seq.name for op in attends}
    splits = {r.origin for r in program.rules if sequences & {*r.dims} and not r.within}
    for keeper, rival in ((first, second), (second, first)):
        if rival.origin in splits and len(rival.calls) == 1 and rival.within and not keeper.within:
            return keeper, rival
    return None


def _smaller(first: Rule, second: Rule, sizes: dict[str, int], program: Program) -> list[int]:
    """The largest smaller size of the second claim's axis with which all dims divide."""
    others = math.prod(program.axis(a).size for a in (*first.axes, *second.axes[:-1]))
    size, common = program.axis(second.axes[-1]).size, math.gcd(*sizes.values())
    legal = divisors(common // others) if common % others == 0 else []
    return sorted((n for n in legal if 1 < n < size), reverse=True)[:1]
