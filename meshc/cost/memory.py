"""Bytes that one device holds, read off the placed program: state at rest, and what waits for the backward pass."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from meshc.job.groups import group_of
from meshc.job.model import Optimizer
from meshc.semantics.collectives import Settings
from meshc.semantics.flat import Flat, FlatProgram, flatten
from meshc.semantics.placed import Computed, Layout, Moved, Placed, PlacedProgram, PlacedWeight, local_shape
from meshc.semantics.program import Dim
from meshc.semantics.residuals import Differentiation
from meshc.semantics.routing import lying


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes of one device: at rest, then the tensors that a step keeps for its backward pass.

    Transient buffers are not in it. `gathered_weights` are those kept until the backward pass.
    """

    params: int
    gradients: int
    optimizer: int
    state: int
    inputs: int
    gathered_weights: int
    activations: int

    @property
    def total(self) -> int:
        return self.at_rest + self.gathered_weights + self.activations

    @property
    def at_rest(self) -> int:
        return self.params + self.gradients + self.optimizer + self.state + self.inputs


def memory(program: PlacedProgram, settings: Settings, optimizer: Optimizer) -> Memory:
    trained = [w for w in program.weights if w.weight.trained]
    carried = [w for w in program.weights if not w.weight.trained]

    def held(weights: Sequence[PlacedWeight], place: str, width: int = settings.param_bytes) -> int:
        return sum(width * elements(program, w.weight.dims, getattr(w, place)) for w in weights)

    gathered, activations = _waiting(program, settings)
    return Memory(
        params=held(trained, "rest"),
        gradients=sum(gradient(program, weight, settings) for weight in trained),
        optimizer=sum(settings.param_bytes * moments(program, w, optimizer) for w in trained),
        state=held(carried, "rest", settings.state_bytes),
        inputs=sum(settings.bytes_of(p.value) * elements(program, p.value.dims, p.layout) for p in program.fed),
        gathered_weights=gathered,
        activations=activations,
    )


def gradient(program: PlacedProgram, weight: PlacedWeight, settings: Settings) -> int:
    """What is added up of a weight; of a pipeline in each microstep, and of all microsteps beside that."""
    layouts = [program.added_up(weight)]
    if program.pipeline is not None and program.accumulated > 1:
        layouts.append(weight.grads)
    width = settings.gradient_bytes(program.microsteps > 1)
    return sum(width * elements(program, weight.weight.dims, layout) for layout in layouts)


def elements(program: PlacedProgram, dims: Sequence[Dim], layout: Layout) -> int:
    return math.prod(local_shape(dims, layout, program.sizes))


def moments(program: PlacedProgram, weight: PlacedWeight, optimizer: Optimizer) -> int:
    """Numbers that the optimizer keeps of a weight; Adafactor a row and a column of a matrix (arXiv:1804.04235)."""
    group = group_of(optimizer, weight.weight.dotted)
    if group is not None and group.frozen:
        return 0
    number = elements(program, weight.weight.dims, weight.optimizer)
    match optimizer.name:
        case "adamw" | "adam" | "lamb":
            return 2 * number
        case "lion":
            return number
        case "sgd":
            return number if optimizer.momentum else 0
        case "adafactor":
            return _factored([d.size for d in weight.weight.dims]) or number


def _factored(shape: Sequence[int]) -> int | None:
    """Rows and columns of the two largest dims, which optax factors from 128 on, whole everywhere."""
    if len(shape) < 2 or sorted(shape)[-2] < 128:
        return None
    second, largest = sorted(shape)[-2:]
    return math.prod(shape) // second + math.prod(shape) // largest


def _waiting(program: PlacedProgram, settings: Settings) -> tuple[int, int]:
    """Gathered weights, and other tensors, that wait for the backward pass, once for each turn of their repeats."""
    flat = flatten(program)
    weights = {flat.of(w.inside): w for w in program.weights}
    values = {placed.value for placed in weights}
    kept = program.program.gathered == "kept"
    saved = Differentiation(program, flat).plan(settings.remat, kept, frozenset(weights)).saved
    turns: dict[Placed, int | Fraction] = {
        flat.of(p): item.count * _at_once(program, item) for item in flat.statements for p in _results(item.statement)
    }
    turns |= {**flat.carried, **_handed_on(program, flat)}
    held_already = {*weights, *(flat.of(p) for p in program.fed)}
    gathered = activations = 0
    for placed in (saved | set(flat.carried) | set(_handed_on(program, flat))) - held_already:
        number = elements(program, *lying(placed, program))
        size = int(settings.bytes_of(placed.value) * turns.get(placed, 1) * number)
        if placed.value in values:
            gathered += size
        else:
            activations += size
    return gathered, activations


def _at_once(program: PlacedProgram, item: Flat) -> Fraction:
    """Of what a device computes in a microbatch the share that waits at once: stages compute one of their rounds."""
    if program.pipeline is None or item.part != "stage" or item.region is None:
        return Fraction(1)
    cut = program.pipeline.cut
    number = program.pipeline.repeats.index(item.region)
    return cut.places(number) * program.pipeline.microbatches / program.pipeline.turns_of_a_step(item.region)


def _handed_on(program: PlacedProgram, flat: FlatProgram) -> dict[Placed, int]:
    """What goes from stage to stage: inputs that wait for a backward slot, and those of the turns of one stage."""
    pipeline = program.pipeline
    if pipeline is None:
        return {}
    turns = sum(pipeline.cut.places(number) for number in range(len(pipeline.repeats)))
    waiting = pipeline.schedule.live + pipeline.schedule.cotangents
    return {flat.of(s.before): waiting + (turns if any(s.carries) else 0) for s in pipeline.slots}


def _results(statement: object) -> Iterator[Placed]:
    if isinstance(statement, Moved | Computed):
        yield statement.result
