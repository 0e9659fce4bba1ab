"""The resolved program: names bound, dims sized, layers called, strategies expanded.

What `resolve` yields and `place` reads. A `Value` is one tensor with named dims; an operation makes one value from
others. Two values are the same only if they are the same object. A module is one call of a layer (or the model), with
its own parameters and body; the body is in the order in which it runs.

Its tensors, operations and rules have a file each, and all are names of this module.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from meshc.semantics.claims import ExchangeRule, Rest, Rule, StageRule, StrategyUse
from meshc.semantics.operations import (
    Attend,
    Combine,
    Concat,
    Contract,
    CrossEntropy,
    Custom,
    Dropout,
    Dropped,
    Elementwise,
    Load,
    LoadBalance,
    Lookup,
    NextToken,
    Op,
    Reduce,
    Rename,
    Rope,
    Route,
    Slowed,
    Softmax,
    Split,
)
from meshc.semantics.tensors import Axis, Dim, Init, Kind, Value, View, Weight
from meshc.source import SourceFile, Span

__all__ = [
    "Attend",
    "Axis",
    "Carry",
    "Combine",
    "Concat",
    "Contract",
    "CrossEntropy",
    "Custom",
    "Dim",
    "Dropout",
    "Dropped",
    "Elementwise",
    "ExchangeRule",
    "Init",
    "Invoke",
    "Kind",
    "Load",
    "LoadBalance",
    "Lookup",
    "Loss",
    "Metric",
    "Module",
    "NextToken",
    "Op",
    "Program",
    "Reduce",
    "Rename",
    "Repeat",
    "Rest",
    "Rope",
    "Route",
    "Rule",
    "Slowed",
    "Softmax",
    "Split",
    "StageRule",
    "Statement",
    "StrategyUse",
    "Update",
    "Value",
    "View",
    "Weight",
]

# ---------------------------------------------------------------- statements


@dataclass(frozen=True, eq=False)
class Invoke:
    """A call of a layer. `outputs` are the caller's values; `module.outputs` the callee's, in the same order."""

    module: Module
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Carry:
    """A value that a repeat hands from turn to turn.

    What it is before, inside at the start of a turn, inside at its end, and after.
    """

    before: Value
    start: Value
    end: Value
    after: Value


@dataclass(frozen=True, eq=False)
class Repeat:
    """`count` turns of `body`, scanned. Weights of the body carry `count` in their `stack`."""

    count: Dim
    carries: tuple[Carry, ...]
    body: tuple[Statement, ...]
    span: Span


@dataclass(frozen=True, eq=False)
class Loss:
    """Adds the mean of `value` over all its dims to the loss."""

    value: Value
    span: Span


@dataclass(frozen=True, eq=False)
class Metric:
    """Logs the global mean of `value`, under `path`."""

    path: tuple[str, ...]
    value: Value
    span: Span


@dataclass(frozen=True, eq=False)
class Update:
    """`weight := value`, for the next step."""

    weight: Weight
    value: Value
    span: Span


Statement = Op | Invoke | Repeat | Loss | Metric | Update


@dataclass(frozen=True, eq=False)
class Module:
    """One call of a layer, or the model itself.

    `name` is the instance's (unique within its parent), `layer` the layer's. `weights` are its own; `inputs` its own
    values for the tensors it is given. The modules it calls are in its body, also inside repeats.
    """

    name: str
    layer: str
    path: tuple[str, ...]
    weights: tuple[Weight, ...]
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    body: tuple[Statement, ...]
    span: Span  # the layer's name where it is defined


@dataclass(frozen=True, eq=False)
class Program:
    """A spec with every name bound.

    `dims` are all that `dims { }` declares. `uses` are the strategies used, also those that left no rule (an axis of
    size 1), and `of_one` those that such a rule left. `gathered` is what fsdp's option says: `again` or `kept`.
    `counts` has for each of the model's inputs of ids the dim that they count.
    """

    source: SourceFile
    axes: tuple[Axis, ...]
    mesh_span: Span | None
    views: tuple[View, ...]
    dims: dict[str, Dim]
    model: Module
    uses: tuple[StrategyUse, ...]
    rules: tuple[Rule, ...]
    exchanges: tuple[ExchangeRule, ...]
    stages: tuple[StageRule, ...]
    gathered: Literal["again", "kept"]
    counts: dict[str, Dim] = field(default_factory=dict)
    of_one: frozenset[StrategyUse] = frozenset()

    def axis(self, name: str) -> Axis:
        return next(a for v in (self, *self.views) for a in v.axes if a.name == name)
