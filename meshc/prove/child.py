"""Runs generated programs for a proof, in a process of its own: python -m meshc.prove.child REQUEST.json RESULT.json

The process has as many virtual devices as the mesh (`JAX_NUM_CPU_DEVICES`) and float64 or not (`JAX_ENABLE_X64`), as
its parent set the environment. The request is a list of tasks, each a function below with its arguments; the result is
their measures by proof. It ends by itself when its parent is gone.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib.util
import json
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from meshc.prove import parity, placement
from meshc.prove.model import Measure
from meshc.runtime.canonical import on_disk
from meshc.runtime.data.batches import drawn_inputs, put
from meshc.runtime.data.sources import drawn_segments
from meshc.runtime.optimizer import state_shardings
from meshc.runtime.order import on_devices
from meshc.runtime.program import Program, State

SEED = 0
QUICK: Any = {"xla_cpu_use_fusion_emitters": False}
"""Loops by XLA's older emitters: half the time to compile a step, the same collectives in its optimised HLO.

Initial values are drawn as in any run: the older emitters round a float32 by the shape of the part that a device has.
"""

Arrays = Mapping[str, jax.Array]


def load(path: str) -> ModuleType:
    """A generated program as a module; its own directory is searched first, as when it is run."""
    directory = str(Path(path).parent)
    sys.path.insert(0, directory)
    try:
        spec = importlib.util.spec_from_file_location(f"generated_{abs(hash(path))}", path)
        if spec is None or spec.loader is None:
            raise ImportError(path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(directory)
    return module


@functools.cache
def build(path: str) -> Program:
    """The program, compiled once a process, on the first devices of this process: those of its mesh, or one."""
    from meshc.runtime.mesh import make_mesh

    module = load(path)
    devices = jax.devices()[: int(np.prod(list(module.MESH.values()), initial=1))]
    return module.build(make_mesh(module.MESH, devices))


def batch(program: Program, step: int) -> dict[str, jax.Array]:
    """The same numbers for a step on every mesh."""
    drawn = {}
    for number, (name, one) in enumerate(drawn_inputs(program).items()):
        source = np.random.default_rng((SEED, step, number))
        shape = (program.batch_size, *program.real_sample_shape(one))
        if one.segments:
            drawn[name] = drawn_segments(source, shape)
        elif one.high is None:
            drawn[name] = source.standard_normal(shape).astype(one.dtype)
        else:
            drawn[name] = source.integers(0, one.high, shape, dtype=one.dtype)
    return put(program, drawn)


DRAWN: dict[tuple[str, ...], dict[str, np.ndarray]] = {}
"""Initial weights and carried state as devices hold them, by the mesh and the placement that they are for."""


def initial(path: str) -> State:
    """The state that a program begins with.

    Drawing takes as long to compile as a step does. So a second program on the same mesh (all of a process are of one
    spec, and differ in their optimizer) is given what the first one drew; optimizers begin with zeros.
    """
    program = build(path)
    key = (str(program.mesh.shape), *map(str, program.placement.items()))
    if key not in DRAWN:
        state = program.init(SEED)
        DRAWN[key] = {path: np.asarray(array) for path, array in {**state.weights, **state.carried}.items()}
        return state
    return beginning(program, DRAWN[key])


def beginning(program: Program, weights: Mapping[str, np.ndarray]) -> State:
    """The state of a program with these weights and this carried state, by path, as devices hold them."""
    shapes = jax.eval_shape(program.init, SEED)
    places = state_shardings(shapes.optimizer, shapes.weights, program.optimizer_placement, program.mesh)
    nowhere = NamedSharding(program.mesh, PartitionSpec())
    drawn = {
        path: jax.device_put(array, NamedSharding(program.mesh, program.placement[path]))
        for path, array in weights.items()
    }
    return State(
        step=jax.device_put(np.zeros((), shapes.step.dtype), nowhere),
        weights={path: drawn[path] for path in shapes.weights},
        carried={path: drawn[path] for path in shapes.carried},
        optimizer=jax.tree.map(lambda x, at: jax.device_put(np.zeros(x.shape, x.dtype), at), shapes.optimizer, places),
    )


def on_host(program: Program, arrays: Arrays) -> dict[str, np.ndarray]:
    """Arrays of weights, by path, in canonical form."""
    return {path: on_disk(program, path, np.asarray(array)) for path, array in arrays.items()}


@functools.cache
def compiled_step(path: str) -> jax.stages.Compiled:
    """The program's step as it runs; its optimised HLO can be read."""
    program = build(path)
    step: Any = program.step  # jitted
    return step.lower(initial(path), batch(program, 0)).compile(compiler_options=QUICK)


def run(path: str, steps: int) -> tuple[State, list[dict[str, float]]]:
    """The state after some steps, and what each step tells: its loss and other metrics."""
    program, told = build(path), []
    state = initial(path)
    for step in range(steps):
        state, metrics = compiled_step(path)(state, batch(program, step))
        told.append({name: float(value) for name, value in metrics.items()})
    return state, told


