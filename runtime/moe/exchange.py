"""Rows to the devices that hold their expert, and back.

Two forms with equal results: where XLA has it, `ragged_all_to_all` sends what there is; on the CPU, an `all_to_all` of
blocks that have room for all that could be sent.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from .. import remat

Axes = tuple[str, ...]


class Plan(NamedTuple):
    """How many rows go where. Devices along the axes are numbered, the slowest axis first.

    sent: int32 [devices]: rows that go from here to each; `start`: where they begin among the rows sorted by expert
    came: int32 [devices, local experts]: rows that come from each, sorted by expert
    there: int32 [devices]: where on each other device the rows begin that come from there to here
    """

    sent: jax.Array
    start: jax.Array
    came: jax.Array
    there: jax.Array


def plan(counts: jax.Array, axes: Axes) -> Plan:
    """counts: int32 [experts], this device's rows for each."""
    every = remat.kept_routing(lax.all_gather(counts, axes))
    devices, experts = every.shape
    here = lax.axis_index(axes)
    every = every.reshape(devices, devices, experts // devices)  # from, to, expert there
    rows = every.sum(-1)
    starts = jnp.cumsum(rows, axis=1) - rows
    own = functools.partial(lax.dynamic_index_in_dim, index=here, keepdims=False)
    return Plan(own(rows, axis=0), own(starts, axis=0), own(every, axis=1), own(starts, axis=1))


def _sends_blocks(rows: jax.Array) -> bool:
    """Whether rows go in padded blocks. So do numbers of one a row, each of which the TPU's ragged form makes 128.

    Asked of the mesh, not left to `lax.platform_dependent`: that compiles to a conditional, and XLA:CPU takes what is
    in one and an all-to-all beside it for the same collective.
    """
    device = jax.sharding.get_abstract_mesh().abstract_device
    platform = device.platform if device is not None else jax.default_backend()
    return platform == "cpu" or rows.ndim == 1


@functools.partial(jax.custom_vjp, nondiff_argnums=(2, 3, 4))
def exchange(rows: jax.Array, plan: Plan, size: int, length: int, axes: Axes) -> jax.Array:
    """Rows [length, …] sorted by expert to [devices * size, …]: a block of `size` for each device that they come from.

    Behind the rows that came, a block is zero. The transpose of `back`.
    """
    out = _out_padded if _sends_blocks(rows) else _out_ragged
    return out(rows, plan, size, axes)


@functools.partial(jax.custom_vjp, nondiff_argnums=(2, 3, 4))
def back(blocks: jax.Array, plan: Plan, size: int, length: int, axes: Axes) -> jax.Array:
    """Blocks [devices * size, …] back to where their rows came from: [length, …]; rows that were not sent are zero."""
    way = _back_padded if _sends_blocks(blocks) else _back_ragged
    return way(blocks, plan, length, axes)


exchange.defvjp(
    lambda rows, plan, *static: (exchange(rows, plan, *static), plan),
    lambda size, length, axes, plan, g: (back(g, plan, size, length, axes), None),
)
back.defvjp(
    lambda blocks, plan, *static: (back(blocks, plan, *static), plan),
    lambda size, length, axes, plan, g: (exchange(g, plan, size, length, axes), None),
)

# ---------------------------------------------------------------- padded


def _out_padded(rows: jax.Array, plan: Plan, size: int, axes: Axes) -> jax.Array:
    place = jnp.arange(size, dtype=jnp.int32)
    index = plan.start[:, None] + place
    blocks = _or_zero(place < plan.sent[:, None], rows[jnp.minimum(index, len(rows) - 1)])
    return lax.all_to_all(blocks, axes, 0, 0, tiled=True).reshape(-1, *rows.shape[1:])


def _back_padded(blocks: jax.Array, plan: Plan, length: int, axes: Axes) -> jax.Array:
    size = len(blocks) // len(plan.sent)
    came = lax.all_to_all(blocks.reshape(-1, size, *blocks.shape[1:]), axes, 0, 0, tiled=True)
    row = jnp.arange(length, dtype=jnp.int32)
    ends = plan.start + plan.sent
    device = jnp.searchsorted(ends, row, side="right").astype(jnp.int32)
    sent = device < len(ends)
    device = jnp.where(sent, device, 0)
    index = jnp.where(sent, device * size + row - plan.start[device], 0)
    return _or_zero(sent, came.reshape(blocks.shape)[index])


def _or_zero(is_row: jax.Array, rows: jax.Array) -> jax.Array:
    return jnp.where(is_row.reshape(*is_row.shape, *[1] * (rows.ndim - is_row.ndim)), rows, 0)


# ---------------------------------------------------------------- ragged


def _out_ragged(rows: jax.Array, plan: Plan, size: int, axes: Axes) -> jax.Array:
    empty = jnp.zeros_like(rows, shape=(len(plan.sent) * size, *rows.shape[1:]))
    block = jnp.full_like(plan.sent, size) * lax.axis_index(axes)  # of this device, on each other
    return lax.ragged_all_to_all(
        rows, _like(rows, empty), plan.start, plan.sent, block, plan.came.sum(-1), axis_name=axes
    )


def _back_ragged(blocks: jax.Array, plan: Plan, length: int, axes: Axes) -> jax.Array:
    empty = jnp.zeros_like(blocks, shape=(length, *blocks.shape[1:]))
    size = len(blocks) // len(plan.sent)
    block = jnp.arange(len(plan.sent), dtype=jnp.int32) * size
    return lax.ragged_all_to_all(
        blocks, _like(blocks, empty), _like(plan.sent, block), plan.came.sum(-1), plan.there, plan.sent, axis_name=axes
    )


def _like(x: jax.Array, other: jax.Array) -> jax.Array:
    """`other`, counted as varying over the axes that `x` varies over."""
    missing = jax.typeof(x).manual_axis_type.varying - jax.typeof(other).manual_axis_type.varying
    return lax.pcast(other, tuple(sorted(missing)), to="varying") if missing else other
