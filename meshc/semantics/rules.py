"""What the rules say about one tensor: which axes split which dim, and who claims it.

A rule speaks at a level: for tensors in use, how deep its `within` reaches; for weights at rest, which of `params`,
`grads`, `optimizer`. Deeper levels begin from what the outer ones yield. At one level axes that are set come first,
then the appended ones in mesh order; so what a level adds is always the minor part, and gathering it returns whole
contiguous parts.
"""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from meshc.semantics.program import Program, Rest, Rule
from meshc.semantics.refine import Refined, refine

ANCESTRY: dict[Rest, tuple[Rest, ...]] = {
    Rest.USE: (Rest.USE,),
    Rest.PARAMS: (Rest.USE, Rest.PARAMS),
    Rest.GRADS: (Rest.USE, Rest.PARAMS, Rest.GRADS),
    Rest.OPTIMIZER: (Rest.USE, Rest.PARAMS, Rest.OPTIMIZER),
}

Level = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Clash:
    """Two rules that claim one dim and neither of which gives way."""

    dim: str
    chain: tuple[str, ...]
    rest: Rest
    first: Rule
    second: Rule


@dataclass(frozen=True, eq=False)
class Twice:
    """One axis on two dims of one tensor."""

    axis: str
    dims: tuple[str, str]
    rules: tuple[Rule, Rule]


@dataclass(frozen=True, eq=False)
class Claimed:
    """The answer for one tensor: axes by dim, the rules behind them, and what is wrong with them.

    `used` are the rules that speak of it, and of which of its `dims` (one `where free`: which has an axis of it).
    `zigzag` says for each dim how many of its axes, from the outermost on, cut it in zigzag order.
    """

    axes: tuple[tuple[str, ...], ...]
    because: dict[str, tuple[Rule, ...]]
    dims: tuple[str, ...] = ()
    used: frozenset[tuple[Rule, str]] = frozenset()
    zigzag: tuple[int, ...] = ()
    clashes: tuple[Clash, ...] = ()
    twice: tuple[Twice, ...] = ()


