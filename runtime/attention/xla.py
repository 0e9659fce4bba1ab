"""Scaled dot-product attention as two einsums and a softmax, for XLA on any backend."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax import lax

from ..ops import MASKED, positions, wide
from .masks import Scores, Side, visible


def attend(
    q: jax.Array,
    k: jax.Array,
    v: jax.Array,
    *,
    causal: bool = True,
    window: int | None = None,
    scale: float | None = None,
    cap: float | None = None,
    chunk: int | None = None,
    real: int | None = None,
    sinks: jax.Array | None = None,
    segments: jax.Array | None = None,
    zigzag: int | None = None,
    own_heads: Sequence[str] = (),
    recompute: bool = True,
) -> jax.Array:
    """Attention of each query head to its key head: products in the inputs' dtype, softmax in float32.

    q: [..., seq, heads, head_dim]; k, v: [..., keys, kv_heads, head_dim], heads a multiple of kv_heads
    window: how many positions back a query sees, itself included; None: all
    scale: of the products; None: 1 / sqrt(head_dim)
    cap: scores become cap * tanh(score / cap), before the mask (Gemma 2, arXiv:2408.00118)
    chunk: a query sees the keys of its own chunk of so many positions
    real: keys from this position on are padding, which no query sees
    segments: int [..., seq], the segment that each position is of: a query sees the keys of its own
    zigzag: how many pairs of chunks the sequence, whole, is cut into where it is in that order
    sinks: [heads], one more score for each head, which softmax counts and which has no value (gpt-oss)
    own_heads: mesh axes that split the query heads and not the key heads; each device takes the key heads it needs
    recompute: scores are made again in the backward pass; q, k, v are all that is kept
    """
    if own_heads:
        k, v = (own(x, q.shape[-2], tuple(own_heads)) for x in (k, v))
    how = Scores(causal, window, scale, cap, chunk, real)
    return (_recomputed if recompute else _attend)(q, k, v, sinks, segments, how, zigzag)


def own(x, q_heads, axes):
    """Of whole key heads, those that the local query heads use."""
    group = q_heads * lax.axis_size(axes) // x.shape[-2]
    first = lax.axis_index(axes) * q_heads // group
    return lax.dynamic_slice_in_dim(x, first, max(1, q_heads // group), axis=x.ndim - 2)


def _attend(q, k, v, sinks, segments, how, zigzag):
    weights, total, _ = _weights(grouped(q, k, how), k, sinks, segments, how, zigzag)
    return _mixed(weights, total, v)


def scale_of(q, how):
    return q.shape[-1] ** -0.5 if how.scale is None else how.scale


def grouped(q, k, how):
    """Queries scaled, and their heads by the key head they share: [..., seq, kv_heads, group, head_dim]."""
    *batch, seq, heads, dim = q.shape
    kv_heads = k.shape[-2]
    return (q * scale_of(q, how)).astype(q.dtype).reshape(*batch, seq, kv_heads, heads // kv_heads, dim)


def _weights(q, k, sinks, segments, how, zigzag):
    """Softmax before its division: the exponentials [..., kv_heads, group, seq, keys], their sums over keys, and the
    exponential of each sink."""
    # Tied to the keys, else XLA moves a mask of the scores' size out of the loop over layers and keeps it all along.
    places = positions(q.shape[-4], (), zigzag), positions(k.shape[-3], (), zigzag)
    rows, columns, k = lax.optimization_barrier((*places, k))
    scores = products(q, k, how)
    seen = visible(Side(rows, segments), Side(columns, segments), how)
    if seen is not None:
        scores = jnp.where(seen, scores, MASKED)
    top = lax.stop_gradient(scores).max(axis=-1)
    if sinks is None:
        weights = jnp.exp(scores - top[..., None])
        return weights, weights.sum(axis=-1), None
    sinks = sinks.astype(scores.dtype).reshape(*scores.shape[-4:-2], 1)
    top = jnp.maximum(top, lax.stop_gradient(sinks))
    weights, sunk = jnp.exp(scores - top[..., None]), jnp.exp(sinks - top)
    return weights, weights.sum(axis=-1) + sunk, sunk


def products(q, k, how):
    """Scores before the mask: [..., kv_heads, group, seq, keys]."""
    scores = jnp.einsum("...skgd,...tkd->...kgst", q, k).astype(wide(q))
    return scores if how.cap is None else how.cap * jnp.tanh(scores / how.cap)


def _mixed(weights, total, v):
    """Softmax divides after the product with v: seq * head_dim divisions a head and not seq * keys, both ways."""
    mixed = jnp.einsum("...kgst,...tkd->...skgd", weights.astype(v.dtype), v)
    mixed = (mixed / beside(total)).astype(v.dtype)
    return mixed.reshape(*mixed.shape[:-3], -1, mixed.shape[-1])


def beside(total):
    """[..., kv_heads, group, seq] as [..., seq, kv_heads, group, 1]."""
    return jnp.moveaxis(total, -1, -3)[..., None]


@functools.partial(jax.custom_vjp, nondiff_argnums=(5, 6))
def _recomputed(q, k, v, sinks, segments, how, zigzag):
    """A `custom_vjp` and not `jax.checkpoint`: the policy of a checkpoint around it would save the scores inside."""
    return _attend(q, k, v, sinks, segments, how, zigzag)


def _forward(q, k, v, sinks, segments, how, zigzag):
    out = _attend(q, k, v, sinks, segments, how, zigzag)
    return out, (q, k, v, sinks, segments, out)


def _backward(how, zigzag, residuals, cotangent):
    """As FlashAttention does it (arXiv:2205.14135, appendix B), without tiles.

    The output says what softmax divides by.
    """
    q, k, v, sinks, segments, out = residuals
    q, k = lax.optimization_barrier((q, k))  # else XLA finds the forward pass's scores equal and keeps them
    scaled_q = grouped(q, k, how)
    weights, total, sunk = _weights(scaled_q, k, sinks, segments, how, zigzag)
    scaled = (cotangent.reshape(*scaled_q.shape[:-1], -1) / beside(total)).astype(v.dtype)
    along = (scaled * out.reshape(scaled.shape)).astype(total.dtype).sum(axis=-1)
    along = jnp.moveaxis(along, -3, -1)
    of_v = jnp.einsum("...kgst,...skgd->...tkd", weights.astype(v.dtype), scaled)
    of_weights = jnp.einsum("...skgd,...tkd->...kgst", scaled, v).astype(total.dtype)
    of_scores = weights * (of_weights - along[..., None])
    if how.cap is not None:
        of_scores *= 1 - jnp.square(products(scaled_q, k, how) / how.cap)
    of_scores = of_scores.astype(q.dtype)
    of_q = jnp.einsum("...kgst,...tkd->...skgd", of_scores, k) * scale_of(q, how)
    of_k = jnp.einsum("...kgst,...skgd->...tkd", of_scores, scaled_q)
    of_sinks = None
    if sinks is not None:
        of_sinks = -(sunk * along).sum(axis=(*range(along.ndim - 3), -1)).reshape(sinks.shape).astype(sinks.dtype)
    return of_q.astype(q.dtype).reshape(q.shape), of_k, of_v, of_sinks, None


_recomputed.defvjp(_forward, _backward)
