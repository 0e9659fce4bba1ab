"""Expanding `partition`: strategies called, axes bound, conditions decided, until only rules are left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from meshc.diagnostics import spec_names, spec_rules
from meshc.semantics import options
from meshc.semantics.binding import bind, slots_of
from meshc.semantics.build import MOST_CALLS, MOST_DEEP
from meshc.semantics.meshes import Devices
from meshc.semantics.options import AxisArgument, Bound
from meshc.semantics.program import ExchangeRule, Rest, Rule, StageRule, StrategyUse
from meshc.semantics.report import Report
from meshc.semantics.scope import Definition, Scope
from meshc.source import Span
from meshc.syntax import ast

EXCHANGED = ("kv",)
METHODS = ("ring", "all_gather")


@dataclass(frozen=True)
class Known:
    """What rules may name. `layers` are the layers, primitives and functions that something can be within."""

    devices: Devices
    dims: frozenset[str]
    layers: frozenset[str]


@dataclass(frozen=True)
class Here:
    """Where a rule is read: in which places, by way of which strategy."""

    scope: Scope
    rests: tuple[Rest, ...] = ()
    within: tuple[str, ...] = ()
    of: str | None = None
    rest_name: ast.Name | None = None
    calls: tuple[StrategyUse, ...] = ()
    names: Mapping[str, Bound] = field(default_factory=dict)
    open: tuple[Definition, ...] = ()

    @property
    def origin(self) -> StrategyUse | None:
        """The strategy used in `partition` that led here."""
        return self.calls[0] if self.calls else None


@dataclass(eq=False)
class Expansion:
    """The rules that a partition comes to."""

    known: Known
    report: Report
    uses: list[StrategyUse] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    exchanges: list[ExchangeRule] = field(default_factory=list)
    stages: list[StageRule] = field(default_factory=list)
    gathered: list[tuple[str, Span]] = field(default_factory=list)
    idle: list[StrategyUse | ast.Claim] = field(default_factory=list)
    of_one: set[StrategyUse] = field(default_factory=set)
    calls: int = 0
    called: set[Span] = field(default_factory=set)  # where what is called is defined

    def expand(self, rules: Sequence[ast.Rule], here: Here) -> None:
        for rule in rules:
            match rule:
                case ast.Claim():
                    self._claim(rule, here)
                case ast.Exchange():
                    self._exchange(rule, here)
                case ast.Stage():
                    self._stage(rule, here)
                case ast.Place():
                    self._place(rule, here)
                case ast.If():
                    if options.holds(rule.condition, here.names, self.report):
                        self.expand(rule.rules, here)
                case ast.Use():
                    self._use(rule.call, here)
                case _:
                    assert_never(rule)

    # ------------------------------------------------------------ rules

    def _claim(self, claim: ast.Claim, here: Here) -> None:
        if here.origin is None:
            for dim in claim.dims:
                self._declared(dim)
        axes = self._axes(claim.axes, here)
        if axes is None or (claim.axes and not axes):
            self._saves_nothing(claim, here)
            if here.origin and any(isinstance(here.names.get(name.text), AxisArgument) for name in claim.axes):
                self.of_one.add(here.origin)
            return  # wrong, or all axes are `none` or of size 1: nothing is claimed, and nothing cleared
        if twice := next((axis for axis in axes if axes.count(axis) > 1), None):
            again = [name.span for name in claim.axes if name.text == twice][1:]
            place = here.origin.span if here.origin else claim.span
            self.report(spec_rules.axis_twice(twice, place, None if here.origin or not again else again[0]))
            return
        dims = tuple(dim.text for dim in claim.dims)
        for rest in here.rests or (Rest.USE,):
            self.rules.append(
                Rule(
                    rest, here.within, here.of, dims, claim.first, axes, claim.append,
                    claim.where_free, claim.zigzag, claim.repeat, here.origin, claim.span, None, here.calls,
                )
            )  # fmt: skip

    def _saves_nothing(self, claim: ast.Claim, here: Here) -> None:
        """Of what asks to split weights at rest, and has one device to split them over while there are others."""
        devices = self.known.devices
        if not here.rests or not devices.sound or all(axis.size == 1 for axis in devices.axes):
            return
        bound = [here.names.get(name.text, AxisArgument(name.text, name.span)) for name in claim.axes]
        axes = [b.name for b in bound if isinstance(b, AxisArgument) and b.name in devices.names]
        where = here.origin or claim
        if axes and where not in self.idle:
            self.idle.append(where)
            text = where.text if isinstance(where, StrategyUse) else where.span.text
            self.report(spec_rules.saves_nothing(text, axes, [rest.value for rest in here.rests], where.span))

    def _declared(self, dim: ast.Name) -> bool:
        """Whether a rule that the user writes directly names a dim of the program."""
        if dim.text.rstrip("'") in self.known.dims:
            return True
        self.report(spec_names.unknown_dim(dim.text, dim.span, self.known.dims))
        return False

    def _exchange(self, rule: ast.Exchange, here: Here) -> None:
        if here.rest_name is not None:
            self.report(spec_rules.only_in_use("exchange", here.rest_name.text, rule.span))
            return
        for given, known in ((rule.what, EXCHANGED), (rule.method, METHODS)):
            if given.text not in known:
                what = "thing to exchange" if known is EXCHANGED else "way to exchange"
                self.report(spec_names.unknown(what, "E0242", given.text, given.span, known))
                return
        for axis in self._axes((rule.axis,), here) or ():
            self.exchanges.append(
                ExchangeRule(here.within, rule.what.text, rule.method.text, axis, here.origin, rule.span)
            )

    def _stage(self, rule: ast.Stage, here: Here) -> None:
        if here.rest_name is not None:
            self.report(spec_rules.only_in_use("stage", here.rest_name.text, rule.span))
            return
        if here.within:
            self.report(spec_rules.only_in_use("stage", f"within {here.within[-1]}", rule.span))
            return
        if here.origin is None and not self._declared(rule.dim):
            return
        schedule = options.schedule_of(here.names, self.report)
        for axis in self._axes((rule.axis,), here) or ():
            if schedule is not None:
                self.stages.append(
                    StageRule(
                        rule.dim.text, axis, schedule.microbatches or self._size(axis), schedule.schedule,
                        schedule.rounds, schedule.stages, here.origin, rule.span,
                        {name: bound.span for name, bound in here.names.items()},
                    )
                )  # fmt: skip

    def _place(self, place: ast.Place, here: Here) -> None:
        kinds = [kind for kind in place.kinds if kind.text != "within"]
        if kinds and here.rest_name is not None:
            self.report(spec_rules.place_in_place(kinds[0].text, here.rest_name.text, kinds[0].span))
            return
        if kinds:
            rests = tuple(Rest(kind.text) for kind in kinds)
            of = place.of.text if place.of else here.of
            self.expand(place.rules, replace(here, rests=rests, of=of, rest_name=kinds[0]))
            return
        for target in place.targets:
            name = target.text.rpartition(".")[2]
            if here.origin is None and name not in self.known.layers:
                self.report(spec_names.unknown_place(target.text, target.span, self.known.layers))
            else:
                self.expand(place.rules, replace(here, within=(*here.within, name)))

    # ------------------------------------------------------------ axes

    def _axes(self, given: Sequence[ast.Name], here: Here) -> tuple[str, ...] | None:
        """The axes meant, without those of size 1 and those an option leaves out; None where one is wrong."""
        found = [self._axis(name, here) for name in given]
        if any(axis is None for axis in found):
            return None
        return tuple(axis for axis in found if axis)

    def _axis(self, name: ast.Name, here: Here) -> str | None:
        """An axis by name; "" for one that claims nothing, None (and reported) for what is no axis."""
        bound = here.names.get(name.text, AxisArgument(name.text, name.span))
        if not isinstance(bound, AxisArgument):
            if bound.value is None:
                return ""
            known = self.known.devices.names
            self.report(spec_rules.not_an_axis(name.text, options.described(bound), bound.span, name.span, known))
            return None
        if bound.name not in self.known.devices.names:
            mesh = self.known.devices.mesh
            after = mesh.axes[-1].span if mesh and mesh.axes else None
            self.report(spec_names.unknown_axis(bound.name, bound.span, self.known.devices.names, after))
            return None
        for view in self.known.devices.views:
            declared = next((axis.span for axis in view.axes if axis.name == bound.name), None)
            twice = any(axis.name == bound.name for axis in self.known.devices.axes)  # E0210 says so
            if declared and not twice and view.name not in here.within and not here.rests:
                self.report(spec_rules.axis_of_view(bound.name, view.name, bound.span, declared))
                return None
        return bound.name if self._size(bound.name) > 1 else ""

    def _size(self, axis: str) -> int:
        views = (self.known.devices, *self.known.devices.views)
        return next(a.size for view in views for a in view.axes if a.name == axis)

    # ------------------------------------------------------------ strategies

    def _use(self, call: ast.Call, here: Here) -> None:
        definition = here.scope.strategy(call.callee.text)
        if definition is None:
            known = here.scope.names("strategies")
            self.report(spec_names.unknown_strategy(call.callee.text, call.callee.span, known))
            return
        self.called.add(definition.span)
        strategy = definition.node
        assert isinstance(strategy, ast.Strategy)
        if definition in here.open:
            names = [d.node.name.text for d in here.open[here.open.index(definition) :]]
            self.report(spec_names.recursion([*names, strategy.name.text], call.span))
            return
        self.calls += 1
        if len(here.open) >= MOST_DEEP or self.calls > MOST_CALLS:
            deep = len(here.open) >= MOST_DEEP
            if deep or self.calls == MOST_CALLS + 1:
                too = spec_names.too_deep if deep else spec_names.too_many_calls
                self.report(too(MOST_DEEP if deep else MOST_CALLS, call.span))
            return
        bound = bind(slots_of(strategy.parameters), call, self.report)
        if bound is None:
            return
        names = options.bind_options(strategy, bound, here.names, self.known.devices.names, self.report)
        if names is None:
            return
        use = StrategyUse(strategy.name.text, call.span.text, call.span)
        if here.origin is None:
            self.uses.append(use)
        if "gathered" in names:
            self._gather(names["gathered"])
        self.expand(
            strategy.rules,
            replace(here, scope=definition.scope, calls=(*here.calls, use), names=names, open=(*here.open, definition)),
        )

    def _gather(self, option: Bound) -> None:
        """`gathered` holds for the whole program: two uses must agree."""
        word = options.word_of("gathered", option, ("again", "kept"), self.report)
        if word is None:
            return
        if self.gathered and self.gathered[0][0] != word:
            other, first = self.gathered[0]
            self.report(spec_rules.options_differ("gathered", word, other, option.span, first))
        self.gathered.append((word, option.span))