def by_name(told: Sequence[Mapping[str, float]]) -> dict[str, np.ndarray]:
    """Each metric, its values from step to step."""
    return {name: np.array([metrics[name] for metrics in told]) for name in told[0]}


def losses_of(told: Iterable[Mapping[str, float]]) -> list[float]:
    return [metrics["loss"] for metrics in told]


@functools.cache
def compiled_gradients(path: str) -> jax.stages.Compiled:
    program = build(path)
    grads: Any = program.grads  # jitted
    return grads.lower(initial(path), batch(program, 0)).compile(compiler_options=QUICK)


@functools.cache
def first_gradients(path: str) -> tuple[jax.Array, dict[str, jax.Array]]:
    """Loss and gradients of the initial weights."""
    return compiled_gradients(path)(initial(path), batch(build(path), 0))


# ---------------------------------------------------------------- rounding


@functools.cache
def loss_rounding(path: str) -> float:
    """How far the first loss moves, where numbers become neighbours of theirs."""
    step, state = compiled_step(path), initial(path)
    there = float(step(state, batch(build(path), 0))[1]["loss"])
    return max(abs(float(step(*beside)[1]["loss"]) - there) for beside in _beside(path))


@functools.cache
def gradient_rounding(path: str) -> float:
    """The same of all gradients together, by norm."""
    program, (_, grads) = build(path), first_gradients(path)
    there = on_host(program, grads)
    moved = (on_host(program, compiled_gradients(path)(*beside)[1]) for beside in _beside(path))
    return max(parity.distance(here, there) for here in moved)


def _beside(path: str) -> Iterator[tuple[State, dict[str, jax.Array]]]:
    """The first state and batch, in which each number of weights and inputs is the next larger or smaller one."""
    program = build(path)
    for seed in range(parity.DRAWS):
        source = np.random.default_rng((SEED, seed))
        state, first = initial(path), batch(program, 0)
        weights = {path: _neighbours(array, source) for path, array in state.weights.items()}
        yield state._replace(weights=weights), {name: _neighbours(array, source) for name, array in first.items()}


def _neighbours(array: jax.Array, source: np.random.Generator) -> jax.Array:
    """Zeros stay, for scores that are all zero are equal and experts chosen in order; so do ids."""
    held = np.asarray(array)
    if not np.issubdtype(held.dtype, np.floating):
        return array
    beside = np.nextafter(held, np.where(source.random(held.shape) < 0.5, -np.inf, np.inf).astype(held.dtype))
    return jax.device_put(np.where(held == 0, held, beside), array.sharding)


# ---------------------------------------------------------------- tasks


def gradients(mesh: str, one: str) -> Iterator[Measure]:
    """Initial values, the first loss and every gradient."""
    weights, weights_one = (on_host(build(path), initial(path).weights) for path in (mesh, one))
    yield from parity.arrays("initial values", weights, weights_one, parity.INITIAL)
    (loss, grads), (loss_one, grads_one) = first_gradients(mesh), first_gradients(one)
    losses = [float(loss)], [float(loss_one)]
    yield from parity.losses("loss before training", *losses, parity.LOSS, lambda: loss_rounding(one))
    arrays = on_host(build(mesh), grads), on_host(build(one), grads_one)
    yield from parity.arrays("gradient", *arrays, parity.GRADIENT, lambda: gradient_rounding(one))


def descent(mesh: str, one: str, steps: int) -> Iterator[Measure]:
    """Losses and other metrics, and the parameters after some steps of SGD with clipping."""
    (state, told), (state_one, told_one) = run(mesh, steps), run(one, steps)
    losses = losses_of(told), losses_of(told_one)
    yield from parity.losses("loss under SGD", *losses, parity.LOSS, lambda: loss_rounding(one))
    metrics = parity.arrays(
        "metric",
        by_name(told),
        by_name(told_one),
        parity.METRIC,
        lambda: loss_rounding(one) + gradient_rounding(one),  # as the norm of gradients is
    )
    yield from (m for m in metrics if m.subject != "loss")
    many, single = build(mesh), build(one)
    weights, weights_one = on_host(many, state.weights), on_host(single, state_one.weights)
    yield from parity.arrays("parameter", weights, weights_one, parity.PARAMETER, lambda: gradient_rounding(one))
    if state_one.carried:
        carried, carried_one = on_host(many, state.carried), on_host(single, state_one.carried)
        yield from parity.arrays("state", carried, carried_one, parity.PARAMETER)


def training(mesh: str, one: str, steps: int, claim: str, bound: float) -> Iterator[Measure]:
    """Losses of some steps of the program's own optimizer."""
    losses, losses_one = (losses_of(run(path, steps)[1]) for path in (mesh, one))
    yield from parity.losses(claim, losses, losses_one, bound, lambda: loss_rounding(one))


