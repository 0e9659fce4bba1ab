"""Tokens to the slots of their experts, products there, and back: what the spec's `route` and `combine` are."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
from jax import lax

from . import choice
from .exchange import Plan, Room, back, exchange, mine, plan

Axes = Sequence[str]


@dataclass(frozen=True)
class Routing:
    """Where this device's tokens went, and which rows lie in its slots.

    chosen: int32 [tokens, top_k]: the experts of this device's tokens; scores: [tokens, experts], of the router
    padding: how many experts there are besides, to which nothing is sent
    stays: bool like `chosen`: which of them their expert has room for; None where it has for all
    sizes: int32 [local experts]: rows of each, one expert after the other in the slots; behind them slots are zero
    owner: int32 [slots]: the local expert of each slot, the last one where it is empty; filled: bool [slots]
    weights: [slots]: what the row counts for its token
    order, inverse: the choices sorted by expert, int32 [tokens * top_k], and where each one is in that
    plan: who sends how many where; None where one device has all experts
    room: of the exchange; shape: the token dims
    """

    chosen: jax.Array
    scores: jax.Array
    padding: int
    stays: jax.Array | None
    sizes: jax.Array
    owner: jax.Array
    filled: jax.Array
    weights: jax.Array
    order: jax.Array
    inverse: jax.Array
    plan: Plan | None
    room: Room
    shape: tuple[int, ...]

    @property
    def top_k(self) -> int:
        return self.chosen.shape[-1]


def route(
    x: jax.Array,
    scores: jax.Array,
    *,
    top_k: int = 2,
    bias: jax.Array | None = None,
    axes: Axes = (),
    normalise: bool = True,
    scale: float = 1.0,
    groups: int = 1,
    top_groups: int = 1,
    capacity: float | None = None,
    split: Sequence[Axes] = (),
    zigzag: Mapping[int, int] | None = None,
    padding: int = 0,
) -> tuple[jax.Array, Routing]:
    """Each token in a slot of each of its experts: [slots, embed], and how it came there.

    x: [token dims …, embed]; scores: [token dims …, experts], all experts; see `choose` for what selects and weighs
    axes: mesh axes that split the experts, the slowest first; each device's tokens are its own
    capacity: None is dropless; else an expert takes that many times its even share of the global tokens' choices, the
        first ones in their order, for which `split` gives the axes that split each token dim, and `zigzag` into how
        many pairs of chunks those that lie in zigzag order are cut
    padding: how many of the last experts only fill up the dim; nothing is sent to them
    """
    *shape, embed = x.shape
    experts = scores.shape[-1]
    real = experts - padding
    x, scores = x.reshape(-1, embed), scores.reshape(-1, experts)[:, :real]
    bias = None if bias is None else bias[:real]
    chosen, weights = choice.choose(
        scores, top_k, bias, normalise=normalise, scale=scale, groups=groups, top_groups=top_groups
    )
    tokens = len(scores)
    devices = lax.axis_size(tuple(axes)) if axes else 1
    local = experts // devices
    stays, sent, slots = None, chosen, tokens * top_k if devices == 1 else devices * tokens * min(top_k, local)
    if capacity is not None:
        stays = choice.has_room(chosen.reshape(*shape, top_k), real, capacity, split or ((),) * len(shape), zigzag)
        stays = stays.reshape(chosen.shape)
        sent, weights = jnp.where(stays, chosen, experts), jnp.where(stays, weights, 0)
        whole = tokens * math.prod(lax.axis_size(tuple(a)) for a in split if a)
        slots = min(slots, local * choice.most(capacity, whole, top_k, real))
    order = jnp.argsort(sent.reshape(-1), stable=True).astype(jnp.int32)
    inverse = jnp.argsort(order).astype(jnp.int32)
    counts = (sent.reshape(-1, 1) == jnp.arange(experts, dtype=sent.dtype)).sum(0, dtype=jnp.int32)
    there = plan(counts, tuple(axes)) if devices > 1 else None
    sizes = counts if there is None else mine(there.rows, tuple(axes)).sum(0)
    ends = jnp.cumsum(sizes)
    slot = jnp.arange(slots, dtype=jnp.int32)
    owner = jnp.minimum(jnp.searchsorted(ends, slot, side="right", method="compare_all"), local - 1).astype(jnp.int32)
    room = Room(tuple(axes), tokens * top_k, tokens * min(top_k, local), slots)
    filled = slot < ends[-1]
    came = (sizes, owner, filled, weights, order, inverse)
    routing = Routing(chosen, scores, padding, stays, *came, there, room, tuple(shape))
    weighed = _to_slots(weights.reshape(-1)[order], routing)
    return _to_slots(_spread(x, order, inverse, top_k), routing), replace(routing, weights=weighed)


def _to_slots(rows: jax.Array, routing: Routing) -> jax.Array:
    """Rows sorted by expert into the slots of the devices that hold these."""
    if routing.plan is None:
        return _only_filled(rows[: routing.room.slots], routing)
    return exchange(rows, routing.plan, routing.room)


def _from_slots(rows: jax.Array, routing: Routing) -> jax.Array:
    """The slots' rows back on the devices that they came from, sorted by expert."""
    if routing.plan is None:
        return jnp.pad(rows, [(0, routing.room.length - len(rows)), *[(0, 0)] * (rows.ndim - 1)])
    return back(rows, routing.plan, routing.room)


