"""The partition, with every strategy written out: rules in places, each with whose it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from meshc.prove.sound.oracle import calls
from meshc.prove.sound.oracle.calls import Value
from meshc.prove.sound.oracle.devices import Atom, Devices
from meshc.prove.sound.oracle.functions import OPERATIONS
from meshc.prove.sound.oracle.reading import Scope, Spec, Wrong
from meshc.prove.sound.oracle.values import EXPERTS
from meshc.syntax import ast

Names = tuple[str, ...]


@dataclass(frozen=True)
class At:
    """A place: the layers and operations around it, from the outermost, one of each group; `use` or which rest."""

    within: tuple[frozenset[str], ...] = ()
    phase: str = "use"
    of: str | None = None


@dataclass(frozen=True)
class Rule:
    """`dims -> axes` in a place. owner: the number of the strategy's use, None for one of the partition itself.

    claims: whether it says anything; a rule of axes of size 1 alone does not. A rule can look at atoms or at names.
    """

    owner: int | None
    at: At
    number: int
    dims: Names
    atoms: tuple[Atom, ...]
    append: bool
    first: bool
    zigzag: bool
    repeat: bool
    free: bool

    @property
    def sets(self) -> bool:
        return not self.append


@dataclass(frozen=True)
class Exchange:
    owner: int | None
    at: At
    method: str
    atoms: tuple[Atom, ...]


@dataclass(frozen=True)
class Stage:
    """options: of the strategy that holds it"""

    owner: int | None
    dim: str
    axis: str
    atoms: tuple[Atom, ...]
    options: dict[str, Value]


@dataclass
class Rules:
    claims: list[Rule]
    exchanges: list[Exchange]
    stages: list[Stage]
    silent: list[Any]
    uses: list[str]


@dataclass
class Writing:
    """known: dims, and whatever else rules may name"""

    spec: Spec
    devices: Devices
    dims: dict[str, int]
    wrong: Wrong
    out: Rules
    gathered: set[str]

    def axis(self, name: str) -> tuple[Atom, ...]:
        if name not in self.devices.axes:
            self.wrong.say("name", f"no axis `{name}`")
            return ()
        return tuple(atom for atom in self.devices.axes[name] if self.devices.size[atom] > 1)


@dataclass(frozen=True)
class Around:
    scope: Scope
    owner: int | None = None
    at: At = At()
    names: Any = None
    options: Any = None
    depth: int = 0


def written_out(spec: Spec, devices: Devices, dims: dict[str, int], wrong: Wrong) -> Rules:
    writing = Writing(spec, devices, dims, wrong, Rules([], [], [], [], []), set())
    if spec.partition:
        _rules(writing, spec.partition.rules, Around(spec.scope, names={}))
    if len(writing.gathered) > 1:
        wrong.say("call", "`gathered` in two ways")
    return writing.out


def _rules(writing: Writing, rules: tuple[ast.Rule, ...], around: Around) -> None:
    for rule in rules:
        match rule:
            case ast.Claim():
                _claim(writing, rule, around)
            case ast.Place():
                for at in _places(writing, rule, around):
                    _rules(writing, rule.rules, replace(around, at=at))
            case ast.If(condition=condition, rules=inner):
                if calls.truth(condition, around.names, writing):
                    _rules(writing, inner, around)
            case ast.Use(call=call):
                _use(writing, call, around)
            case ast.Exchange():
                _exchange(writing, rule, around)
            case ast.Stage():
                _stage(writing, rule, around)


def _use(writing: Writing, call: ast.Call, around: Around) -> None:
    strategy, scope = around.scope.names.get(call.callee.text, (None, around.scope))
    if not isinstance(strategy, ast.Strategy):
        writing.wrong.say("name", f"no strategy `{call.callee.text}`")
        return
    if around.depth > 50:
        writing.wrong.say("call", f"`{strategy.name.text}` uses itself")
        return
    names = calls.arguments(strategy, call, around.names, writing)
    if names is None:
        return
    owner = around.owner
    if owner is None:
        owner = len(writing.out.uses)
        writing.out.uses.append(call.callee.text)
    calls.options(strategy, names, writing)
    _rules(writing, strategy.rules, replace(around, scope=scope, owner=owner, names=names, options=names,
                                            depth=around.depth + 1))  # fmt: skip


def _places(writing: Writing, place: ast.Place, around: Around) -> Iterator[At]:
    for kind in place.kinds:
        if kind.text == "within":
            targets = frozenset(target.text for target in place.targets)
            for target in sorted(targets):
                if not _is_place(target, around.scope) and not _is_place(target, writing.spec.scope):
                    writing.wrong.say("name", f"no place `{target}`")
            yield replace(around.at, within=(*around.at.within, targets))
        else:
            if around.at.phase != "use":
                writing.wrong.say("silent", f"`{kind.text}` in `{around.at.phase}`")
            yield replace(around.at, phase=kind.text, of=place.of.text if place.of else None)


def _is_place(name: str, scope: Scope) -> bool:
    known = scope.names.get(name)
    return name in OPERATIONS or name == EXPERTS or (known is not None and not isinstance(known[0], ast.Strategy))


def _axes(writing: Writing, names: list[str], around: Around) -> tuple[Atom, ...]:
    """The atoms of axes that a rule names."""
    for name in names:
        inside = around.at.phase != "use" or any(EXPERTS in group for group in around.at.within)
        if name in writing.devices.of_view and not inside:
            writing.wrong.say("view", f"`{name}` outside of its view")
    return tuple(atom for name in names for atom in writing.axis(name))


def _claim(writing: Writing, claim: ast.Claim, around: Around) -> None:
    dims = tuple(calls.dim(name.text, around.names) for name in claim.dims)
    if around.owner is None:
        for name in dims:
            if name.rstrip("'") not in writing.dims:
                writing.wrong.say("name", f"no dim `{name}`")
    names = calls.axes([name.text for name in claim.axes], around.names)
    atoms = _axes(writing, names, around)
    if len(set(atoms)) < len(atoms):
        writing.wrong.say("twice", f"an axis twice in {names}")
    if names and not atoms:
        writing.out.silent.append((around.owner, around.at, dims, claim.first))
        return
    if claim.axes and not names:
        return
    number = len(writing.out.claims)
    writing.out.claims.append(
        Rule(around.owner, around.at, number, dims, atoms, claim.append, claim.first, claim.zigzag, claim.repeat,
             claim.where_free)
    )  # fmt: skip


def _exchange(writing: Writing, rule: ast.Exchange, around: Around) -> None:
    if around.at.phase != "use":
        writing.wrong.say("silent", "an exchange at rest")
    if rule.what.text != "kv" or rule.method.text not in ("ring", "all_gather"):
        writing.wrong.say("call", f"exchange {rule.what.text} by {rule.method.text}")
    atoms = _axes(writing, calls.axes([rule.axis.text], around.names), around)
    writing.out.exchanges.append(Exchange(around.owner, around.at, rule.method.text, atoms))


def _stage(writing: Writing, rule: ast.Stage, around: Around) -> None:
    if around.at.phase != "use":
        writing.wrong.say("silent", "stages at rest")
    names = calls.axes([rule.axis.text], around.names)
    dim = calls.dim(rule.dim.text, around.names)
    if around.owner is None and dim not in writing.dims:
        writing.wrong.say("name", f"no dim `{dim}`")
    options = dict(around.options or {})
    writing.out.stages.append(Stage(around.owner, dim, ",".join(names), _axes(writing, names, around), options))
