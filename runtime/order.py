"""Dims that lie on devices in another order than in files and in the spec.

The order of a dim is an index array as long as the dim is on devices: for each place there, the number that it has in
canonical form, or -1 where the place is padding. A zigzag order permutes; a stack of layers at rest in the order of
pipeline stages may have padding, too. `Orders` has one for each dim that has one, by its number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import jax
import jax.numpy as jnp
import numpy as np

PADDING = -1
Orders = Mapping[int, Sequence[int] | np.ndarray]
Array = TypeVar("Array", jax.Array, np.ndarray)


def zigzag(size: int, parts: int) -> np.ndarray:
    """The order in which part i of `parts` has chunks i and 2 * parts - 1 - i of 2 * parts: causal work is the same.

    int64 [size]; `size` divides by 2 * parts.
    """
    chunks = np.arange(size).reshape(2 * parts, -1)
    pairs = np.stack([chunks[:parts], chunks[: parts - 1 : -1]], axis=1)
    return pairs.reshape(size)


def places(order: Sequence[int] | np.ndarray) -> np.ndarray:
    """The inverse: for each canonical number its place on devices."""
    held = np.asarray(order)
    found = np.full(int((held != PADDING).sum()), PADDING)
    found[held[held != PADDING]] = np.flatnonzero(held != PADDING)
    return found


def on_devices(array: Array, orders: Orders) -> Array:
    """A canonical array as it lies on devices, padding zero."""
    for dim, order in orders.items():
        held = np.asarray(order)
        array = _taken(array, np.maximum(held, 0), dim)
        if (held == PADDING).any():
            shape = [1] * array.ndim
            shape[dim] = held.size
            real = (held != PADDING).reshape(shape)
            zero = array.dtype.type(0)  # not a product, which would make some zeros negative
            array = np.where(real, array, zero) if isinstance(array, np.ndarray) else jnp.where(real, array, zero)
    return array


def canonical(array: Array, orders: Orders) -> Array:
    """The inverse of `on_devices`."""
    for dim, order in orders.items():
        array = _taken(array, places(order), dim)
    return array


def natural(array: Array, orders: Orders) -> Array:
    """What a program made, with these dims in their natural order."""
    return canonical(array, orders)


def _taken(array: Array, index: np.ndarray, dim: int) -> Array:
    return np.take(array, index, dim) if isinstance(array, np.ndarray) else jnp.take(array, index, dim)
