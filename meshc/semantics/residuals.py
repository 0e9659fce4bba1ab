"""What the backward pass needs of the forward one, and so what rematerialisation computes, and communicates, again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from meshc.semantics.flat import Flat, FlatProgram
from meshc.semantics.placed import Computed, Moved, Placed, PlacedLoss, PlacedProgram, PlacedRepeat
from meshc.semantics.program import (
    Attend,
    Combine,
    Contract,
    CrossEntropy,
    Custom,
    Elementwise,
    Kind,
    LoadBalance,
    Lookup,
    NextToken,
    Op,
    Reduce,
    Route,
    Softmax,
)

Remat = Literal["none", "attention", "dots", "full"]

LINEAR = frozenset({"add", "sub", "neg", "float32"})


@dataclass(frozen=True)
class Residuals:
    """`saved` tensors wait for the backward pass; the statements `again` run in it once more."""

    again: frozenset[Flat]
    saved: frozenset[Placed]


class Differentiation:
    """Which placed tensors have a gradient (they depend on weights, the loss on them), and which residuals it needs."""

    def __init__(self, program: PlacedProgram, flat: FlatProgram) -> None:
        self.flat = flat
        self.pipeline = program.pipeline
        self.producers: dict[Placed, Flat] = {}
        self.depends: set[Placed] = {flat.of(w.inside) for w in program.weights if w.weight.trained}
        self.counts: set[Placed] = set()
        for item in flat.statements:
            match item.statement:
                case Moved(source=source, result=result):
                    self._learn(item, (source,), result)
                case Computed(operands=operands, result=result):
                    self._learn(item, [x for x in operands if isinstance(x, Placed)], result)
        for _ in range(2):  # the second time through finds what a repeat hands from turn to turn
            for item in reversed(flat.statements):
                self._reach(item)

    def _learn(self, item: Flat, sources: Iterable[Placed], result: Placed) -> None:
        self.producers.setdefault(self.flat.of(result), item)
        if result.value.kind is Kind.FLOAT and any(self.flat.of(s) in self.depends for s in sources):
            self.depends.add(self.flat.of(result))

    def _reach(self, item: Flat) -> None:
        match item.statement:
            case PlacedLoss(value=value):
                self.counts.add(self.flat.of(value))
            case Moved(source=source, result=result) if self.flat.of(result) in self.counts:
                self.counts.add(self.flat.of(source))
            case Computed(operands=operands, result=result) if self.flat.of(result) in self.counts:
                self.counts |= {self.flat.of(x) for x in operands if isinstance(x, Placed)}

    def has_gradient(self, placed: Placed) -> bool:
        placed = self.flat.of(placed)
        return placed in self.depends and placed in self.counts

    def residuals(self, statement: Computed) -> list[Placed]:
        """The operands that the gradient of an operation is computed from."""
        if not self.has_gradient(statement.result):
            return []
        operands = [self.flat.of(x) if isinstance(x, Placed) else x for x in statement.operands]
        wanted = [isinstance(x, Placed) and x in self.depends for x in operands]
        needed = _needed(statement.op, wanted)
        return [x for x, need in zip(operands, needed, strict=True) if need and isinstance(x, Placed)]

    def plan(self, remat: Remat, kept: bool, weights: frozenset[Placed]) -> Residuals:
        """What the backward pass finds in memory, and what it has to compute again.

        `weights` are the weights before their gathers; `kept` says that gathered ones are residuals.
        """
        again: set[Flat] = set()
        saved: set[Placed] = set()
        computed = [item.statement for item in self.flat.statements if isinstance(item.statement, Computed)]
        pending = [p for statement in computed for p in self.residuals(statement)]
        seen: set[Placed] = set()
        while pending:
            placed = pending.pop()
            if placed in seen:
                continue
            seen.add(placed)
            item = self.producers.get(placed)
            once = placed in self.flat.carried
            if item is None or item.region is None or once or self._saved(item, remat, kept, weights):
                saved.add(placed)
            else:
                again.add(item)
                pending += self._sources(item)
        return Residuals(frozenset(again), frozenset(saved))

    def recomputed(self, kept: Residuals, whole_turns: Callable[[PlacedRepeat], bool]) -> frozenset[Flat]:
        """What a pipeline's backward slots compute again, from what stages are given, to have the residuals `kept`.

        Of what comes before the stages no less. `whole_turns`: of which repeats a turn's end is needed again, since
        other turns follow.
        """
        found: set[Flat] = set()
        for item in self.flat.statements:
            match item.part, item.statement:
                case "stage", Moved(result=result) | Computed(result=result):
                    root = self.flat.of(result)
                    carried = root in self.flat.carried
                    if (carried and item.region and whole_turns(item.region)) or (root in kept.saved and not carried):
                        self._with_sources(item, found)
                case "before", Computed() as computed:
                    for residual in self.residuals(computed):
                        producer = self.producers.get(residual)
                        if producer is not None and producer.part == "before":
                            self._with_sources(producer, found)
        return frozenset(found)

    def _with_sources(self, item: Flat, found: set[Flat]) -> None:
        """Adds a statement and what it is computed from, as far as that is in the same part."""
        pending = [item]
        while pending:
            item = pending.pop()
            if item in found:
                continue
            found.add(item)
            for source in self._sources(item):
                producer = self.producers.get(source)
                given = producer is None or (item.part == "stage" and source in self.flat.carried)
                if producer is not None and not given and producer.part == item.part:
                    pending.append(producer)

    def _sources(self, item: Flat) -> list[Placed]:
        match item.statement:
            case Moved(source=source):
                return [self.flat.of(source)]
            case Computed(operands=operands):
                return [self.flat.of(x) for x in operands if isinstance(x, Placed)]
        return []

    def _saved(self, item: Flat, remat: Remat, kept: bool, weights: frozenset[Placed]) -> bool:
        statement = item.statement
        if self.pipeline is not None and self.pipeline.alone(item.region):
            return True
        if isinstance(statement, Moved) and self.flat.of(statement.source) in weights:
            return kept
        match remat:
            case "none" | "attention":
                return True
            case "dots":
                return isinstance(statement, Computed) and _plain_product(statement.op)
            case "full":
                return False


def _plain_product(op: Op) -> bool:
    """A product without batched dims, before its sums are reduced: what jax's `dots_with_no_batch_dims` keeps."""
    return isinstance(op, Contract) and not any(d in op.right.dims and d not in op.over for d in op.left.dims)


def _needed(op: Op, wanted: list[bool]) -> list[bool]:
    """For each operand whether a gradient needs it; `wanted` says which operands have one."""
    others = [any(w for j, w in enumerate(wanted) if j != i) for i in range(len(wanted))]
    match op:
        case Contract():
            return others
        case Elementwise(function="mul"):
            return others
        case Elementwise(function="div"):
            return [wanted[1], any(wanted)]
        case Elementwise(function=function) if function in LINEAR:
            return [False] * len(wanted)
        case Route():  # sending is linear; what a weight is divided by is not
            return [False, any(wanted), *[False] * (len(wanted) - 2)]
        case Elementwise() | Softmax() | Attend() | NextToken() | CrossEntropy() | Custom() | Combine() | LoadBalance():
            return [any(wanted)] * len(wanted)
        case Lookup():
            return [False, any(wanted)]
        case Reduce(function="max" | "logsumexp"):
            return [any(wanted)] * len(wanted)
        case _:
            return [False] * len(wanted)
