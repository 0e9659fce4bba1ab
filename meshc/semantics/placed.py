"""The placed program: every tensor's axes and every movement between placements, written out.

What `place` yields; checks, cost, code and editor read this one result. A body here is in the order in which it runs,
like a resolved body, with a `Moved` wherever a tensor changes its placement; printing it statement by statement is
the generated model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from meshc.semantics.program import (
    Carry,
    Dim,
    ExchangeRule,
    Metric,
    Module,
    Op,
    Program,
    Repeat,
    Rest,
    Route,
    Rule,
    Update,
    Value,
    Weight,
)
from meshc.semantics.refine import Refined
from meshc.source import Span

if TYPE_CHECKING:
    from meshc.semantics.pipeline import Pipeline


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a tensor lies.

    axes     for each dim the mesh axes that split it, the slowest first
    partial  axes along which each device holds one addend of the sum
    spread   axes along which devices hold equal values that nevertheless count as different (cast to varying, or
             gathered), so that their gradient is summed over these axes where the tensor was made so, not at each use
    """

    axes: tuple[tuple[str, ...], ...]
    partial: tuple[str, ...] = ()
    spread: frozenset[str] = frozenset()

    @property
    def sharded(self) -> tuple[str, ...]:
        return tuple(a for dim in self.axes for a in dim)

    @property
    def varying(self) -> frozenset[str]:
        """All axes along which `shard_map` must see the tensor as varying."""
        return frozenset(self.sharded) | frozenset(self.partial) | self.spread


@dataclass(frozen=True, eq=False)
class Placed:
    """A value in one layout. The same value in two layouts is two of these."""

    value: Value
    layout: Layout

    @property
    def placement(self) -> dict[str, tuple[str, ...]]:
        return {d.name: a for d, a in zip(self.value.dims, self.layout.axes, strict=True) if a}

    def local_shape(self, sizes: dict[str, int]) -> tuple[int, ...]:
        """Shape of one device's part; `sizes` are the axes'."""
        return local_shape(self.value.dims, self.layout, sizes)


