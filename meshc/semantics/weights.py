"""The four places of a weight: in use, at rest, its gradient's, its optimizer state's; and the ways between them."""

from __future__ import annotations

from dataclasses import dataclass

from meshc.semantics.moves import plan
from meshc.semantics.placed import Layout, Placed, PlacedWeight, Step
from meshc.semantics.program import Rest, Rule, Weight
from meshc.semantics.rules import RuleBook

Axes = tuple[str, ...]


@dataclass(frozen=True)
class WeightPlaces:
    """`uses` are the axes along which each use of the weight varies (None before they are known).

    `stages` are those along which its stack is cut into stages.
    """

    book: RuleBook
    chain: tuple[str, ...]
    uses: list[frozenset[str]] | None
    stages: Axes = ()

    def place(self, weight: Weight) -> PlacedWeight:
        path = weight.dotted
        inner = [d.name for d in weight.value.dims]
        because: dict[tuple[Rest, str], tuple[Rule, ...]] = {}
        layouts: dict[Rest, tuple[Axes, ...]] = {}
        for rest in Rest:
            dims = inner if rest is Rest.USE or not weight.trained else [d.name for d in weight.dims]
            place = rest if weight.trained else Rest.USE
            claimed = self.book.claimed(dims, self.chain, place, path)
            layouts[rest] = claimed.axes if rest is Rest.USE or weight.trained else self._stacked(weight, claimed.axes)
            because |= {(rest, dim): rules for dim, rules in claimed.because.items()}
        rest = layouts[Rest.PARAMS]
        summed = self._summed(rest, weight)
        inside = Layout(rest[len(weight.stack) :], (), frozenset(summed))
        grads, optimizer = layouts[Rest.GRADS], layouts[Rest.OPTIMIZER]
        to_grads, to_optimizer = _gradient_way(rest, grads, optimizer, summed)
        return PlacedWeight(
            weight,
            Layout(layouts[Rest.USE]),
            Layout(rest),
            Layout(grads),
            Layout(optimizer),
            Placed(weight.value, inside),
            summed,
            to_grads,
            to_optimizer,
            plan(Layout(optimizer), rest, frozenset()),
            because,
        )

    def _summed(self, rest: tuple[Axes, ...], weight: Weight) -> Axes:
        """Axes along which every use varies and the weight at rest does not, in mesh order."""
        if not self.uses or not weight.trained:
            return ()
        common = frozenset.intersection(*self.uses) - {a for axes in rest for a in axes}
        return tuple(sorted(common, key=self.book.order.__getitem__))

    def _stacked(self, weight: Weight, axes: tuple[Axes, ...]) -> tuple[Axes, ...]:
        stack = ((),) * len(weight.stack)
        return (self.stages, *stack[1:], *axes) if self.stages else stack + axes


def _gradient_way(
    rest: tuple[Axes, ...], grads: tuple[Axes, ...], optimizer: tuple[Axes, ...], summed: Axes
) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Steps each microstep into `grads` (which sum only over axes that it adds), and once into `optimizer`."""
    early = tuple(a for axes in grads for a in axes if a in summed)
    late = tuple(a for a in summed if a not in early)
    to_grads = plan(Layout(rest, early, frozenset(late)), grads, frozenset())
    return to_grads, plan(Layout(grads, late), optimizer, frozenset())