def weight_shards(mesh: str, one: str, derived: dict[str, dict[str, list[list[str]]]]) -> Iterator[Measure]:
    """Where weights lie after a step of SGD (Adam would make rounding a step as large as any other).

    `derived` is place -> path -> axes of each dim.
    """
    (state, _), (state_one, _) = run(mesh, 1), run(one, 1)
    yield from shards("weight", build(mesh), derived["rest"], state.weights, state_one.weights, one)


def optimizer_shards(mesh: str, one: str, derived: dict[str, dict[str, list[list[str]]]]) -> Iterator[Measure]:
    """Where the state of the spec's optimizer lies after a step."""
    (state, _), (state_one, _) = run(mesh, 1), run(one, 1)
    moments, moments_one = optimizer_leaves(state), optimizer_leaves(state_one)
    yield from shards("optimizer state", build(mesh), derived["optimizer"], moments, moments_one, one)


def gradient_shards(mesh: str, one: str, derived: dict[str, dict[str, list[list[str]]]]) -> Iterator[Measure]:
    """Where gradients lie when the optimizer takes them."""
    (_, grads), (_, grads_one) = first_gradients(mesh), first_gradients(one)
    yield from shards("gradient", build(mesh), derived["optimizer"], grads, grads_one, one)


def shards(
    claim: str,
    program: Program,
    derived: dict[str, list[list[str]]],
    found: Arrays,
    whole: Arrays,
    one: str | None = None,
) -> Iterator[Measure]:
    """`found` and `whole` by path, or `path (which of the optimizer's)`. `one`: the program to measure rounding by."""
    on_one = {
        name: on_devices(np.asarray(array), program.orders.get(name.partition(" ")[0], {}))
        for name, array in whole.items()
    }
    largest: dict[str, float] = {}
    for name, array in on_one.items():
        kind = name.partition(" ")[2]
        largest[kind] = max(largest.get(kind, 0.0), placement.largest_of(array))
    sizes = dict(program.mesh.shape)
    for name, array in found.items():
        path, _, kind = name.partition(" ")
        parts = parts_of(array, program.mesh)
        about = (claim, name, parts, derived[path], sizes, on_one[name], largest[kind])
        measured = list(placement.measures(*about))
        if one and not all(m.holds for m in measured):
            rounded = parity.rounding(gradient_rounding(one), placement.NOISE * max(1.0, largest[kind]))
            measured = placement.measures(*about, rounded)
        yield from measured


def traffic(mesh: str, text: str) -> Iterator[Measure]:
    """Writes the optimised HLO of one step to `text`."""
    Path(text).write_text(compiled_step(mesh).as_text() or "", encoding="utf-8")
    yield from ()


TASKS = {
    task.__name__: task
    for task in (gradients, descent, training, weight_shards, optimizer_shards, gradient_shards, traffic)
}


def parts_of(array: jax.Array, mesh: jax.sharding.Mesh) -> list[placement.Shard]:
    """Every shard with its device's coordinates on the mesh."""
    at = {device: dict(zip(mesh.axis_names, index, strict=True)) for index, device in np.ndenumerate(mesh.devices)}
    return [placement.Shard(at[s.device], np.asarray(s.data)) for s in array.addressable_shards]


def optimizer_leaves(state: State) -> dict[str, jax.Array]:
    """Leaves that belong to a weight and have its shape (moments, momentum), as `path (where in the optimizer)`."""
    leaves = {}
    for keys, leaf in jax.tree_util.tree_leaves_with_path(state.optimizer):
        owner = next((k.key for k in keys if getattr(k, "key", None) in state.weights), None)
        if owner is not None and leaf.shape == state.weights[owner].shape:
            leaves[f"{owner} ({jax.tree_util.keystr(keys[:-1])})"] = leaf
    return leaves


def first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:160]


def end_with_parent() -> None:
    """Ends this process when standard input, which the parent holds open, closes: however the parent ended."""

    def wait() -> None:
        while os.read(0, 4096):  # not sys.stdin: its lock would be held while the interpreter ends
            pass
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def main(request: Path, result: Path, tasks: Mapping[str, Callable[..., Iterator[Measure]]] = TASKS) -> None:
    end_with_parent()
    found: dict[str, dict[str, Any]] = {}
    for task in json.loads(request.read_text(encoding="utf-8")):
        proof = found.setdefault(task["proof"], {"measures": [], "problem": None, "done": 0})
        try:
            proof["measures"] += [dataclasses.asdict(m) for m in tasks[task["task"]](**task["arguments"])]
        except Exception as error:  # a program that does not compile or run is what a proof is there to find
            traceback.print_exc()
            proof["problem"] = f"{task['task']}: {type(error).__name__}: {first_line(error)}"
        proof["done"] += 1
        result.write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
