"""Initial values, and modules as flat dicts of arrays: {"Llama.block.attention.wq": array}.

A value depends on seed, path and real shape, never on the mesh, the padding or the precision.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx

from .order import Orders, on_devices


class Carried(nnx.Variable):
    """A tensor carried from step to step and not trained."""


def child(key: jax.Array | None, name: str | int) -> jax.Array | None:
    """The key of a part of what `key` stands for; None, where nothing is drawn, stays None."""
    if key is None:
        return None
    return jax.random.fold_in(key, zlib.crc32(name.encode()) if isinstance(name, str) else name)


def turns(key: jax.Array | None, count: int) -> jax.Array | None:
    """A key for each turn of a repeat."""
    return None if key is None else jax.random.split(key, count)


def param(key, name, shape, *, std=None, constant=None, real=None, dtype=jnp.float32, kind=nnx.Param) -> nnx.Variable:
    """One weight: normal with deviation `std`, or `constant`.

    shape: what devices hold together; real: without padding. Padding is zero.
    """
    real = real or shape
    if constant is not None:
        value = jnp.full(real, constant, dtype)
    else:
        value = (std * jax.random.normal(child(key, name), real, jnp.float32)).astype(dtype)
    if real != shape:
        value = jnp.pad(value, [(0, n - r) for n, r in zip(shape, real, strict=True)])
    return kind(value)


def state(key, name, shape, **how) -> Carried:
    """One tensor of the spec's `state`, as `param`."""
    return param(key, name, shape, kind=Carried, **how)


def stacked(make: Callable[[jax.Array], Any], key: jax.Array, *counts: int) -> Any:
    """`prod(counts)` of one module, each with its own key, stacked along leading dims."""
    for _ in counts:
        make = nnx.vmap(make)
    return make(jax.random.split(key, counts))


# ---------------------------------------------------------------- modules and flat dicts


def structure(make: Callable[[jax.Array], nnx.Module]) -> nnx.GraphDef:
    """What a model is without its arrays; nothing is computed."""
    return nnx.split(nnx.eval_shape(lambda: make(jax.random.key(0))))[0]


def draw(
    make, name: str, seed, renamed: Mapping[str, str] | None = None, orders: Mapping[str, Orders] | None = None
) -> dict[str, jax.Array]:
    """Initial values of a model called `name`, by path; dims that have an order on devices are put in it."""
    drawn = flat(make(child(jax.random.key(seed), name)), name, renamed=renamed)
    return drawn | {path: on_devices(drawn[path], dims) for path, dims in (orders or {}).items()}


def flat(module, name: str, kind=nnx.Variable, renamed: Mapping[str, str] | None = None) -> dict[str, jax.Array]:
    """The arrays of a module by path. `renamed` maps attributes to the spec's names where these differ."""
    renamed = renamed or {}
    leaves = nnx.to_flat_state(nnx.state(module, kind))
    return {".".join((name, *(renamed.get(a, a) for a in path))): leaf[...] for path, leaf in leaves}


def assemble(model: nnx.GraphDef, arrays: Mapping[str, jax.Array], renamed: Mapping[str, str] | None = None) -> Any:
    """The module with these arrays, the inverse of `flat`. A copy, as differentiation needs."""
    attributes = {spec: attribute for attribute, spec in (renamed or {}).items()}
    paths = {tuple(attributes.get(n, n) for n in path.split(".")[1:]): a for path, a in arrays.items()}
    return nnx.merge(model, nnx.from_flat_state(paths), copy=True)
