"""The four places of a weight: in use, at rest, its gradient's, its optimizer state's; and the ways between them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from meshc.semantics.found import Found
from meshc.semantics.memory import Answers, Memory
from meshc.semantics.moves import plan
from meshc.semantics.pipeline import Cut
from meshc.semantics.placed import Layout, Placed, PlacedWeight, Step
from meshc.semantics.program import Program, Rest, Rule, Weight
from meshc.semantics.rules import Claimed, RuleBook

Axes = tuple[str, ...]


@dataclass(frozen=True)
class Places:
    """The layouts of a weight and the ways between them, as `PlacedWeight` has them."""

    use: Layout
    rest: Layout
    grads: Layout
    optimizer: Layout
    inside: Layout
    summed: Axes
    to_grads: tuple[Step, ...]
    to_optimizer: tuple[Step, ...]
    to_rest: tuple[Step, ...]
    because: dict[tuple[Rest, str], tuple[Rule, ...]]
    claims: tuple[tuple[Claimed, list[str]], ...]  # what the rules say of each place, of which dims

    def of(self, weight: Weight) -> PlacedWeight:
        return PlacedWeight(
            weight, self.use, self.rest, self.grads, self.optimizer, Placed(weight.value, self.inside), self.summed,
            self.to_grads, self.to_optimizer, self.to_rest, self.because,
        )  # fmt: skip


@dataclass(eq=False)
class WeightPlaces:
    """The places of weights by the rules of a program; found once for all weights that no rule tells apart.

    modules: what was placed by these rules, by module and the layouts of what it is given
    """

    book: RuleBook
    modules: Answers[Found] = field(default_factory=lambda: Answers["Found"]())
    _memo: dict[Hashable, Places] = field(default_factory=dict)

    def places(
        self, weight: Weight, chain: tuple[str, ...], uses: list[frozenset[str]] | None, stages: Axes = ()
    ) -> Places:
        """`uses` are the axes along which each use of the weight varies (None before they are known).

        `stages` are those along which its stack is cut into stages.
        """
        common = frozenset.intersection(*uses) if uses and weight.trained else frozenset[str]()
        inner = tuple([d.name for d in weight.value.dims])
        stack = tuple([d.name for d in weight.stack])
        key = (inner, stack, weight.trained, self.book.met_by(chain, weight.path), common, stages)
        if key not in self._memo:
            self._memo[key] = self._lay_out(weight, chain, common, stages)
        return self._memo[key]

    def _lay_out(self, weight: Weight, chain: tuple[str, ...], common: frozenset[str], stages: Axes) -> Places:
        path = weight.dotted
        inner = [d.name for d in weight.value.dims]
        because: dict[tuple[Rest, str], tuple[Rule, ...]] = {}
        layouts: dict[Rest, tuple[Axes, ...]] = {}
        claims: list[tuple[Claimed, list[str]]] = []
        for rest in Rest:
            dims = inner if rest is Rest.USE or not weight.trained else [d.name for d in weight.dims]
            claimed = self.book.claimed(dims, chain, rest if weight.trained else Rest.USE, path)
            layouts[rest] = (
                claimed.axes if rest is Rest.USE or weight.trained else _stacked(weight, claimed.axes, stages)
            )
            because |= {(rest, dim): rules for dim, rules in claimed.because.items()}
            claims.append((claimed, dims))
        rest = layouts[Rest.PARAMS]
        # Axes along which every use varies and the weight at rest does not, in mesh order.
        summed = tuple(sorted(common - {a for axes in rest for a in axes}, key=self.book.order.__getitem__))
        inside = Layout(rest[len(weight.stack) :], (), frozenset(summed))
        grads, optimizer = layouts[Rest.GRADS], layouts[Rest.OPTIMIZER]
        return Places(
            Layout(layouts[Rest.USE]), Layout(rest), Layout(grads), Layout(optimizer), inside, summed,
            *_gradient_way(rest, grads, optimizer, summed), plan(Layout(optimizer), rest, frozenset()), because,
            tuple(claims if weight.trained else claims[:1]),
        )  # fmt: skip


def _stacked(weight: Weight, axes: tuple[Axes, ...], stages: Axes) -> tuple[Axes, ...]:
    stack = ((),) * len(weight.stack)
    return (stages, *stack[1:], *axes) if stages else stack + axes


def _gradient_way(
    rest: tuple[Axes, ...], grads: tuple[Axes, ...], optimizer: tuple[Axes, ...], summed: Axes
) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Steps each microstep into `grads` (which sum only over axes that it adds), and once into `optimizer`."""
    early = tuple(a for axes in grads for a in axes if a in summed)
    late = tuple(a for a in summed if a not in early)
    to_grads = plan(Layout(rest, early, frozenset(late)), grads, frozenset())
    return to_grads, plan(Layout(grads, late), optimizer, frozenset())


MOST_BOOKS = 2
"""Of programs that differ in their rules: this one's and the last one's, for who tries a rule and takes it back."""


def places_of(program: Program, microsteps: int, cut: Cut | None, memory: Memory) -> WeightPlaces:
    """The book of a program's rules; an earlier one where these are the same, and then what followed of them."""
    if cut is not None:
        return WeightPlaces(RuleBook(program))
    question = (
        program.rules, program.exchanges, program.axes, program.views, program.dims, microsteps,
        program.model.inputs and program.model.inputs[0].dims,
    )  # fmt: skip
    found = next((book for known, book in memory.books if known == question), None) or WeightPlaces(RuleBook(program))
    others = [(known, book) for known, book in memory.books if book is not found]
    memory.books[:] = [*others[1 - MOST_BOOKS :], (question, found)]
    return found
