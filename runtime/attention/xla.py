"""Scaled dot-product attention as two einsums and a softmax, for XLA on any backend."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax import lax

from ..ops import MASKED, wide


def attend(
    q: jax.Array,
    k: jax.Array,
    v: jax.Array,
    *,
    causal: bool = True,
    window: int | None = None,
    own_heads: Sequence[str] = (),
    recompute: bool = True,
) -> jax.Array:
    """Attention of each query head to its key head: products in the inputs' dtype, softmax in float32.

    q: [..., seq, heads, head_dim]; k, v: [..., keys, kv_heads, head_dim], heads a multiple of kv_heads
    window: how many positions back a query sees, itself included; None: all
    own_heads: mesh axes that split the query heads and not the key heads; each device takes the key heads it needs
    recompute: scores are made again in the backward pass; q, k, v are all that is kept
    """
    if own_heads:
        k, v = (_own(x, q.shape[-2], tuple(own_heads)) for x in (k, v))
    return (_recomputed if recompute else _attend)(q, k, v, causal, window)


def _own(x, q_heads, axes):
    """Of whole key heads, those that the local query heads use."""
    group = q_heads * lax.axis_size(axes) // x.shape[-2]
    first = lax.axis_index(axes) * q_heads // group
    return lax.dynamic_slice_in_dim(x, first, max(1, q_heads // group), axis=x.ndim - 2)


def _attend(q, k, v, causal, window):
    *batch, seq, heads, dim = q.shape
    kv_heads = k.shape[-2]
    grouped = (q * dim**-0.5).astype(q.dtype).reshape(*batch, seq, kv_heads, heads // kv_heads, dim)
    # Tied to the keys, else XLA moves a mask of the scores' size out of the loop over layers and keeps it all along.
    rows, columns, k = lax.optimization_barrier((jnp.arange(seq), jnp.arange(k.shape[-3]), k))
    scores = jnp.einsum("...skgd,...tkd->...kgst", grouped, k).astype(wide(q))
    if causal or window is not None:
        scores = jnp.where(_visible(rows, columns, causal, window), scores, MASKED)
    weights = jnp.exp(scores - lax.stop_gradient(scores).max(axis=-1, keepdims=True))
    total = jnp.moveaxis(weights.sum(axis=-1), -1, -3)[..., None]
    mixed = jnp.einsum("...kgst,...tkd->...skgd", weights.astype(v.dtype), v)
    # Softmax divides here, seq * head_dim times a head and not seq * keys times, forward and backward.
    return (mixed / total).astype(v.dtype).reshape(*batch, seq, heads, v.shape[-1])


def _visible(queries, keys, causal, window):
    """Which keys a query sees: bool [queries, keys] of their positions."""
    q, k = queries[:, None], keys[None, :]
    seen = [q >= k] if causal else []
    if window is not None:
        seen += [k > q - window] if causal else [k > q - window, k < q + window]
    return functools.reduce(jnp.logical_and, seen)


@functools.partial(jax.custom_vjp, nondiff_argnums=(3, 4))
def _recomputed(q, k, v, causal, window):
    """A `custom_vjp` and not `jax.checkpoint`: the policy of a checkpoint around it would save the scores inside."""
    return _attend(q, k, v, causal, window)


def _forward(q, k, v, causal, window):
    return _attend(q, k, v, causal, window), (q, k, v)


def _backward(causal, window, residuals, cotangent):
    again = lax.optimization_barrier(residuals)  # else XLA finds the forward pass's scores equal and keeps them
    return jax.vjp(lambda q, k, v: _attend(q, k, v, causal, window), *again)[1](cotangent)


_recomputed.defvjp(_forward, _backward)