def local_shape(dims: Sequence[Dim], layout: Layout, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """Shape of one device's part. Of a dim that is repeated, with more shards than it has, each device holds one."""
    shards = (math.prod(sizes[axis] for axis in axes) for axes in layout.axes)
    return tuple(max(dim.size // count, 1) for dim, count in zip(dims, shards, strict=True))


@dataclass(frozen=True, slots=True)
class Order:
    """How a dim lies on devices, wherever it is split or whole: in zigzag order.

    Cut into 2 * `parts` chunks, part i of `parts` has chunks i and 2 * parts - 1 - i, so that each has as much of the
    work below the diagonal of a causal mask. On disk and in host arrays the order is the natural one.
    """

    parts: int


StepKind = Literal[
    "all_gather",  # dim whole over axes; backward: reduce-scatter
    "all_gather_invariant",  # the same where the result is used alike on all devices of the axes; backward: a slice
    "reduce_scatter",  # sum over axes, each keeping its part of dim; backward: all-gather
    "all_reduce",  # sum over axes; backward: nothing
    "all_reduce_max",  # maximum over axes; not differentiated
    "all_to_all",  # axes move from dim `source` to dim `dim`; backward: the reverse
    "slice",  # each keeps its part of dim, of a tensor equal along axes; backward: all-gather
    "slice_varying",  # the same of a tensor that counts as varying already; backward: zeros elsewhere
    "cast",  # counts as varying over axes from here; backward: all-reduce
]


@dataclass(frozen=True, slots=True)
class Step:
    """One movement of a tensor over `axes`: of its dim number `dim` (and for all_to_all from dim number `source`)."""

    kind: StepKind
    axes: tuple[str, ...]
    dim: int | None = None
    source: int | None = None


@dataclass(frozen=True, eq=False)
class Moved:
    """`source` brought into `result`'s layout by `steps`, in order.

    `span` is the statement or weight that asks for it.
    """

    source: Placed
    result: Placed
    steps: tuple[Step, ...]
    span: Span


@dataclass(frozen=True, eq=False)
class Computed:
    """An operation on local parts. `operands` stand in the order of the op's fields; a float where the op has a number.

    The result may be partial; then the next statement reduces it. `inner` are collectives inside the operation (the
    sums of a vocabulary-parallel cross entropy, of a softmax over a split dim), each over the named axes.
    """

    op: Op
    operands: tuple[Placed | float, ...]
    result: Placed
    inner: tuple[InnerCollective, ...] = ()


@dataclass(frozen=True, slots=True)
class InnerCollective:
    """A collective inside an operation, of `local_elements` of one device, `times` in the forward pass.

    width   of an element: as sums or as what is computed with (None: by the op), or of a count
    fixed   the elements are as many for a microbatch as for the batch
    once    the result is kept for the backward pass, whatever else is not
    ragged_elements  what really travels of an all_to_all where XLA has the ragged form; padded, it is local_elements
    """

    op: Literal["all_reduce", "all_reduce_max", "collective_permute", "all_gather", "reduce_scatter", "all_to_all"]
    axes: tuple[str, ...]
    local_elements: int
    times: int
    backward: int  # how many the backward pass has
    label: str
    width: Literal["sum", "compute", "int"] | None = None
    fixed: bool = False
    once: bool = False
    ragged_elements: int | None = None


@dataclass(frozen=True, eq=False)
class PlacedInvoke:
    module: PlacedModule
    inputs: tuple[Placed, ...]
    outputs: tuple[Placed, ...]
    span: Span


@dataclass(frozen=True, eq=False)
class PlacedCarry:
    carry: Carry
    before: Placed
    start: Placed
    end: Placed
    after: Placed


@dataclass(frozen=True, eq=False)
class PlacedRepeat:
    repeat: Repeat
    count: Dim
    carries: tuple[PlacedCarry, ...]
    body: tuple[PlacedStatement, ...]


@dataclass(frozen=True, eq=False)
class PlacedLoss:
    """A term of the loss: a scalar, equal on all devices."""

    value: Placed
    span: Span


@dataclass(frozen=True, eq=False)
class PlacedMetric:
    metric: Metric
    value: Placed


@dataclass(frozen=True, eq=False)
class PlacedUpdate:
    update: Update
    value: Placed


PlacedStatement = Moved | Computed | PlacedInvoke | PlacedRepeat | PlacedLoss | PlacedMetric | PlacedUpdate


@dataclass(frozen=True, eq=False)
class PlacedWeight:
    """A weight's four places.

    Layouts are of `weight.dims` (stack dims first), except `use`, which is of `weight.value.dims`.
    `inside` is the weight as a body sees it before any gather: its rest layout without the stack dims, spread over
    `summed`. `summed` are the axes along which its gradient differs from device to device and that no gather's
    transpose reduces: the weight is cast to varying over them before differentiation and the gradient reduced over
    them afterwards, each microstep over those that `grads` adds to `rest`, once at the end over the others.
    `to_grads` brings the gradient of one microstep, partial over `summed`, from the rest layout into `grads`;
    `to_optimizer` the accumulated one into `optimizer`; `to_rest` the updated weight from `optimizer` back. All speak
    of `weight.dims`. `because` tells for each place and dim name the rules that put it there.
    """

    weight: Weight
    use: Layout
    rest: Layout
    grads: Layout
    optimizer: Layout
    inside: Placed
    summed: tuple[str, ...]
    to_grads: tuple[Step, ...]
    to_optimizer: tuple[Step, ...]
    to_rest: tuple[Step, ...]
    because: dict[tuple[Rest, str], tuple[Rule, ...]]


@dataclass(frozen=True, eq=False)
class PlacedModule:
    module: Module
    weights: tuple[PlacedWeight, ...]
    inputs: tuple[Placed, ...]
    outputs: tuple[Placed, ...]
    body: tuple[PlacedStatement, ...]


@dataclass(frozen=True, eq=False)
class PlacedProgram:
    """All layouts speak of the axes of `refined`, those of the device mesh that the program runs on.

    `weights` are those of all modules, in order of the text.
    """

    program: Program
    refined: Refined
    orders: dict[str, Order]  # by name of the plain dim, of those whose order on devices is not the natural one
    model: PlacedModule
    weights: tuple[PlacedWeight, ...]
    inputs: tuple[Placed, ...]
    targets: dict[tuple[Value, Value | None], Placed]  # by ids, and the segments in which the next one counts
    batch: Dim | None
    microsteps: int  # all microbatches, those of a pipeline included
    pipeline: Pipeline | None
    because: dict[Value, dict[str, tuple[Rule, ...]]]  # which rules placed a value's dims
    spoken: frozenset[Rule]  # the rules that speak of some tensor
    routes: dict[Value, Route]  # of what is routed (lies in its experts' slots), the operation that sent it
    spoken_of: frozenset[tuple[Rule, str]]  # and of which dims
    exchanged: frozenset[ExchangeRule]  # those that move the keys of some attention
    sound: bool  # no two claims clash

    @property
    def sizes(self) -> dict[str, int]:
        """Of all axes larger than 1, in mesh order."""
        return self.refined.sizes

    @property
    def devices(self) -> int:
        return math.prod(axis.size for axis in self.program.axes)

    @property
    def fed(self) -> tuple[Placed, ...]:
        """All that the host hands in: the inputs, and the targets that it makes of them."""
        return (*self.inputs, *self.targets.values())

    def shards(self, axes: Sequence[str]) -> int:
        """Parts of a dim that lies on these axes."""
        return math.prod(self.sizes[axis] for axis in axes)

    def order(self, dim: Dim) -> Order | None:
        """The order in which a dim lies on devices; None where it is the natural one."""
        return self.orders.get(dim.base)

    @property
    def accumulated(self) -> int:
        """Times that gradients are made in a step, to be added up: microsteps, each with all of a pipeline's."""
        return self.microsteps // (1 if self.pipeline is None else self.pipeline.microbatches)

    def added_up(self, weight: PlacedWeight) -> Layout:
        """Where gradients lie while microbatches add up: in a pipeline, which runs many at once, where weights rest."""
        return weight.grads if self.pipeline is None else weight.rest

    def micro(self, dims: Sequence[Dim]) -> tuple[Dim, ...]:
        """The dims of one microstep's part of a tensor."""
        k = self.microsteps
        return tuple(replace(d, size=d.size // k, real=d.real // k) if d == self.batch else d for d in dims)
