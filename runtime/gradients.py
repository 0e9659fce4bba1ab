"""Gradients of weights whose place differs from their gradient's."""

from __future__ import annotations

from collections.abc import Mapping

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec


def zeros(weights: Mapping[str, jax.Array], rest: Mapping[str, PartitionSpec], grads: Mapping[str, PartitionSpec]):
    """What gradients are added up in: zeros of each weight's local shape in the place `grads`, float32 or wider.

    weights: local parts, in the place `rest`, counted as varying over the axes along which gradients still differ
    """
    return {path: _zeros(w, rest[path], grads[path]) for path, w in weights.items()}


def _zeros(weight: jax.Array, rest: PartitionSpec, grads: PartitionSpec) -> jax.Array:
    before, after = (_axes(spec, weight.ndim) for spec in (rest, grads))
    shape = [n * _size(b) // _size(a) for n, b, a in zip(weight.shape, before, after, strict=True)]
    dtype = jnp.promote_types(weight.dtype, jnp.float32)
    varying = jax.typeof(weight).manual_axis_type.varying | {a for axes in after for a in axes}
    here = jnp.zeros(shape, dtype)
    return lax.pcast(here, tuple(sorted(varying)), to="varying") if varying else here


def _axes(spec: PartitionSpec, ndim: int) -> list[tuple[str, ...]]:
    entries = [*spec, *[None] * (ndim - len(spec))]
    return [() if e is None else (e,) if isinstance(e, str) else tuple(e) for e in entries]


def _size(axes: tuple[str, ...]) -> int:
    return lax.axis_size(axes) if axes else 1