@dataclass
class RuleBook:
    """Answers for one program, each worked out once."""

    program: Program
    _memo: dict[tuple, Claimed] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.refined: Refined = refine(self.program)
        self.order = {axis: i for i, axis in enumerate(self.refined.sizes)}
        self.regrouped = {view.name: frozenset(self.refined.of(view.group)) for view in self.program.views}
        self._about: dict[str, list[Rule]] = {}  # the rules that name a dim, in the order of the text
        for rule in self.program.rules:
            for dim in dict.fromkeys(rule.dims):
                self._about.setdefault(dim, []).append(rule)
        self._places = frozenset(name for rule in self.program.rules for name in rule.within) | self.regrouped.keys()
        self._by_path = any(rule.of for rule in self.program.rules)
        self._stacks = frozenset(path for rule in self.program.rules for path in rule.stacks or ())
        self._chains: dict[tuple[str, ...], tuple[str, ...]] = {}

    def claimed(self, dims: Sequence[str], chain: tuple[str, ...], rest: Rest = Rest.USE, path: str = "") -> Claimed:
        """Axes of a tensor with these dims, used in the layers and primitives of `chain` (outermost first)."""
        key = (tuple(dims), self._met(chain), rest, path if self._by_path else path in self._stacks)
        if key not in self._memo:
            self._memo[key] = self._claim(*key[:3], path)
        return self._memo[key]

    def met_by(self, chain: tuple[str, ...], path: tuple[str, ...]) -> Hashable:
        """What rules can tell a weight by, besides its dims: where this is the same, so is every answer."""
        return self._met(chain), path if self._by_path else ".".join(path) in self._stacks

    def _met(self, chain: tuple[str, ...]) -> tuple[str, ...]:
        """The places of a chain that some rule or view speaks of."""
        if chain not in self._chains:
            self._chains[chain] = tuple(name for name in chain if name in self._places)
        return self._chains[chain]

    def parts_in_zigzag(self, claims: Iterable[Claimed]) -> dict[str, int]:
        """The dims in zigzag order, and into how many pairs of chunks they are cut."""
        parts: dict[str, int] = {}
        for claimed in claims:
            for dim, axes, turned in zip(claimed.dims, claimed.axes, claimed.zigzag, strict=True):
                if turned:
                    parts[dim] = max(parts.get(dim, 1), math.prod(self.refined.sizes[a] for a in axes[:turned]))
        return parts

    def _claim(self, dims: tuple[str, ...], chain: tuple[str, ...], rest: Rest, path: str) -> Claimed:
        clashes: list[Clash] = []
        fixed: dict[str, list[tuple[str, Rule]]] = {}
        free: list[tuple[str, str, Rule, Level]] = []
        levels: dict[str, dict[str, tuple[int, ...]]] = {}
        used: set[tuple[Rule, str]] = set()
        for dim in dict.fromkeys(dims):
            rules = self._speaking(dim, dims, chain, rest, path)
            used.update((rule, dim) for _, rule in rules if not rule.where_free)
            here = [(level, rule) for level, rule in rules if not rule.axes or self._holds(rule, chain)]
            winners, clash = _settle(here, dim, chain, rest)
            clashes += clash
            fixed[dim], levels[dim] = [], {}
            for level, rule in winners:
                regrouped = self._regrouped(rule, chain)
                for axis in self.refined.of_rule(rule, dim):
                    if axis in regrouped and rule.rest is Rest.USE:
                        continue
                    if rule.where_free or axis in regrouped:
                        free.append((dim, axis, rule, level))
                    elif axis not in levels[dim]:
                        fixed[dim].append((axis, rule))
                        levels[dim][axis] = self._rank(level, rule, axis, dim)
        twice = self._twice(fixed)
        taken = {axis: dim for dim, claims in fixed.items() for axis, _ in claims}
        for dim, axis, rule, level in free:
            if axis not in taken:
                used.add((rule, dim))
                taken[axis] = dim
                fixed[dim].append((axis, rule))
                levels[dim][axis] = self._rank(level, rule, axis, dim)
            elif taken[axis] == dim:
                used.add((rule, dim))
        return self._answer(dims, fixed, levels, used, (tuple(clashes), twice))

    def _answer(
        self,
        dims: tuple[str, ...],
        fixed: Mapping[str, Sequence[tuple[str, Rule]]],
        levels: Mapping[str, Mapping[str, tuple[int, ...]]],
        used: Iterable[tuple[Rule, str]],
        wrong: tuple[tuple[Clash, ...], tuple[Twice, ...]],
    ) -> Claimed:
        clashes, twice = wrong
        lost = {(t.dims[1], t.axis) for t in twice}
        ordered = {
            d: sorted((a for a, _ in c if (d, a) not in lost), key=levels[d].__getitem__) for d, c in fixed.items()
        }
        because = {d: tuple(dict.fromkeys(rule for _, rule in claims)) for d, claims in fixed.items() if claims}
        turned = {d: {axis for axis, rule in claims if rule.zigzag} for d, claims in fixed.items()}
        zigzag = (max((i for i, a in enumerate(ordered[d], 1) if a in turned[d]), default=0) for d in dims)
        axes = tuple(tuple(ordered[d]) for d in dims)
        return Claimed(axes, because, dims, frozenset(used), tuple(zigzag), clashes, twice)

    def _rank(self, level: Level, rule: Rule, axis: str, dim: str) -> tuple[int, ...]:
        """Order among the axes of a dim: by place (in use, at rest), set before appended, as set or in mesh order."""
        order = self.order[axis] if rule.append else self.refined.of_rule(rule, dim).index(axis)
        return (level[0], int(rule.append), order)

    def _speaking(
        self, dim: str, dims: tuple[str, ...], chain: tuple[str, ...], rest: Rest, path: str
    ) -> list[tuple[Level, Rule]]:
        """The rules about a dim of a tensor, outermost level first."""
        found: list[tuple[Level, Rule]] = []
        for rule in self._about.get(dim, ()):
            depth = _depth(rule.within, chain)
            if rule.rest not in ANCESTRY[rest] or depth is None or not _names(rule, dim, dims):
                continue
            if rule.of and not fnmatch.fnmatchcase(path, rule.of):
                continue
            if rule.stacks is not None and path not in rule.stacks:
                continue
            found.append(((ANCESTRY[rule.rest].index(rule.rest), depth), rule))
        return sorted(found, key=lambda pair: pair[0])

    def _holds(self, rule: Rule, chain: tuple[str, ...]) -> bool:
        """Whether a view of the devices leaves a rule any of its axes where the tensor is used."""
        return rule.rest is not Rest.USE or not set(self.refined.of(rule.axes)) <= self._regrouped(rule, chain)

    def _regrouped(self, rule: Rule, chain: tuple[str, ...]) -> frozenset[str]:
        """The axes that a second view of the devices factors anew where the tensor is used: a rule from outside of it
        says nothing of them in use, and at rest has what the tensor leaves free.
        """
        views = (axes for name, axes in self.regrouped.items() if name in chain and name not in rule.within)
        return frozenset[str]().union(*views)

    def _twice(self, fixed: dict[str, list[tuple[str, Rule]]]) -> tuple[Twice, ...]:
        seen: dict[str, tuple[str, Rule]] = {}
        found = []
        for dim, claims in fixed.items():
            for axis, rule in claims:
                if axis in seen and seen[axis][0] != dim:
                    found.append(Twice(axis, (seen[axis][0], dim), (seen[axis][1], rule)))
                seen.setdefault(axis, (dim, rule))
        return tuple(found)


