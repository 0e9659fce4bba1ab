"""What a generated program hands to the runtime: pure functions on global arrays, and where each array rests.

Weights, gradients and carried state are flat dicts {path: global array}; a path is the spec's: model, instance and
weight names joined by dots (`Llama.block.attention.wq`). Stacked repeats lead the shape.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from .order import Orders


@dataclass(frozen=True)
class Input:
    """One model input, as `Program.step` takes it.

    shape: the whole array, over all devices: [batch, ...], or [microsteps, batch / microsteps, ...] when the program
        has more than one microstep; microbatch m holds the global rows m * batch / microsteps and on
    dtype: `int32` for ids, a float dtype for anything else
    spec: where it lies, one entry for each dim of `shape`
    high: ids are in [0, high), the size before padding; None for floats
    next_of: the input that this one is made of, on the host: what follows each of its ids along dim `along`, and -1 at
        the end; and where `within` names an input of segments, -1 where the next id is in another one
    segments: holds the number, in its row, of the document that each token is of; a source that packs them tells
    order: dim -> its order on devices (`runtime.order`), where that is not the natural one
    real: shape without padding, [batch, ...]; the host pads, ids with -1, which are the row of no table and no target

    Dims are those of [batch, ...], without the one of microsteps.
    """

    shape: tuple[int, ...]
    dtype: str
    spec: PartitionSpec
    high: int | None = None
    next_of: str | None = None
    along: int = 1
    within: str | None = None
    segments: bool = False
    order: Orders = field(default_factory=dict)
    real: tuple[int, ...] | None = None


class State(NamedTuple):
    """All that one step hands to the next; a pytree of global arrays, or of what belongs to each (shapes, shardings).

    step: int32 scalar, how many updates were made
    weights: path -> array, at rest
    carried: path -> array, the spec's `state`; {} where it has none
    optimizer: optax's state, its leaves in the optimizer place
    """

    step: Any
    weights: dict[str, Any]
    carried: dict[str, Any]
    optimizer: Any


@dataclass(frozen=True)
class Program:
    """A model, its update and its placements on one device mesh.

    mesh: the device mesh, axes of `AxisType.Auto`; an empty one on one device
    placement, grads_placement, optimizer_placement: path -> spec, at rest
    inputs: name -> `Input`, in the order of the model's parameters
    init: seed -> State; the same values on every mesh
    step: (state, batch) -> (state, metrics); donates the state. Metrics are scalars: `loss`, `grad_norm`,
        `learning_rate`, and the spec's metrics under their path
    grads: (state, batch) -> (loss, gradients in the optimizer place); nothing donated. For proofs
    predict: (state, batch) -> what the model returns, by name: global arrays, with the inputs' leading dim of
        microsteps where these have one. The batch holds at least the inputs that this needs: no labels, no targets.
        Nothing is dropped out. None where the model returns nothing
    real_shapes: path -> shape without padding, of weights and carried state; what checkpoints hold
    orders: path -> dim -> its order on devices (`runtime.order`), of weights and carried state whose order there is
        not that of checkpoints
    microsteps: how many microbatches one step adds up
    name, spec_hash: of the spec, for messages and checkpoints
    """

    mesh: Mesh
    placement: dict[str, PartitionSpec]
    grads_placement: dict[str, PartitionSpec]
    optimizer_placement: dict[str, PartitionSpec]
    inputs: dict[str, Input]
    init: Callable[[int], State]
    step: Callable[[State, dict[str, jax.Array]], tuple[State, dict[str, jax.Array]]]
    grads: Callable[[State, dict[str, jax.Array]], tuple[jax.Array, dict[str, jax.Array]]]
    real_shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    predict: Callable[[State, dict[str, jax.Array]], dict[str, jax.Array]] | None = None
    orders: Mapping[str, Orders] = field(default_factory=dict)
    microsteps: int = 1
    name: str = "model"
    spec_hash: str = ""

    @property
    def batch_size(self) -> int:
        """Samples a step, over all devices and microsteps."""
        return self.rows(next(iter(self.inputs.values())))

    @property
    def tokens_per_step(self) -> int:
        """Positions a step of the first input of ids, without padding, or samples where there is none."""
        ids = [i for i in self.inputs.values() if i.high is not None]
        return self.batch_size * math.prod(self.real_sample_shape(ids[0])) if ids else self.batch_size

    def rows(self, one: Input) -> int:
        """Samples that one input holds in a step."""
        return one.shape[0] if self.microsteps == 1 else one.shape[0] * one.shape[1]

    def sample_shape(self, one: Input) -> tuple[int, ...]:
        """Shape of one sample of an input on devices."""
        return one.shape[1:] if self.microsteps == 1 else one.shape[2:]

    def real_sample_shape(self, one: Input) -> tuple[int, ...]:
        """Shape of one sample without padding, as a source yields it."""
        return self.sample_shape(one) if one.real is None else one.real[1:]

    def sharding(self, one: Input) -> NamedSharding:
        return NamedSharding(self.mesh, one.spec)
