"""What placement complains of besides clashing claims: an axis on two dims, layouts that no operation can use."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from meshc.diagnostics.edits import removed
from meshc.diagnostics.model import Cure, Diagnostic, Edit, Label, Option
from meshc.diagnostics.suggest import divisors
from meshc.semantics.alternatives import (
    axis_may_be,
    dim_may_be,
    elsewhere,
    in_place,
    instead,
    near,
    settle,
    trades,
    with_axis,
)
from meshc.semantics.needs import Trouble
from meshc.semantics.program import Attend, Axis, Custom, Op, Program, Rest, Route, Rule
from meshc.semantics.rules import Twice
from meshc.source import Span


def sized(axes: Sequence[str], program: Program) -> str:
    names = ", ".join(f"`{a}`" for a in axes)
    sizes = ["*" if program.axis(a).assumed else str(program.axis(a).size) for a in axes]
    return f"{names} ({' * '.join(sizes)})"


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
        (f"an axis can split one dim of a tensor: take `{other}` or `{one}` off `{twice.axis}`",),
        cures=tuple(_ways_out(twice, program)),
    )


def _ways_out(twice: Twice, program: Program) -> Iterator[Cure]:
    """Of a rule that the user wrote, in the place of the inner one, or with another axis."""
    claims = tuple(zip(twice.rules, twice.dims, strict=True))
    for rule, dim in reversed(claims):
        if rule.origin is None and not rule.where_free:
            claim = f"{dim} -> .., {twice.axis} where free"
            yield Cure(f"or let one give way: {claim}", _giving_way(rule, dim, claim))
    yield from _other_axes(twice, program)
    (outer, dim), (inner, _) = sorted(claims, key=lambda claim: len(claim[0].within))
    if outer.within != inner.within:
        yield from _inside(twice, outer, dim, inner, program)
    places = list(dict.fromkeys(rule.origin for rule in reversed(twice.rules) if rule.origin))
    options = tuple(Option(f"`{use.text}`", (), (removed(use.span),)) for use in places if len(places) == 2)
    yield Cure("or take out {}", options, usable=False, unless="any")


def _giving_way(rule: Rule, dim: str, claim: str) -> tuple[Option, ...]:
    return instead([rule], [dim], claim, rule.within) if rule.dims == (dim,) else ()


def _other_axes(twice: Twice, program: Program) -> Iterator[Cure]:
    """One of the rules or strategies with an axis that the other does not have."""
    for rule in reversed(twice.rules):
        others = [axis for axis in program.axes if axis.size > 1 and axis.name not in (twice.axis, *rule.axes)]
        texts = [(axis, with_axis(rule.place, twice.axis, axis.name)) for axis in others]
        options = (Option(f"`{text}`", (), (Edit(rule.place, text),)) for _, text in texts if text)
        yield Cure("or use another axis: {}", tuple(options))
    for rule in reversed(twice.rules):
        yield from _split(twice, rule, program)


def _split(twice: Twice, rule: Rule, program: Program) -> Iterator[Cure]:
    """The axis as two: the rule has the inner one, the other rule the outer."""
    axis = next((axis for axis in program.axes if axis.name == twice.axis), None)
    if axis is None or axis.assumed or axis.declared is None:
        return
    dim = twice.dims[twice.rules.index(rule)]
    name = f"{axis.name}_{dim.rstrip(chr(39))}"
    text = with_axis(rule.place, axis.name, name)
    parts = near((n for n in divisors(axis.size) if 1 < n < axis.size), math.isqrt(axis.size), now=False)
    if text is None or any(other.name == name for other in program.axes):
        return
    for part in parts[:2]:
        axes = f"{axis.name} = {axis.size // part}, {name} = {part}"
        edits = (Edit(axis.declared, axes), Edit(rule.place, text))
        yield Cure(f"or split the axis: {axes}, and `{text}`", (Option("", (), edits),), unless="any")


def _inside(twice: Twice, outer: Rule, dim: str, inner: Rule, program: Program) -> Iterator[Cure]:
    place = inner.within[-1]
    if outer.rest is Rest.USE and outer.origin:
        claim = in_place(f"{dim} -> none", inner.within)
        yield Cure(f"or let {dim} be whole there: {claim}", settle(inner.place, claim))
    axis = next((axis for axis in program.axes if axis.name == twice.axis), None)
    if axis and place not in {view.name for view in program.views} and program.mesh_span:
        name, size = f"{axis.name}_{place}", "*" if axis.assumed else axis.size
        view = f"mesh {place} = regroup({axis.name}) {{ {name} = {size} }}"
        renamed = with_axis(inner.place, axis.name, name)
        end = Span(program.mesh_span.source, program.mesh_span.end, program.mesh_span.end)
        edits = (Edit(end, f"\n\n{view}"), Edit(inner.place, renamed)) if renamed else ()
        yield Cure(
            f"or give {place} a view of these devices, in which {dim} gives way: {view}, and {name} there",
            (Option("", (), edits),) if edits else (),
        )


# ---------------------------------------------------------------- layouts that do not work


def trouble_diagnostic(trouble: Trouble, op: Op, program: Program) -> Diagnostic:
    rules = [r for r in program.rules if set(r.axes) & set(trouble.axes) and trouble.dim.name in r.dims]
    rules.sort(key=lambda r: -len(r.within) if trouble.kind == "whole" else 0)
    because = tuple(Label(r.place, f"puts {trouble.dim.name} on {sized(r.axes, program)}") for r in rules[:1])
    match trouble.kind:
        case "keys_split":
            assert isinstance(op, Attend)
            return Diagnostic(
                "E0253",
                f"attention needs whole keys, but `{trouble.dim.name}` is split over {sized(trouble.axes, program)}",
                (*because, Label(op.span, "keys and values are split here")),
                cures=tuple(_ways_of_keys(trouble, op, rules)),
            )
        case "whole":
            inside = op.name if isinstance(op, Custom) else getattr(op, "function", type(op).__name__.lower())
            return Diagnostic(
                "E0256",
                f"`{inside}` works on whole `{trouble.dim.name}`, which a rule inside it splits",
                (*because, Label(op.span, f"takes {trouble.dim.name} whole")),
                (f"take {trouble.dim.name} off {sized(trouble.axes, program)} inside `{inside}`",),
                edits=(removed(rules[0].span),) if rules and _alone(rules[0]) else (),
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
            held = sized(trouble.other_axes, program)
            return Diagnostic(
                "E0252",
                f"`{heads}` and `{kv_heads}` lie on different axes inside `attend`",
                (*because, Label(op.span, f"{kv_heads} is on {held} here")),
                cures=tuple(_on_the_same(trouble, op, rules)),
            )


def _alone(rule: Rule) -> bool:
    return rule.origin is None and len(rule.dims) == 1


def _ways_of_keys(trouble: Trouble, op: Attend, rules: Sequence[Rule]) -> Iterator[Cure]:
    """Keys that travel, or heads in place of the sequence."""
    rings = " and ".join(f"`ring({axis})`" for axis in trouble.axes)
    by_hand = in_place("; ".join(f"exchange kv by ring over {axis}" for axis in trouble.axes), ["attend"])
    heads, axes = ", ".join(dict.fromkeys((op.heads.name, op.kv_heads.name))), ", ".join(trouble.axes)
    given = in_place(f"{op.seq.name} -> none; {heads} -> {axes}", ["attend"])
    if not rules:
        return
    yield Cure(f"say how they travel: {rings}, or {by_hand}", settle(rules[0].place, by_hand))
    yield Cure(f"or give {'the axis' if len(trouble.axes) == 1 else 'the axes'} to the heads: {given}",
               settle(rules[0].place, given))  # fmt: skip


def _on_the_same(trouble: Trouble, op: Op, rules: Sequence[Rule]) -> Iterator[Cure]:
    assert trouble.other is not None
    heads, kv_heads = trouble.dim.name, trouble.other.name
    for axes in dict.fromkeys((trouble.axes or trouble.other_axes, trouble.other_axes or trouble.axes)):
        claim = in_place(f"{heads}, {kv_heads} -> {', '.join(axes)}", ["attend"])
        place = rules[0].place if rules else op.span
        yield Cure(f"put both on the same: {claim}", settle(place, claim) if rules else ())


def _equal_tokens(trouble: Trouble, op: Route, program: Program) -> Diagnostic:
    """`dim` and `other` are the last and the first token dim, with the sizes of one device's parts."""
    sizes = dict.fromkeys(f"{dim.size} {dim.name}" for dim in (trouble.other, trouble.dim) if dim is not None)
    shards = math.prod(program.axis(a).size for a in trouble.axes)
    whole = program.dims[trouble.dim.name].size if trouble.dim.name in program.dims else trouble.dim.size
    enough = whole // trouble.dim.size * math.lcm(trouble.dim.size, shards)
    return Diagnostic(
        "E0301",
        f"tokens are equal along {sized(trouble.axes, program)}, and a device's {' * '.join(sizes)} of them cannot be "
        f"split over {shards} shards",
        (Label(op.span, f"each of the {shards} sends tokens of its own"),),
        (f"leave {' and '.join(f'`{axis}`' for axis in trouble.axes)} out of the axes that experts share",),
        cures=(
            *dim_may_be(trouble.dim.name, whole, [enough], True),
            *(cure for axis in map(program.axis, trouble.axes) for cure in _sizes(axis, divisors(axis.size), program)),
        ),
    )


