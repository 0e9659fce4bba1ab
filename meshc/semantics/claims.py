"""The resolved program's rules, strategies expanded: what is claimed of which tensors, and by whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from meshc.source import Span


@dataclass(frozen=True, eq=False)
class StrategyUse:
    """A strategy as used in `partition`; `span` is the call. Rules written directly in `partition` have none."""

    name: str
    text: str
    span: Span


class Rest(Enum):
    """Which tensors a rule speaks of: those in use, or weights, gradients, optimizer state at rest."""

    USE = "use"
    PARAMS = "params"
    GRADS = "grads"
    OPTIMIZER = "optimizer"

    __hash__ = object.__hash__  # Enum's own hashes the name, in Python, at each look-up


@dataclass(frozen=True, eq=False)
class Rule:
    """One claim, strategies expanded and axes bound.

    Axes of size 1 are gone; a rule left without axes by that is gone too.
    `within` names the layer or primitive (nested ones outermost first) it is confined to; `of` is a weight path or
    glob.
    `axes` empty and not `append`: the dims are cleared.
    `stacks`: of a rule that a pipeline stands for, the weights that it speaks of.
    `calls`: the strategies by way of which it was reached, from the one used in `partition`, its `origin`, inwards.
    """

    rest: Rest
    within: tuple[str, ...]
    of: str | None
    dims: tuple[str, ...]
    first: bool
    axes: tuple[str, ...]
    append: bool
    where_free: bool
    zigzag: bool
    repeat: bool
    origin: StrategyUse | None
    span: Span
    stacks: frozenset[str] | None = None
    calls: tuple[StrategyUse, ...] = ()

    @property
    def place(self) -> Span:
        """Where the user wrote it: the use of the strategy that it is of, else itself."""
        return self.origin.span if self.origin else self.span


@dataclass(frozen=True, eq=False)
class ExchangeRule:
    within: tuple[str, ...]
    what: str
    method: str
    axis: str
    origin: StrategyUse | None
    span: Span

    @property
    def place(self) -> Span:
        """Where the user wrote it: the use of the strategy that it is of, else itself."""
        return self.origin.span if self.origin else self.span


@dataclass(frozen=True, eq=False)
class StageRule:
    """`stage dim over axis`, with the options of the pipeline strategy that it came from."""

    dim: str
    axis: str
    microbatches: int
    schedule: str
    rounds: int
    stages: tuple[int, ...] | None
    origin: StrategyUse | None
    span: Span
    given: Mapping[str, Span] = field(default_factory=dict)  # where options are written

    @property
    def place(self) -> Span:
        """Where the user wrote it: the use of the strategy that it is of, else itself."""
        return self.origin.span if self.origin else self.span