# ---------------------------------------------------------------- at the experts


def product(rows: jax.Array, bank: jax.Array, routing: Routing, contracted: int = 1) -> jax.Array:
    """Each row times its expert's matrix: [slots, ins …] @ [local experts, ins …, outs …] is [slots, outs …]."""
    experts, *ins = bank.shape[: 1 + contracted]
    outs = bank.shape[1 + contracted :]
    flat = bank.reshape(experts, math.prod(ins), math.prod(outs))
    made = lax.ragged_dot(rows.reshape(len(rows), -1), flat, routing.sizes)
    return _only_filled(made, routing).reshape(len(rows), *outs)


def per_row(bank: jax.Array, routing: Routing) -> jax.Array:
    """For each slot its expert's entry of a [local experts, …] tensor; zero in empty slots."""
    return _only_filled(bank[routing.owner], routing)


def _only_filled(rows: jax.Array, routing: Routing) -> jax.Array:
    """Zero in empty slots, also in the backward pass, whatever a product leaves there."""
    return jnp.where(routing.filled.reshape(-1, *[1] * (rows.ndim - 1)), rows, 0)


def combine(rows: jax.Array, routing: Routing) -> jax.Array:
    """Each token's weighted sum of its experts' outputs: [slots, …] to [token dims …, …], in the dtype of `rows`."""
    weights = routing.weights.reshape(-1, *[1] * (rows.ndim - 1))
    home = _from_slots((rows * weights).astype(rows.dtype), routing)
    summed = _collect(home, routing.order, routing.inverse, routing.top_k)
    return summed.reshape(*routing.shape, *rows.shape[1:])


# ---------------------------------------------------------------- gathers whose transposes are gathers


@functools.partial(jax.custom_vjp, nondiff_argnums=(3,))
def _spread(x: jax.Array, order: jax.Array, inverse: jax.Array, top_k: int) -> jax.Array:
    """[tokens, …] to its choices sorted by expert, [tokens * top_k, …]."""
    return x[order // top_k]


@functools.partial(jax.custom_vjp, nondiff_argnums=(3,))
def _collect(rows: jax.Array, order: jax.Array, inverse: jax.Array, top_k: int) -> jax.Array:
    """The transpose of `_spread`: the sum over each token's choices, in the order of their scores on every mesh."""
    chosen = rows[inverse].reshape(-1, top_k, *rows.shape[1:])
    return chosen.sum(1, dtype=jnp.promote_types(rows.dtype, jnp.float32)).astype(rows.dtype)


_spread.defvjp(
    lambda x, order, inverse, top_k: (_spread(x, order, inverse, top_k), (order, inverse)),
    lambda top_k, kept, g: (_collect(g, *kept, top_k), None, None),
)
_collect.defvjp(
    lambda rows, order, inverse, top_k: (_collect(rows, order, inverse, top_k), (order, inverse)),
    lambda top_k, kept, g: (_spread(g, *kept, top_k), None, None),
)
