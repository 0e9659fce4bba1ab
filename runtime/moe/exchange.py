"""Rows to the devices that hold their expert, and back.

Two forms with equal results: where XLA has it, `ragged_all_to_all` sends what there is, each expert's rows straight to
their slots; on the CPU, an `all_to_all` of blocks that have room for all that could be sent.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from .. import remat


class Plan(NamedTuple):
    """How many rows go where. Devices along the axes are numbered, the slowest axis first.

    rows: int32 [devices, experts]: of each device for each expert
    origin: int32 [devices, experts]: where they begin among that device's rows, which are sorted by expert
    slot: int32 [devices, experts]: where they begin in the slots of the expert's device
    """

    rows: jax.Array
    origin: jax.Array
    slot: jax.Array


class Room(NamedTuple):
    """`axes` that split the experts; `length` rows of a device, at most `block` of them for one other; its `slots`."""

    axes: tuple[str, ...]
    length: int
    block: int
    slots: int


def plan(counts: jax.Array, axes: tuple[str, ...]) -> Plan:
    """counts: int32 [experts], this device's rows for each."""
    rows = remat.kept_routing(lax.all_gather(counts, axes))
    origin = jnp.cumsum(rows, axis=1) - rows
    earlier = jnp.cumsum(rows, axis=0) - rows
    here = rows.sum(0).reshape(len(rows), -1)  # device, expert there
    return Plan(rows, origin, (jnp.cumsum(here, axis=1) - here).reshape(-1) + earlier)


def mine(table: jax.Array, axes: tuple[str, ...]) -> jax.Array:
    """The columns [devices, local experts] of this device's experts."""
    local = table.shape[1] // len(table)
    return lax.dynamic_slice_in_dim(table, lax.axis_index(axes) * local, local, axis=1)


def _own(table: jax.Array, axes: tuple[str, ...]) -> jax.Array:
    """This device's line [experts]."""
    return lax.dynamic_index_in_dim(table, lax.axis_index(axes), keepdims=False)


@functools.partial(jax.custom_vjp, nondiff_argnums=(2,))
def exchange(rows: jax.Array, plan: Plan, room: Room) -> jax.Array:
    """Rows [length, …] sorted by expert to [slots, …] of their experts; slots that are not filled are zero."""
    return (_out_padded if _in_blocks(rows) else _out_ragged)(rows, plan, room)


@functools.partial(jax.custom_vjp, nondiff_argnums=(2,))
def back(rows: jax.Array, plan: Plan, room: Room) -> jax.Array:
    """The transpose of `exchange`: [slots, …] to where they came from, [length, …]; what was not sent is zero."""
    return (_back_padded if _in_blocks(rows) else _back_ragged)(rows, plan, room)


exchange.defvjp(
    lambda rows, plan, room: (exchange(rows, plan, room), plan), lambda room, p, g: (back(g, p, room), None)
)
back.defvjp(lambda rows, plan, room: (back(rows, plan, room), plan), lambda room, p, g: (exchange(g, p, room), None))


def _in_blocks(rows: jax.Array) -> bool:
    """Whether rows go in padded blocks. So do numbers of one a row, each of which the TPU's ragged form makes 128.

    Asked of the mesh, not left to `lax.platform_dependent`: that compiles to a conditional, and XLA:CPU takes what is
    in one and an all-to-all beside it for the same collective.
    """
    device = jax.sharding.get_abstract_mesh().abstract_device
    platform = device.platform if device is not None else jax.default_backend()
    return platform == "cpu" or rows.ndim == 1


# ---------------------------------------------------------------- ragged


def _out_ragged(rows: jax.Array, plan: Plan, room: Room) -> jax.Array:
    origin, sent, slot = (_own(table, room.axes) for table in (plan.origin, plan.rows, plan.slot))
    came = mine(plan.rows, room.axes).reshape(-1)
    return lax.ragged_all_to_all(rows, _zeros(rows, room.slots), origin, sent, slot, came, axis_name=room.axes)


