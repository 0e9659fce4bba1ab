"""Which experts a token is sent to, and with which weights; which choices an expert has room for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .. import remat

Axes = Sequence[str]


def choose(
    scores: jax.Array,
    top_k: int,
    bias: jax.Array | None = None,
    *,
    normalise: bool = True,
    scale: float = 1.0,
    groups: int = 1,
    top_groups: int = 1,
) -> tuple[jax.Array, jax.Array]:
    """The experts of each token, int32 [tokens, top_k], best first, and their weights [tokens, top_k].

    scores: [tokens, experts]; of equal ones the first expert's counts
    bias: [experts], added for the choice alone (arXiv:2408.15664); no gradient goes through it
    normalise: weights are divided by their sum
    groups, top_groups: only experts of the best groups are chosen from, a group being as good as its two best together
        (DeepSeek-V3, arXiv:2412.19437, section 2.1.2)

    The choice is kept for the backward pass: computed anew, rounding could send a token elsewhere.
    """
    wanted = lax.stop_gradient(scores if bias is None else scores + bias.astype(scores.dtype))
    if top_groups < groups:
        wanted = _of_best_groups(wanted, groups, top_groups)
    experts = remat.kept_routing(lax.top_k(wanted, top_k)[1])
    weights = jnp.take_along_axis(scores, experts, axis=-1)
    if normalise:
        weights = weights / jnp.maximum(weights.sum(-1, keepdims=True), jnp.finfo(weights.dtype).tiny)
    return experts, weights if scale == 1 else weights * scale


def _of_best_groups(wanted: jax.Array, groups: int, top_groups: int) -> jax.Array:
    """The scores, minus infinity outside of each token's best groups."""
    grouped = wanted.reshape(len(wanted), groups, -1)
    worth = lax.top_k(grouped, min(2, grouped.shape[-1]))[0].sum(-1)
    best = lax.top_k(worth, top_groups)[1]
    chosen = (best[..., None] == jnp.arange(groups, dtype=best.dtype)).any(1)
    return jnp.where(chosen[..., None], grouped, -jnp.inf).reshape(wanted.shape)


def most(capacity: float, tokens: int, top_k: int, experts: int) -> int:
    """How many choices an expert has room for: `capacity` times its even share of all, rounded up."""
    return math.ceil(capacity * tokens * top_k / experts)


def has_room(
    chosen: jax.Array, experts: int, capacity: float, split: Sequence[Axes], zigzag: Mapping[int, int] | None = None
) -> jax.Array:
    """Which choices their expert has room for, bool like `chosen`: the first ones in the order of the global tokens.

    chosen: int32 [token dims …, top_k]
    split: for each token dim the axes that split it
    zigzag: of those that lie in zigzag order, into how many pairs of chunks
    """
    *tokens, top_k = chosen.shape
    whole = math.prod(tokens) * math.prod(lax.axis_size(tuple(axes)) for axes in split if axes)
    ranks = jnp.take_along_axis(_before(chosen, experts, split, zigzag or {}), chosen, axis=-1)
    return remat.kept_routing(ranks < most(capacity, whole, top_k, experts))


def _before(chosen: jax.Array, experts: int, split: Sequence[Axes], zigzag: Mapping[int, int]) -> jax.Array:
    """int32 [token dims …, experts]: how many tokens before this one, on all devices, chose each expert."""
    counts = (chosen[..., None] == jnp.arange(experts, dtype=chosen.dtype)).sum(-2, dtype=jnp.int32)
    before = jnp.zeros_like(counts)
    for dim in reversed(range(len(split))):  # counts: [token dims … up to this one, experts], of all that follow it
        axes = tuple(split[dim])
        places = _places(lax.axis_size(axes) if axes else 1, zigzag.get(dim))
        pieces = counts.reshape(*counts.shape[:dim], places.shape[1], -1, experts)
        inside = jnp.cumsum(pieces, axis=-2) - pieces
        totals = pieces.sum(-2)
        every = lax.all_gather(totals, axes) if axes else totals[None]
        here = jnp.asarray(places)[lax.axis_index(axes) if axes else 0]
        earlier = (places[:, :, None] < here).astype(jnp.int32)  # [device, piece, piece of this one]
        outside = jnp.einsum("d...qx,dqp->...px", every, earlier)
        here = (inside + outside[..., None, :]).reshape(counts.shape)
        before += here.reshape(*here.shape[:-1], *[1] * (before.ndim - here.ndim), experts)
        counts = every.sum((0, -2))
    return before


def _places(devices: int, pairs: int | None) -> np.ndarray:
    """The place, in natural order, of each device's pieces of a dim: [devices, pieces], the pieces alike in size.

    In zigzag order chunk i of 2 * `pairs` and the i-th last lie side by side, cut over devices / pairs devices.
    """
    device = np.arange(devices)[:, None]
    if pairs is None:
        return device
    cut = devices // pairs
    pieces = 2 if cut % 2 else 1
    each = cut * pieces // 2  # pieces of a chunk
    chunk, piece = device // cut, device % cut * pieces + np.arange(pieces)
    return np.where(piece < each, chunk, 2 * pairs - 1 - chunk) * each + piece % each
