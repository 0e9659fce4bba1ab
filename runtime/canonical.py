"""The state of a program as it lies on disk: by global name, unpadded, in natural order, knowing no mesh.

A name is the way through `State`: `step`, `weights/Llama.table`, `carried/…`, `optimizer/0/mu/Llama.table`. Padding of
a weight is cut off, and the order of its dims undone, wherever its shape shows: in the weight, and in the optimizer's
leaves of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from .optimizer import state_shardings, weight_of
from .order import Orders, canonical, on_devices, places
from .program import Program, State

WEIGHTS = "weights/"


@dataclass(frozen=True)
class Leaf:
    """One array of the state: its shape on the devices, where it lies, its shape on disk, and its dims' orders."""

    shape: tuple[int, ...]
    dtype: Any
    sharding: NamedSharding
    real_shape: tuple[int, ...]
    orders: Orders = field(default_factory=dict)

    @property
    def as_stored(self) -> bool:
        """Whether it lies on devices as on disk."""
        return self.shape == self.real_shape and not self.orders

    @property
    def num_bytes(self) -> int:
        return math.prod(self.real_shape) * self.dtype.itemsize

    @property
    def stored(self) -> jax.ShapeDtypeStruct:
        """As it is written and read. A padded dim is whole there: without its padding it need not divide."""
        spec = tuple(self.sharding.spec) + (None,) * (len(self.shape) - len(self.sharding.spec))
        cut = (None if a != b else axes for a, b, axes in zip(self.shape, self.real_shape, spec, strict=True))
        moved = self.shape != self.real_shape
        sharding = NamedSharding(self.sharding.mesh, PartitionSpec(*cut)) if moved else self.sharding
        return jax.ShapeDtypeStruct(self.real_shape, self.dtype, sharding=sharding)

    def to_disk(self, array: jax.Array) -> jax.Array:
        return canonical(array, self.orders)[tuple(slice(size) for size in self.real_shape)]

    def from_disk(self, array: jax.Array) -> jax.Array:
        whole = (len(places(self.orders[d])) if d in self.orders else n for d, n in enumerate(self.shape))
        padded = jnp.pad(array, [(0, a - b) for a, b in zip(whole, self.real_shape, strict=True)])
        return on_devices(padded, self.orders)


@dataclass(frozen=True, eq=False)
class Layout:
    """Every array of a program's state by name, and the way between the state and its form on disk."""

    leaves: dict[str, Leaf]
    structure: Any  # of the pytree `State`; its leaves in the order of `leaves`

    @property
    def num_bytes(self) -> int:
        """On disk, before compression."""
        return sum(leaf.num_bytes for leaf in self.leaves.values())

    def described(self) -> dict[str, dict[str, Any]]:
        """Name -> shape on disk and dtype, for JSON."""
        return {name: {"shape": list(leaf.real_shape), "dtype": str(leaf.dtype)} for name, leaf in self.leaves.items()}

    def weights(self) -> dict[str, Leaf]:
        """Path -> leaf, of the weights alone."""
        return {name.removeprefix(WEIGHTS): leaf for name, leaf in self.leaves.items() if name.startswith(WEIGHTS)}

    def stored(self, state: State) -> dict[str, jax.Array]:
        """Name -> array as it is on disk; the state's own arrays where they lie so."""
        arrays = dict(zip(self.leaves, jax.tree.leaves(state), strict=True))
        return arrays | {name: self._to_disk[name](arrays[name]) for name in self._to_disk}

    def placed(self, arrays: Mapping[str, jax.Array]) -> dict[str, jax.Array]:
        """Name -> array as it lies on the devices, padding zero; for some names or all."""
        moved = self._from_disk.keys() & arrays.keys()
        return dict(arrays) | {name: self._from_disk[name](arrays[name]) for name in moved}

    @cached_property
    def _to_disk(self) -> dict[str, Callable[[jax.Array], jax.Array]]:
        """Compiled once, not at each save."""
        moved = {name: leaf for name, leaf in self.leaves.items() if not leaf.as_stored}
        return {name: jax.jit(leaf.to_disk, out_shardings=leaf.stored.sharding) for name, leaf in moved.items()}

    @cached_property
    def _from_disk(self) -> dict[str, Callable[[jax.Array], jax.Array]]:
        moved = {name: leaf for name, leaf in self.leaves.items() if not leaf.as_stored}
        return {name: jax.jit(leaf.from_disk, out_shardings=leaf.sharding) for name, leaf in moved.items()}

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
        real, orders = leaf.shape, {}
        if path is not None and (dims := _dims_of(leaf.shape, shapes[path])) is not None:
            stored, of_weight = stored_shape(program, path, shapes[path]), program.orders.get(path, {})
            real = tuple(stored[d] for d in dims)
            orders = {at: of_weight[d] for at, d in enumerate(dims) if d in of_weight}
        leaves[name] = Leaf(leaf.shape, leaf.dtype, leaf.sharding or place, real, orders)
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


def stored_shape(program: Program, path: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A weight's shape on disk, given the one on devices."""
    real = list(program.real_shapes.get(path, shape))
    for dim, order in program.orders.get(path, {}).items():
        real[dim] = min(real[dim], len(places(order)))
    return tuple(real)


def on_disk(program: Program, path: str, array: np.ndarray) -> np.ndarray:
    """A weight's or gradient's value in canonical form, on the host."""
    shape = stored_shape(program, path, array.shape)
    return canonical(array, program.orders.get(path, {}))[tuple(slice(size) for size in shape)]


def _dims_of(shape: tuple[int, ...], weight: tuple[int, ...]) -> tuple[int, ...] | None:
    """The dims of a weight that an array has: all, or some in order (Adafactor's rows and columns).

    None where it is not made of them: a scalar, a placeholder of size 1.
    """
    found, dims = [], iter(enumerate(weight))
    for size in shape:
        match = next((d for d, whole in dims if whole == size), None)
        if match is None:
            return None
        found.append(match)
    return tuple(found)
