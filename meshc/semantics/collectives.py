"""All collectives of a training step, read off the placed program: what travels, over which axes, how often, how much.

Bytes are what one device sends in a step by the ring algorithms (Patarasu and Yuan, 2009): (n-1)/n of the whole for a
gather or scatter, twice that for an all-reduce, (n-1)/n of its own part for an all-to-all, its part for a permutation.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from meshc.semantics.flat import Flat, flatten
from meshc.semantics.pipeline import Pipeline
from meshc.semantics.placed import (
    Computed,
    InnerCollective,
    Layout,
    Moved,
    Placed,
    PlacedProgram,
    PlacedWeight,
    Step,
    local_shape,
)
from meshc.semantics.program import Dim, Kind, Value
from meshc.semantics.residuals import Differentiation, Remat
from meshc.semantics.routing import lying
from meshc.source import Span

CollectiveOp = Literal["all-gather", "reduce-scatter", "all-reduce", "all-to-all", "collective-permute"]
Phase = Literal["forward", "backward", "update"]


@dataclass(frozen=True, slots=True)
class Settings:
    """What of a job decides traffic: bytes of an element at rest and in use, what is rematerialised, and whether XLA
    has an all-to-all of as many rows as there are (all but the CPU's).
    """

    param_bytes: int = 4
    compute_bytes: int = 4
    remat: Remat = "attention"
    ragged: bool = False

    @property
    def sum_bytes(self) -> int:
        """Of a sum inside an operation: float32, or wider if all is."""
        return max(4, self.compute_bytes)

    @property
    def state_bytes(self) -> int:
        """Of what is carried from step to step: float32, or wider if weights are."""
        return max(4, self.param_bytes)

    def gradient_bytes(self, added_up: bool) -> int:
        """Of a weight's gradient: as wide as the weight, or float32 where it is the sum of several."""
        return max(4, self.param_bytes) if added_up else self.param_bytes

    def bytes_of(self, value: Value) -> int:
        """Of an element in use; ids are int32."""
        return 4 if value.kind is Kind.INT else self.compute_bytes


@dataclass(frozen=True, slots=True)
class Collective:
    """`count` runs in a step; `bytes_per_device` of all; `span` is where the spec causes it.

    tensor: its path; of what is moved inside of an operation, the layer's and what it is (`Llama.attention: keys`)

    Where layers are cut unevenly into stages, bytes are the mean of the devices, and `count` is rounded up.
    """

    op: CollectiveOp
    axes: tuple[str, ...]
    tensor: str
    phase: Phase
    count: int
    bytes_per_device: int
    span: Span

    @property
    def path(self) -> str:
        """Of the tensor, or of the layer."""
        return self.tensor.partition(":")[0]

    @property
    def what(self) -> str:
        """Of what is moved inside of an operation: what it is; empty for a tensor."""
        return self.tensor.partition(": ")[2]


FORWARD: dict[str, CollectiveOp] = {
    "all_gather": "all-gather",
    "all_gather_invariant": "all-gather",
    "reduce_scatter": "reduce-scatter",
    "all_reduce": "all-reduce",
    "all_reduce_max": "all-reduce",
    "all_to_all": "all-to-all",
}
BACKWARD: dict[str, CollectiveOp] = {
    "all_gather": "reduce-scatter",
    "reduce_scatter": "all-gather",
    "all_to_all": "all-to-all",
    "slice": "all-gather",
    "cast": "all-reduce",
}


def derive(program: PlacedProgram, settings: Settings = Settings()) -> tuple[Collective, ...]:
    """Every collective of one training step, alike ones merged, in the order in which they first happen."""
    return tuple(_merged(Deriver(program, settings).all()))


def sent(collectives: Iterable[Collective]) -> dict[tuple[CollectiveOp, tuple[str, ...]], int]:
    """Bytes a device and step, of each kind over each group of axes."""
    total: dict[tuple[CollectiveOp, tuple[str, ...]], int] = {}
    for c in collectives:
        total[c.op, c.axes] = total.get((c.op, c.axes), 0) + c.bytes_per_device
    return total


def wire_elements(op: CollectiveOp, whole: float, shards: int) -> float:
    """Elements that a device sends; `whole` is the larger side of a gather or scatter, else its own part."""
    match op:
        case "all-gather" | "reduce-scatter" | "all-to-all":
            return whole * (shards - 1) / shards
        case "all-reduce":
            return 2 * whole * (shards - 1) / shards
        case "collective-permute":
            return whole


class Deriver:
    """The collectives of one program; `again` are the statements that rematerialisation runs once more."""

    def __init__(self, program: PlacedProgram, settings: Settings) -> None:
        self.program = program
        self.settings = settings
        self.flat = flatten(program)
        self.gradient = Differentiation(program, self.flat)
        weights = frozenset(self.flat.of(w.inside) for w in program.weights)
        kept = program.program.gathered == "kept"
        residuals = self.gradient.plan(settings.remat, kept, weights)
        self.again = residuals.again
        self.recomputed: frozenset[Flat] = frozenset()
        if program.pipeline is not None:
            self.recomputed = self.gradient.recomputed(residuals, program.pipeline.goes_on)

    def all(self) -> Iterator[Collective]:
        for item in self.flat.statements:
            yield from self.of(item)
        for weight in self.program.weights:
            if weight.weight.trained:
                yield from self.of_gradient(weight)
        if self.program.pipeline is not None:
            yield from self.between_stages(self.program.pipeline)

    def of(self, item: Flat) -> Iterator[Collective]:
        """Those of one statement, its way back included."""
        match item.statement:
            case Moved():
                yield from self._moved(item, item.statement)
            case Computed():
                yield from self._inner(item, item.statement)

    def runs_again(self, item: Flat) -> int:
        """How often a statement runs in the backward pass: for a pipeline's backward slot, and within that."""
        return (item in self.again) + (item in self.recomputed)

    def between_stages(self, pipeline: Pipeline) -> Iterator[Collective]:
        """What goes from stage to stage, and out of the last and back out of the first one to all that share the rest.

        A hop is of all devices at once, whoever has something to send.
        """
        schedule, span = pipeline.schedule, pipeline.cut.rule.place
        hops, leaves = (n * self.program.accumulated for n in (schedule.hops, pipeline.microbatches))
        for slot in pipeline.slots:
            dims = self.program.micro(slot.before.value.dims)
            own = math.prod(local_shape(dims, slot.before.layout, self.program.sizes))
            size = own * self.settings.bytes_of(slot.before.value)
            path = f"{self.program.model.module.name}.{slot.before.value.name}"
            for phase in ("forward", "backward"):
                yield self._collective("collective-permute", pipeline.axes, path, phase, hops, size, span)
                yield self._collective("all-reduce", pipeline.axes, path, phase, leaves, size, span)
        for weight in pipeline.shared:
            elements = math.prod(local_shape(weight.weight.dims, weight.rest, self.program.sizes))
            size, path = elements * self.settings.state_bytes, weight.weight.dotted
            yield self._collective("all-reduce", pipeline.axes, path, "backward", self.program.accumulated, size, span)

    def _moved(self, item: Flat, moved: Moved) -> Iterator[Collective]:
        for step, whole in self._sent(moved):
            if op := FORWARD.get(step.kind):
                yield self._movement(item, moved, op, step, whole, "forward")
                for _ in range(self.runs_again(item)):
                    yield self._movement(item, moved, op, step, whole, "backward")
        yield from self.back(item, moved)

    def back(self, item: Flat, moved: Moved) -> Iterator[Collective]:
        """Of a movement's transpose, in the backward pass."""
        if self.gradient.has_gradient(moved.source):
            for step, whole in reversed(self._sent(moved)):
                if op := BACKWARD.get(step.kind):
                    yield self._movement(item, moved, op, step, whole, "backward")

    def _sent(self, moved: Moved) -> list[tuple[Step, float]]:
        dims, layout = lying(moved.source, self.program)
        return list(self._steps(dims, layout, moved.steps))

    def _movement(
        self, item: Flat, moved: Moved, op: CollectiveOp, step: Step, whole: float, phase: Phase
    ) -> Collective:
        count, size = item.count * self.program.microsteps, self.settings.bytes_of(moved.source.value)
        return self._collective(op, step.axes, _path(item, moved.source), phase, count, whole * size, moved.span)

    def _inner(self, item: Flat, computed: Computed) -> Iterator[Collective]:
        cut = self.program.microsteps if self._has_batch(computed) else 1
        for inner in computed.inner:
            op: CollectiveOp = FORWARD.get(inner.op, "collective-permute")
            count = item.count * self.program.microsteps * self._met(op, item)
            whole = self._elements(inner) / (1 if inner.fixed else cut)
            if op in ("all-gather", "reduce-scatter"):
                whole *= self.program.shards(inner.axes)
            span, sent = computed.op.span, whole * self._width(inner)
            label = f"{'.'.join(item.path)}: {inner.label}"
            if inner.times:
                yield self._collective(op, inner.axes, label, "forward", count * inner.times, sent, span)
            again = self._made_anew(item, computed, inner) + (item in self.again and not inner.once)
            for _ in range(again if inner.times else 0):
                yield self._collective(op, inner.axes, label, "backward", count * inner.times, sent, span)
            if inner.backward and self.gradient.has_gradient(computed.result):
                yield self._collective(op, inner.axes, label, "backward", count * inner.backward, sent, span)

    def _met(self, op: CollectiveOp, item: Flat) -> int | Fraction:
        """How often a device takes part in a collective of an operation, for each time that it runs that."""
        pipeline = self.program.pipeline
        if pipeline is None or item.part != "stage" or item.region is None or op != "collective-permute":
            return 1
        return pipeline.permuted(item.region)

    def _made_anew(self, item: Flat, computed: Computed, inner: InnerCollective) -> bool:
        """Whether a backward slot of a pipeline runs it: for the result, or for what the operation itself keeps."""
        keeps = inner.once and item.part in ("before", "stage") and self.gradient.has_gradient(computed.result)
        return item in self.recomputed or keeps

    def _elements(self, inner: InnerCollective) -> int:
        ragged = inner.ragged_elements if self.settings.ragged else None
        return inner.local_elements if ragged is None else ragged

    def _width(self, inner: InnerCollective) -> int:
        """Bytes of an element."""
        match inner.width:
            case "int":
                return 4
            case None:
                return self.settings.sum_bytes if inner.op == "all_reduce" else self.settings.compute_bytes
            case "sum":
                return self.settings.sum_bytes
            case "compute":
                return self.settings.compute_bytes

    def of_gradient(self, weight: PlacedWeight) -> Iterator[Collective]:
        """The ways of a gradient into the optimizer's place, and of the updated weight back."""
        path, span = weight.weight.dotted, weight.weight.value.span
        each = self.settings.gradient_bytes(self.program.pipeline is not None)
        whole_step = self.settings.gradient_bytes(self.program.microsteps > 1)
        ways: tuple[tuple[Layout, Sequence[Step], Phase, int, int], ...] = (
            (weight.rest, weight.to_grads, "backward", self.program.accumulated, each),
            (weight.grads, weight.to_optimizer, "backward", 1, whole_step),
            (weight.optimizer, weight.to_rest, "update", 1, self.settings.param_bytes),
        )
        for layout, steps, phase, count, size in ways:
            for step, whole in self._steps(weight.weight.dims, layout, steps):
                if op := FORWARD.get(step.kind):
                    yield self._collective(op, step.axes, path, phase, count, whole * size, span)

    def _collective(
        self,
        op: CollectiveOp,
        axes: tuple[str, ...],
        tensor: str,
        phase: Phase,
        count: Fraction | int,
        whole_bytes: float,
        span: Span,
    ) -> Collective:
        shards = self.program.shards(axes)
        num_bytes = round(count * wire_elements(op, whole_bytes, shards))
        return Collective(op, axes, tensor, phase, math.ceil(count), num_bytes, span)

    def _steps(self, dims: Sequence[Dim], layout: Layout, steps: Sequence[Step]) -> Iterator[tuple[Step, float]]:
        """Each step with its elements: the larger side's for gathers, scatters and slices, else the device's part's."""
        elements = math.prod(local_shape(dims, layout, self.program.sizes))
        for step in steps:
            shards = self.program.shards(step.axes)
            match step.kind:
                case "all_gather" | "all_gather_invariant":
                    elements *= shards
                    yield step, elements
                case "reduce_scatter" | "slice" | "slice_varying":
                    yield step, elements
                    elements //= shards
                case _:
                    yield step, elements

    def _has_batch(self, computed: Computed) -> bool:
        return any(isinstance(x, Placed) and self.program.batch in x.value.dims for x in computed.operands)


def _path(item: Flat, placed: Placed) -> str:
    return ".".join((*item.path, placed.value.name))


def _merged(collectives: Iterator[Collective]) -> Iterator[Collective]:
    groups: dict[tuple, Collective] = {}
    for c in collectives:
        key = (c.op, c.axes, c.tensor, c.phase)
        old = groups.get(key)
        groups[key] = c if old is None else replace(
            old, count=old.count + c.count, bytes_per_device=old.bytes_per_device + c.bytes_per_device
        )  # fmt: skip
    return iter(groups.values())
