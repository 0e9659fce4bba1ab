"""One step of many programs, in one process: python -m meshc.prove.sound.child REQUEST.json RESULT.json

As `meshc.prove.child`, and quicker: weights are drawn here and not by the programs, whose drawing takes as long to
compile as a step does.
"""

from __future__ import annotations

import math
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import jax
import numpy as np

from meshc.prove import child, parity
from meshc.prove.model import Measure
from meshc.runtime.canonical import stored_shape
from meshc.runtime.order import on_devices, places
from meshc.runtime.program import Program, State

LOSS = 1e-5
"""Of what one device finds; these runs are in float64, and what is wrong is wrong by much more."""


def step(mesh: str, one: str, derived: dict[str, list[list[str]]], rows: int) -> Iterator[Measure]:
    """A step on the mesh and one on one device, of the same weights and samples.

    derived: path -> for each dim the axes that split it, of the weights at rest; rows: of a batch, as the spec has them
    """
    program, single = child.build(mesh), child.build(one)
    yield Measure("rows of a step that are left out", "batch", abs(program.batch_size - rows), 0.0)
    begun, begun_one = _begun(program), _begun(single)
    yield from child.shards("weight", program, derived, begun.weights, begun_one.weights)
    (state, loss), (state_one, loss_one) = _stepped(program, begun), _stepped(single, begun_one)
    yield Measure("the loss is a number", "step 1", 0.0 if math.isfinite(loss) else math.inf, 0.0)
    yield from parity.losses("loss", [loss], [loss_one], LOSS)
    yield from child.shards("weight after a step", program, derived, state.weights, state_one.weights)
    jax.clear_caches()


def _begun(program: Program) -> State:
    shapes = jax.eval_shape(program.init, child.SEED)
    every = {**shapes.weights, **shapes.carried}
    return child.beginning(program, {path: _drawn(program, path, leaf) for path, leaf in every.items()})


def _drawn(program: Program, path: str, leaf: jax.ShapeDtypeStruct) -> np.ndarray:
    """A weight as devices hold it: its numbers depend on its path and its shape on disk alone."""
    shape, orders = stored_shape(program, path, leaf.shape), program.orders.get(path, {})
    values = 0.3 * np.random.default_rng(zlib.crc32(path.encode())).standard_normal(shape)
    whole = [len(places(orders[d])) if d in orders else n for d, n in enumerate(leaf.shape)]
    padded = np.zeros(whole)
    padded[tuple(map(slice, shape))] = values
    return on_devices(padded, orders).astype(leaf.dtype)


def _stepped(program: Program, state: State) -> tuple[State, float]:
    batch = child.batch(program, 0)
    compiled = program.step.lower(state, batch).compile(compiler_options=child.QUICK)  # pyright: ignore[reportFunctionMemberAccess]
    after, metrics = compiled(state, batch)
    return after, float(metrics["loss"])


if __name__ == "__main__":
    child.main(Path(sys.argv[1]), Path(sys.argv[2]), {"step": step})
