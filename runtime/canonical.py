"""The state of a program as it lies on disk: by global name, unpadded, knowing no mesh.

A name is the way through `State`: `step`, `weights/Llama.table`, `carried/…`, `optimizer/0/mu/Llama.table`. Padding of
a weight is cut off wherever its shape shows: in the weight, and in the optimizer's leaves of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec

from .optimizer import state_shardings, weight_of
from .program import Program, State

WEIGHTS = "weights/"


@dataclass(frozen=True)
class Leaf:
    """One array of the state: its shape on the devices, where it lies, and its shape without padding."""

    shape: tuple[int, ...]
    dtype: Any
    sharding: NamedSharding
    real_shape: tuple[int, ...]

    @property
    def padded(self) -> bool:
        return self.shape != self.real_shape

    @property
    def num_bytes(self) -> int:
        return math.prod(self.real_shape) * self.dtype.itemsize

    @property
    def stored(self) -> jax.ShapeDtypeStruct:
        """As it is written and read. A padded dim is whole there: without its padding it need not divide."""
        spec = tuple(self.sharding.spec) + (None,) * (len(self.shape) - len(self.sharding.spec))
        cut = (None if a != b else axes for a, b, axes in zip(self.shape, self.real_shape, spec, strict=True))
        sharding = NamedSharding(self.sharding.mesh, PartitionSpec(*cut)) if self.padded else self.sharding
        return jax.ShapeDtypeStruct(self.real_shape, self.dtype, sharding=sharding)

    def unpad(self, array: jax.Array) -> jax.Array:
        return array[tuple(slice(size) for size in self.real_shape)]

    def pad(self, array: jax.Array) -> jax.Array:
        return jnp.pad(array, [(0, a - b) for a, b in zip(self.shape, self.real_shape, strict=True)])


@dataclass(frozen=True, eq=False)
class Layout:
    """Every array of a program's state by name, and the way between the state and its form on disk."""

    leaves: dict[str, Leaf]
    structure: Any  # of the pytree `State`; its leaves in the order of `leaves`

    @property
    def num_bytes(self) -> int:
        """On disk, before compression."""
        return sum(leaf.num_bytes for leaf in self.leaves.values())

    def weights(self) -> dict[str, Leaf]:
        """Path -> leaf, of the weights alone."""
        return {name.removeprefix(WEIGHTS): leaf for name, leaf in self.leaves.items() if name.startswith(WEIGHTS)}

    def stored(self, state: State) -> dict[str, jax.Array]:
        """Name -> unpadded array; the state's own arrays where nothing is padded."""
        arrays = dict(zip(self.leaves, jax.tree.leaves(state), strict=True))
        return arrays | {name: self._cut[name](arrays[name]) for name in self._cut}

    def padded(self, arrays: Mapping[str, jax.Array]) -> dict[str, jax.Array]:
        """Name -> array as it lies on the devices, padding zero; for some names or all."""
        return dict(arrays) | {name: self._fill[name](arrays[name]) for name in self._fill.keys() & arrays.keys()}

    @cached_property
    def _cut(self) -> dict[str, Callable[[jax.Array], jax.Array]]:
        """Compiled once, not at each save."""
        padded = {name: leaf for name, leaf in self.leaves.items() if leaf.padded}
        return {name: jax.jit(leaf.unpad, out_shardings=leaf.stored.sharding) for name, leaf in padded.items()}

    @cached_property
    def _fill(self) -> dict[str, Callable[[jax.Array], jax.Array]]:
        padded = {name: leaf for name, leaf in self.leaves.items() if leaf.padded}
        return {name: jax.jit(leaf.pad, out_shardings=leaf.sharding) for name, leaf in padded.items()}

    def state(self, arrays: Mapping[str, jax.Array]) -> State:
        return jax.tree.unflatten(self.structure, [arrays[name] for name in self.leaves])


def layout(program: Program, seed: int) -> Layout:
    """The layout of a program's state, without making one."""
    state = _abstract(program, seed)
    shapes = {path: leaf.shape for path, leaf in (state.weights | state.carried).items()}
    places = _shardings(program, state)
    leaves = {}
    for (key_path, leaf), place in zip(jax.tree.leaves_with_path(state), jax.tree.leaves(places), strict=True):
        name = jax.tree_util.keystr(key_path, simple=True, separator="/")
        path = weight_of(key_path, shapes)
        real = leaf.shape
        if path is not None:
            real = _without_padding(leaf.shape, shapes[path], program.real_shapes.get(path, shapes[path]))
        leaves[name] = Leaf(leaf.shape, leaf.dtype, leaf.sharding or place, real)
    return Layout(leaves, jax.tree.structure(state))


def _abstract(program: Program, seed: int) -> State:
    """Shapes and dtypes, and shardings where `init` is jitted with them."""
    if hasattr(program.init, "eval_shape"):
        return program.init.eval_shape(seed)
    return jax.eval_shape(lambda: program.init(seed))


def _shardings(program: Program, state: State) -> State:
    """Where the contract puts each leaf, for an `init` that does not say."""
    mesh, whole = program.mesh, PartitionSpec()
    return State(
        step=NamedSharding(mesh, whole),
        weights={path: NamedSharding(mesh, program.placement[path]) for path in state.weights},
        carried={path: NamedSharding(mesh, program.placement.get(path, whole)) for path in state.carried},
        optimizer=state_shardings(state.optimizer, state.weights, program.optimizer_placement, mesh),
    )


def _without_padding(shape: tuple[int, ...], padded: tuple[int, ...], real: tuple[int, ...]) -> tuple[int, ...]:
    """The real shape of an array with a weight's dims, or some of them in order (Adafactor's rows and columns)."""
    sizes, dims = [], iter(zip(padded, real, strict=True))
    for size in shape:
        match = next((short for long, short in dims if long == size), None)
        if match is None:  # not made of the weight's dims: a scalar, a placeholder of size 1
            return shape
        sizes.append(match)
    return tuple(sizes)