def _sizes(axis: Axis, sizes: Sequence[int], program: Program) -> Iterator[Cure]:
    yield from axis_may_be(axis, sizes)
    yield from trades(program, axis, sizes.__contains__)
    yield from elsewhere(axis, sizes)


def _straddle(trouble: Trouble, op: Op, because: tuple[Label, ...], program: Program) -> Diagnostic:
    heads, kv_heads = trouble.dim, trouble.other
    assert kv_heads is not None
    axes = [program.axis(name) for name in trouble.axes]
    shards = math.prod(axis.size for axis in axes)
    group = heads.size // kv_heads.size
    legal = [n for n in divisors(heads.size) if _fits(heads.size // n, group)]
    return Diagnostic(
        "E0254",
        f"{heads.size // shards} {heads.name} a device straddle their {kv_heads.name}, each of which serves {group}",
        (*because, Label(op.span, f"{kv_heads.name} is whole here")),
        cures=(*(cure for axis in reversed(axes) for cure in _sizes(axis, _others(axis, shards, legal), program)),),
    )


def _others(axis: Axis, shards: int, legal: Sequence[int]) -> list[int]:
    """Sizes of one of several axes with which there are a legal number of shards."""
    rest = shards // axis.size
    return [n // rest for n in legal if n % rest == 0]


def _fits(local: int, group: int) -> bool:
    return local % group == 0 or group % local == 0
