"""Which experts a token is sent to, and with which weights; which choices an expert has room for."""

from __future__ import annotations

import math
from collections.abc import Sequence

import jax
import jax.numpy as jnp
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


def has_room(chosen: jax.Array, experts: int, capacity: float, split: Sequence[Axes]) -> jax.Array:
    """Which choices their expert has room for, bool like `chosen`: the first ones in the order of the global tokens.

    chosen: int32 [token dims …, top_k]
    split: for each token dim the axes that split it
    """
    *tokens, top_k = chosen.shape
    whole = math.prod(tokens) * math.prod(lax.axis_size(tuple(axes)) for axes in split if axes)
    ranks = jnp.take_along_axis(_before(chosen, experts, split), chosen, axis=-1)
    return remat.kept_routing(ranks < most(capacity, whole, top_k, experts))


def _before(chosen: jax.Array, experts: int, split: Sequence[Axes]) -> jax.Array:
    """int32 [token dims …, experts]: how many tokens before this one, on all devices, chose each expert."""
    counts = (chosen[..., None] == jnp.arange(experts, dtype=chosen.dtype)).sum(-2, dtype=jnp.int32)
    before = jnp.zeros_like(counts)
    for dim in reversed(range(len(split))):  # counts: of the whole of all later dims
        here = jnp.cumsum(counts, axis=dim) - counts
        total = counts.sum(dim)
        if axes := tuple(split[dim]):
            parts = lax.all_gather(total, axes)
            earlier = jnp.arange(len(parts)) < lax.axis_index(axes)
            here += jnp.expand_dims(jnp.where(earlier.reshape(-1, *[1] * total.ndim), parts, 0).sum(0), dim)
            total = parts.sum(0)
        before += here.reshape(*here.shape[:-1], *[1] * (before.ndim - here.ndim), experts)
        counts = total
    return before