def _names(rule: Rule, dim: str, dims: tuple[str, ...]) -> bool:
    if rule.first:
        return next((d for d in rule.dims if d in dims), None) == dim
    return dim in rule.dims


def _depth(within: tuple[str, ...], chain: tuple[str, ...]) -> int | None:
    """How deep in `chain` a rule within these places begins to speak; None where it does not."""
    position = 0
    for name in within:
        try:
            position = chain.index(name, position) + 1
        except ValueError:
            return None
    return position


def _settle(
    rules: list[tuple[Level, Rule]], dim: str, chain: tuple[str, ...], rest: Rest, deep: int = 0
) -> tuple[list[tuple[Level, Rule]], list[Clash]]:
    """The rules that hold, outermost first, and the clashes among them.

    All were reached by the same first `deep` calls. A set rule written directly where these lead, in `partition` or in
    a strategy, settles what is claimed by those called there, where it stands and further in, and replaces what stands
    further out.
    """
    clashes: list[Clash] = []
    direct = [(level, rule) for level, rule in rules if len(rule.calls) == deep and not rule.append]
    if direct:
        top, winner = direct[-1]
        rivals = [rule for level, rule in direct[:-1] if level == top and _differ(rule, winner)]
        clashes += [Clash(dim, chain, rest, rule, winner) for rule in rivals]
        later = [(lv, r) for lv, r in rules if r.append and (lv > top or (lv == top and len(r.calls) == deep))]
        return [(top, winner), *later], clashes
    sets = [(level, rule) for level, rule in rules if not rule.append]
    if not sets:
        return rules, clashes
    for i, (level, rule) in enumerate(sets):
        call = rule.calls[deep]
        clashes += [Clash(dim, chain, rest, other, rule) for _, other in sets[:i] if other.calls[deep] is not call]
        appended = [(lv, r) for lv, r in rules if r.append and len(r.calls) > deep and r.calls[deep] is not call]
        clashes += [Clash(dim, chain, rest, *in_text_order(rule, r)) for lv, r in appended if lv[0] <= level[0]]
    held = {rule for _, rule in rules if len(rule.calls) == deep}
    for call in dict.fromkeys(rule.calls[deep] for _, rule in rules if len(rule.calls) > deep):
        called = [(level, rule) for level, rule in rules if call in rule.calls[deep : deep + 1]]
        kept, inner = _settle(called, dim, chain, rest, deep + 1)
        held.update(rule for _, rule in kept)
        clashes += inner
    top, winner = next((level, rule) for level, rule in reversed(sets) if rule in held)
    return [(top, winner), *((lv, r) for lv, r in rules if r.append and lv >= top and r in held)], clashes


def _differ(one: Rule, other: Rule) -> bool:
    return one.axes != other.axes


def in_text_order(one: Rule, other: Rule) -> tuple[Rule, Rule]:
    """Both stand in the one `partition`."""
    return (one, other) if one.place.start <= other.place.start else (other, one)
