"""Bytes that one device holds, read off the placed program: state at rest, and what waits for the backward pass."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from meshc.semantics.collectives import Settings
from meshc.semantics.flat import flatten
from meshc.semantics.placed import Computed, Layout, Moved, Placed, PlacedProgram, local_shape
from meshc.semantics.program import Dim
from meshc.semantics.residuals import Differentiation

MOMENTS = {"adamw": 2, "adam": 2, "lamb": 2, "lion": 1, "sgd": 0}


@dataclass(frozen=True, slots=True)
class MemoryLine:
    """One kind of memory: `what` it is, its bytes on one device."""

    what: str
    bytes_per_device: int


def memory(
    program: PlacedProgram, settings: Settings, optimizer: str = "adamw", momentum: bool = False
) -> tuple[MemoryLine, ...]:
    """State at rest and the tensors that a step keeps for its backward pass. Transient buffers are not in it."""
    lines = {
        "weights": _state(program, settings.param_bytes, "rest"),
        "optimizer": _moments(program, settings, optimizer, momentum),
        "gradients": _state(program, settings.param_bytes, "grads"),
        **_saved(program, settings),
    }
    return tuple(MemoryLine(what, count) for what, count in lines.items())


def _elements(program: PlacedProgram, dims: Sequence[Dim], layout: Layout) -> int:
    return math.prod(local_shape(tuple(dims), layout, program.sizes))


def _state(program: PlacedProgram, size: int, place: str) -> int:
    return sum(size * _elements(program, w.weight.dims, getattr(w, place)) for w in program.weights)


def _moments(program: PlacedProgram, settings: Settings, optimizer: str, momentum: bool) -> int:
    """Moments of the trained weights. Adafactor keeps a row and a column of a matrix (arXiv:1804.04235)."""
    trained = [w for w in program.weights if w.weight.trained]
    if optimizer == "adafactor":
        return sum(settings.param_bytes * _factored(program, w.weight.dims, w.optimizer) for w in trained)
    moments = MOMENTS[optimizer] + int(momentum)
    return sum(moments * settings.param_bytes * _elements(program, w.weight.dims, w.optimizer) for w in trained)


def _factored(program: PlacedProgram, dims: Sequence[Dim], layout: Layout) -> int:
    shape = local_shape(tuple(dims), layout, program.sizes)
    if len(shape) < 2:
        return math.prod(shape)
    rows, columns = sorted(shape)[-2:]
    return math.prod(shape) // rows + math.prod(shape) // columns


def _saved(program: PlacedProgram, settings: Settings) -> dict[str, int]:
    """Tensors that wait for the backward pass, once for each turn of the repeats around them."""
    flat = flatten(program)
    weights = {flat.of(w.inside): w for w in program.weights}
    values = {placed.value for placed in weights}
    kept = program.program.gathered == "kept"
    saved = Differentiation(program, flat).plan(settings.remat, kept, frozenset(weights)).saved
    turns = {flat.of(p): item.count for item in flat.statements for p in _results(item.statement)} | flat.carried
    lines = {"gathered weights": 0, "activations": 0}
    for placed in (saved | set(flat.carried)) - set(weights):
        dims = _micro(program, placed)
        size = settings.compute_bytes * turns.get(placed, 1) * _elements(program, dims, placed.layout)
        lines["gathered weights" if placed.value in values else "activations"] += size
    return lines


def _results(statement: object) -> Iterator[Placed]:
    if isinstance(statement, Moved | Computed):
        yield statement.result


def _micro(program: PlacedProgram, placed: Placed) -> tuple[Dim, ...]:
    """The dims of one microbatch."""
    cut = program.microsteps
    return tuple(Dim(d.name, d.size // cut, d.real // cut) if d == program.batch else d for d in placed.value.dims)
