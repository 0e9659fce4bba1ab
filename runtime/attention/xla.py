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
    q = _grouped(q, k)
    weights, total = _weights(q, k, causal, window)
    return _mixed(weights, total, v)


def _grouped(q, k):
    """Queries scaled, and their heads by the key head they share: [..., seq, kv_heads, group, head_dim]."""
    *batch, seq, heads, dim = q.shape
    kv_heads = k.shape[-2]
    return (q * dim**-0.5).astype(q.dtype).reshape(*batch, seq, kv_heads, heads // kv_heads, dim)


def _weights(q, k, causal, window):
    """Softmax before its division: the exponentials [..., kv_heads, group, seq, keys], and their sums over keys."""
    # Tied to the keys, else XLA moves a mask of the scores' size out of the loop over layers and keeps it all along.
    rows, columns, k = lax.optimization_barrier((jnp.arange(q.shape[-4]), jnp.arange(k.shape[-3]), k))
    scores = jnp.einsum("...skgd,...tkd->...kgst", q, k).astype(wide(q))
    if causal or window is not None:
        scores = jnp.where(_visible(rows, columns, causal, window), scores, MASKED)
    weights = jnp.exp(scores - lax.stop_gradient(scores).max(axis=-1, keepdims=True))
    return weights, weights.sum(axis=-1)


def _mixed(weights, total, v):
    """Softmax divides after the product with v: seq * head_dim divisions a head and not seq * keys, both ways."""
    mixed = jnp.einsum("...kgst,...tkd->...skgd", weights.astype(v.dtype), v)
    mixed = (mixed / _beside(total)).astype(v.dtype)
    return mixed.reshape(*mixed.shape[:-3], -1, mixed.shape[-1])


def _beside(total):
    """[..., kv_heads, group, seq] as [..., seq, kv_heads, group, 1]."""
    return jnp.moveaxis(total, -1, -3)[..., None]


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
    out = _attend(q, k, v, causal, window)
    return out, (q, k, v, out)


def _backward(causal, window, residuals, cotangent):
    """As FlashAttention does it (arXiv:2205.14135, appendix B), without tiles.

    The output says what softmax divides by.
    """
    q, k, v, out = residuals
    q, k = lax.optimization_barrier((q, k))  # else XLA finds the forward pass's scores equal and keeps them
    grouped = _grouped(q, k)
    weights, total = _weights(grouped, k, causal, window)
    scaled = (cotangent.reshape(*grouped.shape[:-1], -1) / _beside(total)).astype(v.dtype)
    along = (scaled * out.reshape(scaled.shape)).astype(total.dtype).sum(axis=-1)
    along = jnp.moveaxis(along, -3, -1)[..., None]
    of_v = jnp.einsum("...kgst,...skgd->...tkd", weights.astype(v.dtype), scaled)
    of_weights = jnp.einsum("...skgd,...tkd->...kgst", scaled, v).astype(total.dtype)
    of_scores = (weights * (of_weights - along)).astype(q.dtype)
    of_q = jnp.einsum("...kgst,...tkd->...skgd", of_scores, k) * q.shape[-1] ** -0.5
    of_k = jnp.einsum("...kgst,...skgd->...tkd", of_scores, grouped)
    return of_q.astype(q.dtype).reshape(q.shape), of_k, of_v


_recomputed.defvjp(_forward, _backward)
