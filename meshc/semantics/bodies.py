"""Placing the statements of one body: operands brought to where an operation needs them, results brought home."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from meshc.semantics.moves import plan
from meshc.semantics.needs import Places, Routed, Rules
from meshc.semantics.ops import needs
from meshc.semantics.placed import (
    Computed,
    Layout,
    Moved,
    Placed,
    PlacedCarry,
    PlacedInvoke,
    PlacedLoss,
    PlacedMetric,
    PlacedRepeat,
    PlacedStatement,
    PlacedUpdate,
    PlacedWeight,
    Step,
)
from meshc.semantics.program import (
    Combine,
    Dropped,
    Invoke,
    Kind,
    Load,
    LoadBalance,
    Loss,
    Metric,
    NextToken,
    Op,
    Reduce,
    Repeat,
    Route,
    Statement,
    Update,
    Value,
)
from meshc.semantics.region import Routes, combined_only, expert_region, routes
from meshc.semantics.routing import Inside, by_row, lay_out
from meshc.semantics.rules import Claimed, Twice
from meshc.source import Span

if TYPE_CHECKING:
    from meshc.semantics.placement import Walk

Axes = tuple[str, ...]
Chain = tuple[str, ...]


class Scope:
    """What a body sees: each value at home, and weights by their value. Inner scopes see the outer one's."""

    def __init__(self, homes: dict[Value, Placed], weights: dict[Value, PlacedWeight]) -> None:
        self.homes = homes
        self.weights = weights

    def inner(self) -> Scope:
        return Scope(dict(self.homes), self.weights)