def _back_ragged(rows: jax.Array, plan: Plan, room: Room) -> jax.Array:
    origin, came, slot = (mine(table, room.axes).reshape(-1) for table in (plan.origin, plan.rows, plan.slot))
    sent = _own(plan.rows, room.axes)
    return lax.ragged_all_to_all(rows, _zeros(rows, room.length), slot, came, origin, sent, axis_name=room.axes)


def _zeros(rows: jax.Array, number: int) -> jax.Array:
    """That many rows of zeros, counted as varying over the axes that `rows` varies over."""
    axes = tuple(sorted(jax.typeof(rows).manual_axis_type.varying))
    return lax.pcast(jnp.zeros((number, *rows.shape[1:]), rows.dtype), axes, to="varying")


# ---------------------------------------------------------------- padded


def _out_padded(rows: jax.Array, plan: Plan, room: Room) -> jax.Array:
    start, end = _bounds(plan, room)
    index = start[:, None] + jnp.arange(room.block, dtype=jnp.int32)
    blocks = rows.at[jnp.where(index < end[:, None], index, room.length)].get(mode="fill", fill_value=0)
    came = lax.all_to_all(blocks, room.axes, 0, 0, tiled=True)
    return came.reshape(-1, *rows.shape[1:]).at[_of_slots(plan, room)].get(mode="fill", fill_value=0)


def _back_padded(rows: jax.Array, plan: Plan, room: Room) -> jax.Array:
    blocks = rows.at[_of_blocks(plan, room)].get(mode="fill", fill_value=0)
    came = lax.all_to_all(blocks, room.axes, 0, 0, tiled=True).reshape(-1, *rows.shape[1:])
    start, end = _bounds(plan, room)
    row = jnp.arange(room.length, dtype=jnp.int32)
    device = (row[:, None] >= end).sum(1, dtype=jnp.int32)
    index = device * room.block + row - start[jnp.minimum(device, len(end) - 1)]
    return came.at[jnp.where(device < len(end), index, len(came))].get(mode="fill", fill_value=0)


def _bounds(plan: Plan, room: Room) -> tuple[jax.Array, jax.Array]:
    """int32 [devices]: where this device's rows for each of the others begin and end."""
    sent = _own(plan.rows, room.axes).reshape(len(plan.rows), -1).sum(1)
    end = jnp.cumsum(sent)
    return end - sent, end


def _of_slots(plan: Plan, room: Room) -> jax.Array:
    """int32 [slots]: the row of the blocks that came that each slot takes; behind them all where it is empty."""
    came, first = mine(plan.rows, room.axes), mine(plan.slot, room.axes)
    inside = jnp.cumsum(came, axis=1) - came  # where in its block each run of rows begins
    slot = jnp.arange(room.slots, dtype=jnp.int32)[:, None]
    run = (slot >= (first + came).T.reshape(-1)).sum(1, dtype=jnp.int32)  # runs lie by expert, then by device
    expert, device = jnp.divmod(jnp.minimum(run, came.size - 1), len(came))
    row = device * room.block + inside[device, expert] + slot[:, 0] - first[device, expert]
    return jnp.where(run < came.size, row, len(came) * room.block)


def _of_blocks(plan: Plan, room: Room) -> jax.Array:
    """int32 [devices, block]: the slot of each row of the blocks that came; behind them all where there is none."""
    came, first = mine(plan.rows, room.axes), mine(plan.slot, room.axes)
    end = jnp.cumsum(came, axis=1)
    row = jnp.arange(room.block, dtype=jnp.int32)
    expert = (row[None, :, None] >= end[:, None, :]).sum(2, dtype=jnp.int32)
    held = jnp.minimum(expert, came.shape[1] - 1)
    slot = jnp.take_along_axis(first - (end - came), held, axis=1) + row
    return jnp.where(expert < came.shape[1], slot, room.slots)
