"""What a check of waste may read: the placed program with its prices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from meshc.cost.flops import Product, operations, products
from meshc.diagnostics.model import Diagnostic
from meshc.semantics.checks.context import Context
from meshc.semantics.collectives import Collective, Deriver, Settings
from meshc.semantics.flat import Flat
from meshc.semantics.links import Network, network
from meshc.semantics.placed import Moved
from meshc.semantics.program import Kind, Rule, Value

if TYPE_CHECKING:
    from meshc.job.model import Train


@dataclass(frozen=True, eq=False)
class Movement:
    """Of an activation. `sent`: bytes of a device in a step, its way back included."""

    item: Flat
    moved: Moved
    deriver: Callable[[], Deriver]

    @property
    def path(self) -> str:
        return ".".join((*self.item.path, self.moved.source.value.name))

    @cached_property
    def sent(self) -> int:
        return sum(c.bytes_per_device for c in self.deriver().of(self.item))


@dataclass(frozen=True)
class Priced(Context):
    """`train` is what the job says of training; None where there is no job, for all as by default.

    `said` is what has been found already: one cause is said once.
    """

    settings: Settings = field(default_factory=Settings)
    train: Train | None = None
    said: tuple[Diagnostic, ...] = ()

    @cached_property
    def deriver(self) -> Deriver:
        return Deriver(self.placed, self.settings)

    @cached_property
    def movements(self) -> tuple[Movement, ...]:
        """Of activations, ids left out."""
        items = ((i, i.statement) for i in self.flat.statements if isinstance(i.statement, Moved))
        found = (
            Movement(i, m, lambda: self.deriver)
            for i, m in items if m.source.value.kind is Kind.FLOAT and m.source.value not in self._weights
        )  # fmt: skip
        return tuple(found)

    @cached_property
    def of_weights(self) -> tuple[Collective, ...]:
        """What travels of weights in a step, their gradients included; alike ones are not merged."""
        moved = (i for i in self.deriver.flat.statements if self._moves_weight(i))
        trained = (w for w in self.placed.weights if w.weight.trained)
        ways = (c for w in trained for c in self.deriver.of_gradient(w))
        return (*(c for item in moved for c in self.deriver.of(item)), *ways)

    @cached_property
    def of_activations(self) -> tuple[Collective, ...]:
        """All else that travels."""
        items = (i for i in self.deriver.flat.statements if not self._moves_weight(i))
        stages = self.deriver.between_stages(self.placed.pipeline) if self.placed.pipeline else ()
        return (*(c for item in items for c in self.deriver.of(item)), *stages)

    @cached_property
    def bytes_sent(self) -> int:
        """By a device in a step."""
        return sum(c.bytes_per_device for c in (*self.of_weights, *self.of_activations))

    @cached_property
    def _weights(self) -> frozenset[Value]:
        return frozenset(weight.weight.value for weight in self.placed.weights)

    def _moves_weight(self, item: Flat) -> bool:
        return isinstance(item.statement, Moved) and item.statement.source.value in self._weights

    @cached_property
    def products(self) -> tuple[Product, ...]:
        return tuple(products(self.flat))

    @cached_property
    def operations(self) -> dict[Product, float]:
        """Of each product, of a device in a step."""
        return {product: operations(self.deriver, product) for product in self.products}

    @cached_property
    def flops(self) -> float:
        """Of all products of a device in a step."""
        return sum(self.operations.values())

    @cached_property
    def network(self) -> Network | None:
        return network(self.placed, self.slice)

    def says(self, code: str) -> bool:
        return any(diagnostic.code == code for diagnostic in self.said)

    def repeated(self, rule: Rule, dim: str) -> tuple[str, ...]:
        """Of the axes that a rule repeats a dim over those along which it is the same."""
        refined = self.placed.refined
        outer = refined.repeated.get((rule, dim))
        return () if outer is None else tuple(a for a in refined.of(rule.axes) if a not in outer)


PricedCheck = Callable[[Priced], Iterator[Diagnostic]]