class Body:
    """Places the statements of one module or of one turn of a repeat."""

    def __init__(
        self, walk: Walk, chain: Chain, body: Sequence[Statement], scope: Scope, outer: Body | None = None
    ) -> None:
        self.walk = walk
        self.chain = chain
        self.routes: Routes = routes(body, outer.routes if outer else None)
        self.experts = expert_region(body, self.routes)
        self.routed: dict[Route, Routed] = dict(outer.routed) if outer else {}
        self.combined_only = combined_only(body) if self.routes else frozenset()
        self.walk.found.routes.update(self.routes)
        self.scope = scope
        self.statements: list[PlacedStatement] = []
        self.moved: dict[tuple[Value, Layout], Placed] = {}

    def chain_of(self, value: Value) -> Chain:
        return (*self.chain, "experts") if value in self.experts else self.chain

    def run(self, statements: Sequence[Statement]) -> None:
        for statement in statements:
            match statement:
                case Invoke():
                    self._invoke(statement)
                case Repeat():
                    self._repeat(statement)
                case Loss():
                    self.statements.append(PlacedLoss(self._mean(statement.value, statement.span), statement.span))
                case Metric():
                    self.statements.append(PlacedMetric(statement, self._mean(statement.value, statement.span)))
                case Update():
                    self._update(statement)
                case _:
                    self._op(statement)

    # ------------------------------------------------------------ operations

    def _op(self, op: Op) -> None:
        chain = self.chain_of(op.result)
        if isinstance(op, Combine | Load | LoadBalance | Dropped) and op.routed not in self.routes:  # E0258 says it
            self.scope.homes[op.result] = Placed(op.result, Layout(self.walk.home(op.result, chain)))
            return
        if isinstance(op, Route):
            self._lay_out(op, chain)
        need = by_row(op, needs(op, self._rules(op, chain)), self.routes, self.scope.homes)
        for trouble in need.trouble:
            self.walk.reports.trouble(trouble, op)
        used = [axes for x in need.operands if not isinstance(x, float | int) for axes in x[1] or ()]
        varying = frozenset(a for axes in (*used, *need.result) for a in axes) | frozenset(need.partial)
        operands = tuple(
            float(x) if isinstance(x, float | int)
            else self.scope.homes[x[0]] if x[1] is None
            else self.bring(x[0], x[1], varying if i and isinstance(op, Route) else varying | need.spread, op.span)
            for i, x in enumerate(need.operands)
        )  # fmt: skip
        if isinstance(op, NextToken):
            operands = (operands[0], self._targets(op, operands[1]))
        result = Placed(op.result, Layout(need.result, need.partial, need.spread))
        self.statements.append(Computed(op, operands, result, need.inner))
        if need.partial and op.result in self.routes and op.result in self.combined_only:
            self.scope.homes[op.result] = result  # summed when the tokens are back, which are fewer
        else:
            self.arrive(result, op.span, chain)

    def _lay_out(self, op: Route, chain: Chain) -> None:
        """Where an expert region's tokens lie: decided once, when they are sent."""
        dims = op.operand.dims[:-1]
        experts = self.walk.claimed([d.name for d in op.result.dims if d not in dims], chain).axes[0]
        banks = [w for value, w in self.scope.weights.items() if value in self.experts]
        mlp = {a for w in banks for axes in w.use.axes for a in axes}.difference(experts)
        views = (axes for name, axes in self.walk.book.regrouped.items() if name in chain)
        inside = Inside(experts, frozenset(mlp), frozenset().union(*views), self.walk.book.refined.sizes)
        outer = dict(zip((d.name for d in op.operand.dims), self._axes_in_use(op.operand), strict=True))
        tokens, trouble = lay_out(outer, inside, [self.walk.micro(d) for d in dims])
        if trouble:
            self.walk.reports.trouble(trouble, op)
        uses = self.walk.known_uses.get(op.result)
        self.routed[op] = Routed(op, tokens, frozenset.intersection(*uses) if uses else frozenset())

    def _rules(self, op: Op, chain: Chain) -> Rules:
        return Rules(
            home=self._axes_in_use,
            ruled=lambda value, within: self._ruled(value, (*chain, *within), op.span),
            exchange=lambda axis, within: self._exchange(axis, (*chain, *within)),
            sizes=self.walk.book.refined.sizes,
            partial=lambda value: self.scope.homes[value].layout.partial,
            routed=lambda value: self.routed[self.routes[value]],
        )

    def _ruled(self, value: Value, chain: Chain, span: Span) -> tuple[Axes, ...]:
        """What the rules say of a value; of a routed one's token dims nothing: they lie as they were sent."""
        if value not in self.routes:
            return self.walk.ruled(value, chain, span)
        routed = self.routed[self.routes[value]]
        own = tuple(d for d in value.dims if d.name not in routed.places)
        axes = self.walk.ruled(replace(value, dims=own), chain, span)
        places = {d.name: a for d, a in zip(own, axes, strict=True)}
        experts = places.get(routed.route.experts.name, ())
        sent = {name: tuple(a for a in axes if a not in experts) for name, axes in routed.places.items()}
        places = self._beside_rows(value, routed, sent, places, chain, span)
        taken = {a for axes in places.values() for a in axes}
        sent = {name: tuple(a for a in axes if a not in taken) for name, axes in sent.items()}
        return tuple({**sent, **places}[d.name] for d in value.dims)

    def _beside_rows(
        self, value: Value, routed: Routed, sent: Places, places: Places, chain: Chain, span: Span
    ) -> dict[str, Axes]:
        """Where a routed tensor's own dims lie beside its rows. Along what splits the banks rows are gathered when they
        are sent; what a place further in puts on an axis of theirs is that axis twice, or gives way.
        """
        names = [d.name for d in value.dims if d.name in places]
        claimed, refined = self.walk.claimed(names, chain), self.walk.book.refined
        because = self.walk.found.because.get(routed.route.operand, {})
        rows = {a: (name, because.get(name, ())) for name, axes in sent.items() for a in axes}
        found = dict(places)
        for dim, axis in ((name, a) for name in names for a in places[name] if a in rows):
            rule = next(r for r in claimed.because[dim] if axis in refined.of(r.axes))
            if rule.where_free:
                found[dim] = tuple(a for a in found[dim] if a != axis)
                continue
            row, others = rows[axis]
            other = next((r for r in others if axis in refined.of(r.axes)), rule)
            dims = [d.name for d in value.dims]
            twice = Claimed(claimed.axes, {}, tuple(dims), twice=(Twice(axis, (row, dim), (other, rule)),))
            self.walk.reports.claimed(twice, value.name, span, dims)
        return found

    def _home(self, value: Value, chain: Chain) -> tuple[Axes, ...]:
        if value not in self.routes:
            return self.walk.home(value, chain)
        own = [d.name for d in value.dims if d.name not in self.routed[self.routes[value]].places]
        self.walk.found.because.setdefault(value, self.walk.claimed(own, chain).because)
        return self._ruled(value, chain, value.span)

    def _axes_in_use(self, value: Value) -> tuple[Axes, ...]:
        weight = self.scope.weights.get(value)
        return weight.use.axes if weight else self.scope.homes[value].layout.axes

    def _exchange(self, axis: str, chain: Chain) -> str | None:
        for rule in self.walk.program.exchanges:
            if axis in self.walk.book.refined.of([rule.axis]) and all(name in chain for name in rule.within):
                self.walk.found.exchanged.add(rule)
                return rule.method
        return None

    def _targets(self, op: NextToken, ids: Placed | float) -> Placed:
        """The next ids in place of the ids: a tensor of its own, moved as they are."""
        assert isinstance(ids, Placed)
        self.walk.found.own = False  # its targets are the whole model's
        home = self.scope.homes[op.ids]
        made = self.walk.targets.get((op.ids, op.segments))
        if made is None:
            value = Value(self._unlike_inputs(f"{op.ids.name}_next"), op.ids.dims, Kind.INT, op.ids.span)
            made = self.walk.targets[op.ids, op.segments] = Placed(value, home.layout)
        self.scope.homes[made.value] = made
        return self.bring(made.value, ids.layout.axes, ids.layout.varying, op.span)

    def _unlike_inputs(self, name: str) -> str:
        made = {placed.value.name for placed in self.walk.targets.values()}
        names = made | {value.name for value in self.walk.program.model.inputs}
        return self._unlike_inputs(f"{name}_") if name in names else name

    def bring(self, value: Value, axes: tuple[Axes, ...], varying: frozenset[str], span: Span) -> Placed:
        """The value in these axes, for a use that varies over `varying`; moved once for all who need it so."""
        home = self.scope.homes[value]
        if value in self.scope.weights or value in self.routes:
            self.walk.found.uses.setdefault(value, []).append(varying)
        if value.kind is Kind.INT:
            varying = frozenset(a for dim in axes for a in dim)
        sharded = frozenset(a for dim in axes for a in dim)
        wanted = Layout(axes, (), varying - sharded)
        if home.layout == wanted:
            return home
        if (value, wanted) not in self.moved:
            steps = plan(home.layout, axes, varying)
            self.moved[value, wanted] = self._move(home, Placed(value, wanted), steps, span)
        return self.moved[value, wanted]

    def _move(self, source: Placed, result: Placed, steps: tuple[Step, ...], span: Span) -> Placed:
        if not steps:
            return source
        self.statements.append(Moved(source, result, steps, span))
        return result

    def arrive(self, placed: Placed, span: Span, chain: Chain | None = None) -> Placed:
        """Brings a fresh value to its ruled home, where all later uses find it."""
        axes = self._home(placed.value, chain or self.chain_of(placed.value))
        home = Placed(placed.value, Layout(axes, (), placed.layout.spread))
        if placed.layout == home.layout:
            home = placed
        else:
            home = self._move(placed, home, plan(placed.layout, axes, frozenset(a for d in axes for a in d)), span)
        self.scope.homes[placed.value] = home
        return home

    # ------------------------------------------------------------ the other statements

    def _mean(self, value: Value, span: Span) -> Placed:
        if not value.dims:
            return self.scope.homes[value]
        result = Value(f"{value.name}_mean", (), Kind.FLOAT, span)
        self._op(Reduce("mean", value, value.dims, result, span))
        return self.scope.homes[result]

    def _update(self, update: Update) -> None:
        axes = self.scope.weights[update.weight.value].use.axes
        varying = frozenset(a for dim in axes for a in dim)
        self.statements.append(PlacedUpdate(update, self.bring(update.value, axes, varying, update.span)))

    def _invoke(self, call: Invoke) -> None:
        inputs = tuple(self.scope.homes[v] for v in call.inputs)
        module = self.walk.module(call.module, self.chain, [p.layout for p in inputs])
        given = tuple(Placed(v, p.layout) for v, p in zip(call.outputs, module.outputs, strict=True))
        self.statements.append(PlacedInvoke(module, inputs, given, call.span))
        for placed in given:
            self.arrive(placed, call.span)

    def _repeat(self, repeat: Repeat) -> None:
        body = Body(self.walk, self.chain, repeat.body, self.scope.inner(), self)
        starts = []
        for carry in repeat.carries:
            starts.append(Placed(carry.start, Layout(self.walk.home(carry.start, self.chain))))
            body.scope.homes[carry.start] = starts[-1]
        body.run(repeat.body)
        carries = []
        for carry, start in zip(repeat.carries, starts, strict=True):
            after = Placed(carry.after, Layout(self.walk.home(carry.after, self.chain)))
            carries.append(
                PlacedCarry(carry, self.scope.homes[carry.before], start, body.scope.homes[carry.end], after)
            )
        self.statements.append(PlacedRepeat(repeat, repeat.count, tuple(carries), tuple(body.statements)))
        if self.walk.cut is not None and repeat in self.walk.cut.repeats:
            self.moved = {}  # what follows the stages runs for another microbatch
        for carry in carries:
            self.scope.homes[carry.carry.after] = carry.after
