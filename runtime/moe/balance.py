"""How evenly experts are used, over the tokens of all devices."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax import lax

from .route import Routing


def load(routing: Routing, axes: Sequence[str] = ()) -> jax.Array:
    """[experts]: each one's share of all choices, in float32 or wider; zero for those that are padding.

    axes: those that split the tokens; along others that count as varying tokens are equal, and counted on each device
    """
    wide = jnp.promote_types(routing.scores.dtype, jnp.float32)
    experts = jnp.arange(routing.scores.shape[-1], dtype=routing.chosen.dtype)
    counts = (routing.chosen.reshape(-1, 1) == experts).sum(0, dtype=jnp.int32)
    if axes:
        counts = lax.psum(counts, tuple(axes))
    shares = counts.astype(wide) / (routing.chosen.size * (lax.axis_size(tuple(axes)) if axes else 1))
    return jnp.pad(shares, (0, routing.padding)) if routing.padding else shares


def dropped(routing: Routing, axes: Sequence[str] = ()) -> jax.Array:
    """The share of all choices that their experts have no room for, in float32 or wider; `axes` as those of `load`."""
    wide = jnp.promote_types(routing.scores.dtype, jnp.float32)
    if routing.stays is None:
        return jnp.zeros((), wide)
    lost = jnp.logical_not(routing.stays).sum(dtype=jnp.int32)
    if axes:
        lost = lax.psum(lost, tuple(axes))
    return lost.astype(wide) / (routing.stays.size * (lax.axis_size(tuple(axes)) if axes else 1))


def load_balance(routing: Routing, axes: Sequence[str] = ()) -> jax.Array:
    """The auxiliary loss of Switch Transformer (arXiv:2101.03961, eq. 4), 1 where experts are used evenly.

    experts * sum over experts of (share of choices) * (mean share of the scores), over all devices' tokens.
    """
    scores = routing.scores.astype(jnp.promote_types(routing.scores.dtype, jnp.float32))
    shares = (scores / scores.sum(-1, keepdims=True)).sum(0)
    devices = 1
    if axes:
        shares, devices = lax.psum(shares, tuple(axes)), lax.axis_size(tuple(axes))
    return scores.shape[-1] * (load(routing, axes)[: scores.shape[-1]] * shares).sum() / (len(scores) * devices)
