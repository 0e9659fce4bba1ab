"""Which keys a query sees, from where both are in the sequence: never from where they lie on devices."""

from __future__ import annotations

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp


class Scores(NamedTuple):
    """How scores are made of queries and keys. `scale` None: 1 / sqrt(head_dim)."""

    causal: bool
    window: int | None = None
    scale: float | None = None
    cap: float | None = None
    chunk: int | None = None
    real: int | None = None  # keys from this position on are padding

    @property
    def hides(self) -> bool:
        """Whether a query may not see every key of its segment."""
        return self.causal or any(limit is not None for limit in (self.window, self.chunk, self.real))


class Side(NamedTuple):
    """Queries or keys: positions in the whole sequence [n], and the segments that they are of [..., n], if told."""

    positions: jax.Array
    segments: jax.Array | None = None


def visible(queries: Side, keys: Side, how: Scores) -> jax.Array | None:
    """Which keys a query sees: bool that broadcasts to scores [..., kv_heads, group, queries, keys]; None: all."""
    q, k = queries.positions[:, None], keys.positions[None, :]
    seen = [q >= k] if how.causal else []
    if how.window is not None:
        seen += [k > q - how.window] if how.causal else [k > q - how.window, k < q + how.window]
    if how.chunk is not None:
        seen.append(q // how.chunk == k // how.chunk)
    if how.real is not None:
        seen.append(k < how.real)
    if queries.segments is not None and keys.segments is not None:
        same = queries.segments[..., :, None] == keys.segments[..., None, :]
        seen.append(same[..., None, None, :, :])
    return functools.reduce(jnp.logical_and, seen) if seen else None


def may_see(queries: Side, keys: Side, how: Scores) -> jax.Array | None:
    """Whether some query can see some key, where positions are consecutive: bool scalar; None: they all do.

    Exact but for segments, of which only the range is looked at.
    """
    (first, last), (begin, end) = ((side.positions[0], side.positions[-1]) for side in (queries, keys))
    seen = [last >= begin] if how.causal else []
    if how.window is not None:
        seen.append(end > first - how.window)
        seen += [] if how.causal else [begin < last + how.window]
    if how.chunk is not None:
        seen += [end // how.chunk >= first // how.chunk, begin // how.chunk <= last // how.chunk]
    if how.real is not None:
        seen.append(begin < how.real)
    if queries.segments is not None and keys.segments is not None:
        (low, high), (least, most) = ((d.min(-1), d.max(-1)) for d in (queries.segments, keys.segments))
        seen.append(((most >= low) & (least <= high)).any())
    return functools.reduce(jnp.logical_and, seen) if seen else None
