"""From rules to places: every tensor's axes and every movement between placements. The heart of the compiler.

One principle carries it. The rules give each value its home layout, and each operation a layout it can compute in;
where an operand's home is not what the operation needs, the operand moves; where the result is not at home (partial
sums, a primitive with places of its own), it moves home. Nothing here knows a strategy or an axis by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from meshc.diagnostics.model import Diagnostic
from meshc.semantics import clashes
from meshc.semantics.bodies import Body, Scope
from meshc.semantics.found import Found
from meshc.semantics.memory import Memory
from meshc.semantics.pipeline import Cut, cut_of, pipeline_of, with_rule
from meshc.semantics.placed import (
    Layout,
    Order,
    Placed,
    PlacedModule,
    PlacedProgram,
    PlacedWeight,
)
from meshc.semantics.program import (
    Dim,
    Module,
    Program,
    Value,
    Weight,
)
from meshc.semantics.rules import Claimed
from meshc.semantics.weights import WeightPlaces, places_of
from meshc.source import Span

Axes = tuple[str, ...]
Chain = tuple[str, ...]


def place(
    program: Program, microsteps: int = 1, memory: Memory | None = None
) -> tuple[PlacedProgram, list[Diagnostic]]:
    """Places a program. The result is whole even where rules clash: then one of the claims stands in for both.

    `memory` is that of the checks before, to be used again.
    """
    memory = memory or Memory()
    cut = cut_of(program)
    program = with_rule(program, cut)
    microsteps *= 1 if cut is None else cut.rule.microbatches
    places = places_of(program, microsteps, cut, memory)
    first = Walk(program, places, Found(), microsteps, cut)
    first.model()  # learns along which axes each use of a weight varies
    walk = Walk(program, places, first.found, microsteps, cut)
    model = walk.model()
    places.modules.turn(whole=True)
    found = walk.found
    used = frozenset(spoken for claimed in found.claims for spoken in claimed.used)
    pipeline = None if cut is None else pipeline_of(cut, walk.axes_of_stages, model, found.weights)
    placed = PlacedProgram(
        program,
        walk.book.refined,
        {dim: Order(parts) for dim, parts in walk.book.parts_in_zigzag(found.claims).items()},
        model,
        tuple(found.weights),
        model.inputs,
        walk.targets,
        walk.batch,
        microsteps,
        pipeline,
        found.because,
        frozenset(rule for rule, _ in used),
        found.routes,
        used,
        frozenset(found.exchanged),
        not walk.reports.diagnostics,
    )
    return placed, walk.reports.diagnostics


class Walk:
    """One pass over the program; `known` is what the pass before has found."""

    def __init__(
        self,
        program: Program,
        places: WeightPlaces,
        known: Found,
        microsteps: int,
        cut: Cut | None,
    ) -> None:
        self.program = program
        self.microsteps = microsteps
        self.batch = next((v.dims[0] for v in program.model.inputs if v.dims), None)
        self.places = places
        self.book = places.book
        self.cut = cut
        self.axes_of_stages: Axes = () if cut is None else self.book.refined.of([cut.rule.axis])
        self.known = known
        self.known_uses = known.uses
        self.found = Found()
        self.targets: dict[tuple[Value, Value | None], Placed] = {}
        self.reports = clashes.Reports(program, self.book.refined)

    def model(self) -> PlacedModule:
        inputs = [Layout(self.home(v, (self.program.model.layer,))) for v in self.program.model.inputs]
        return self._module(self.program.model, (), inputs)

    def home(self, value: Value, chain: Chain) -> tuple[Axes, ...]:
        """The ruled axes of a value; remembers why."""
        dims = [d.name for d in value.dims]
        claimed = self.claimed(dims, chain)
        self.found.because.setdefault(value, claimed.because)
        self.reports.claimed(claimed, value.name, value.span, dims)
        return claimed.axes

    def claimed(self, dims: Sequence[str], chain: Chain) -> Claimed:
        """What the rules say of a tensor in use."""
        claimed = self.book.claimed(dims, chain)
        self.found.claims[claimed] = None
        return claimed

    def ruled(self, value: Value, chain: Chain, span: Span) -> tuple[Axes, ...]:
        """What the rules say of a value in a place; reports what is wrong with it."""
        dims = [d.name for d in value.dims]
        claimed = self.claimed(dims, chain)
        self.reports.claimed(claimed, value.name, span, dims)
        return claimed.axes

    def micro(self, dim: Dim) -> Dim:
        """A dim as one microstep sees it."""
        k = self.microsteps
        return replace(dim, size=dim.size // k, real=dim.real // k) if dim == self.batch and dim.size % k == 0 else dim

    def module(self, module: Module, chain: Chain, inputs: Sequence[Layout]) -> PlacedModule:
        """A module called in a place with tensors in these layouts, placed: now, or when it was last asked for."""
        question = (module, chain, tuple(inputs), self.known.modules.get(module))
        found: Found | None = self.places.modules.get(question)
        if found is None:
            outer, asked = self.found, self.reports.asked
            self.found = found = Found()
            found.placed = self._module(module, chain, inputs)
            found.modules[module] = found
            self.found = outer
            found.own = found.own and self.cut is None and self.reports.asked == asked
            if found.own:
                self.places.modules.put(question, found)
        self.found.add(found)
        assert found.placed is not None
        return found.placed

    def _module(self, module: Module, chain: Chain, inputs: Sequence[Layout]) -> PlacedModule:
        chain = (*chain, module.layer)
        body = Body(self, chain, module.body, Scope({}, {}))
        own = tuple(self._weight(weight, body) for weight in module.weights)
        given = tuple(Placed(v, layout) for v, layout in zip(module.inputs, inputs, strict=True))
        for placed in given:
            body.arrive(placed, placed.value.span)
        body.run(module.body)
        outputs = tuple(body.scope.homes[v] for v in module.outputs)
        return PlacedModule(module, own, given, outputs, tuple(body.statements))

    def _weight(self, weight: Weight, body: Body) -> PlacedWeight:
        chain = body.chain_of(weight.value)
        staged = self.cut is not None and weight.value in self.cut.weights
        axes = self.axes_of_stages if staged else ()
        weight = self.cut.at_rest(weight) if self.cut is not None else weight
        found = self.places.places(weight, chain, self.known_uses.get(weight.value), axes)
        placed = found.of(weight)
        for claimed, dims in found.claims:
            self.found.claims[claimed] = None
            self.reports.claimed(claimed, weight.dotted, weight.value.span, dims)
        body.scope.homes[weight.value] = placed.inside
        body.scope.weights[weight.value] = placed
        self.found.weights.append(placed)
        return placed
