"""What placing a module finds besides the placed module: for the whole program, and to be found again with it."""

from __future__ import annotations

from dataclasses import dataclass, field

from meshc.semantics.placed import PlacedModule, PlacedWeight
from meshc.semantics.program import ExchangeRule, Module, Route, Rule, Value
from meshc.semantics.rules import Claimed


@dataclass(eq=False)
class Found:
    """Of one module with all that it calls, or of a whole program.

    uses: of a weight or routed value, the axes along which each use varies
    because: which rules placed a value's dims
    claims: what was asked of the rules
    modules: what was found of each module called, itself included
    own: whether all of it is the module's own affair, so that it is found again where the module is
    """

    weights: list[PlacedWeight] = field(default_factory=list)
    uses: dict[Value, list[frozenset[str]]] = field(default_factory=dict)
    because: dict[Value, dict[str, tuple[Rule, ...]]] = field(default_factory=dict)
    routes: dict[Value, Route] = field(default_factory=dict)
    exchanged: set[ExchangeRule] = field(default_factory=set)
    claims: dict[Claimed, None] = field(default_factory=dict)  # in the order in which they came up
    modules: dict[Module, Found] = field(default_factory=dict)
    placed: PlacedModule | None = None
    own: bool = True

    def add(self, inner: Found) -> None:
        """Takes in what was found of a module called."""
        self.weights += inner.weights
        self.uses.update(inner.uses)
        self.because.update(inner.because)
        self.routes.update(inner.routes)
        self.exchanged |= inner.exchanged
        self.claims.update(inner.claims)
        self.modules.update(inner.modules)
        self.own = self.own and inner.own
