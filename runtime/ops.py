"""The model's operations on local parts: what jax.numpy does not have, or has only for whole arrays.

`axes` names mesh axes that split a dim, the slowest first; empty where it is whole. Shapes here are what one device
holds.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.random import threefry2x32_p

from .rotary import Slowing, speeds
from .rotary import linear as linear
from .rotary import llama3 as llama3
from .rotary import yarn as yarn

Axes = Sequence[str]
MASKED = -1e30  # a score that no softmax sees, finite so that a fully masked row gives no NaN


def wide(x: jax.Array) -> jnp.dtype:
    """The dtype in which sums over `x` are made: float32, or its own where that is wider."""
    return jnp.promote_types(x.dtype, jnp.float32)


def positions(size: int, axes: Axes = (), zigzag: int | None = None) -> jax.Array:
    """Global positions of the local part of a dim: int32 [size].

    zigzag: into how many pairs of chunks a dim in that order is cut; positions are those of the natural order
    """
    here = jnp.arange(size, dtype=jnp.int32)
    if axes:
        here = here + lax.axis_index(tuple(axes)) * size
    return here if zigzag is None else natural_positions(here, size * _shards(axes), zigzag)


def natural_positions(places: jax.Array, whole: int, zigzag: int) -> jax.Array:
    """Where the entries at these places of a dim in zigzag order, `whole` long, are in the natural order."""
    chunk, offset = jnp.divmod(places, whole // (2 * zigzag))
    chunk = jnp.where(chunk % 2 == 0, chunk // 2, 2 * zigzag - 1 - chunk // 2)
    return chunk * (whole // (2 * zigzag)) + offset


def place_in_zigzag(positions: jax.Array, whole: int, zigzag: int) -> jax.Array:
    """The inverse of `natural_positions`."""
    chunk, offset = jnp.divmod(positions, whole // (2 * zigzag))
    chunk = jnp.where(chunk < zigzag, 2 * chunk, 2 * (2 * zigzag - 1 - chunk) + 1)
    return chunk * (whole // (2 * zigzag)) + offset


def natural_order(x: jax.Array, zigzag: int, axis: int) -> jax.Array:
    """A tensor whose dim `axis`, whole, is in zigzag order, in the natural one."""
    whole = x.shape[axis]
    return jnp.take(x, place_in_zigzag(jnp.arange(whole), whole, zigzag), axis=axis)


def zigzag_order(x: jax.Array, zigzag: int, axis: int) -> jax.Array:
    """The inverse of `natural_order`."""
    whole = x.shape[axis]
    return jnp.take(x, natural_positions(jnp.arange(whole), whole, zigzag), axis=axis)


def _shards(axes: Axes) -> int:
    return lax.axis_size(tuple(axes)) if axes else 1


def lookup(table: jax.Array, ids: jax.Array, axes: Axes = ()) -> jax.Array:
    """Rows of `table` [rows, ...] by id; zero where another shard holds the row, and for ids out of range.

    With `axes`, which split the rows, the result is this shard's addend of the sum over them.
    """
    if axes:
        ids = ids - lax.axis_index(tuple(axes)) * table.shape[0]
    return table.at[ids].get(mode="fill", fill_value=0, wrap_negative_indices=False)


def rope(
    x: jax.Array,
    theta: float = 10_000.0,
    axis: int = 1,
    axes: Axes = (),
    zigzag: int | None = None,
    *,
    interleaved: bool = False,
    scaling: Slowing | None = None,
    magnitude: float = 1.0,
) -> jax.Array:
    """Rotates pairs of the last dim by the position along `axis` (RoFormer, arXiv:2104.09864).

    interleaved: the pairs are (2i, 2i + 1), else (i, i + n/2)
    scaling: `linear(…)`, `llama3(…)` or `yarn(…)`; magnitude: what the result is multiplied by
    """
    half = x.shape[-1] // 2
    speed = jnp.asarray(speeds(half, theta, scaling), wide(x))
    angle = positions(x.shape[axis], axes, zigzag)[:, None].astype(wide(x)) * speed
    shape = [1] * x.ndim
    shape[axis], shape[-1] = x.shape[axis], half
    sin, cos = ((magnitude * f(angle)).astype(x.dtype).reshape(shape) for f in (jnp.sin, jnp.cos))
    if interleaved:
        a, b = x[..., ::2], x[..., 1::2]
        return jnp.stack([a * cos - b * sin, b * cos + a * sin], axis=-1).reshape(x.shape)
    a, b = jnp.split(x, 2, axis=-1)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


def softmax(
    x: jax.Array, axis: int = -1, axes: Axes = (), real: int | None = None, zigzag: int | None = None
) -> jax.Array:
    """Softmax in float32 over a dim that `axes` may split; positions from `real` on are padding and get zero."""
    x = x.astype(wide(x))
    if real is not None:
        shape = [1] * x.ndim
        shape[axis] = x.shape[axis]
        x = jnp.where((positions(x.shape[axis], axes, zigzag) < real).reshape(shape), x, MASKED)
    if not axes:
        return jax.nn.softmax(x, axis=axis)
    top = lax.pmax(lax.stop_gradient(x).max(axis=axis, keepdims=True), tuple(axes))
    e = jnp.exp(x - top)
    return e / lax.psum(e.sum(axis=axis, keepdims=True), tuple(axes))


def logsumexp(x: jax.Array, axis: int = -1, real: int | None = None) -> jax.Array:
    """log(sum(exp(x))) in float32 over a whole dim; positions from `real` on are padding and do not count."""
    x = x.astype(wide(x))
    return jax.nn.logsumexp(x if real is None else lax.slice_in_dim(x, 0, real, axis=axis), axis=axis)


def concatenate(parts: Sequence[jax.Array], axis: int) -> jax.Array:
    """Side by side along dim `axis` of the result; a part without some other dim of it is repeated along that."""
    rank = max(part.ndim for part in parts)
    parts = [part.reshape((1,) * (rank - part.ndim) + part.shape) for part in parts]
    shapes = [list(part.shape) for part in parts]
    for dim in range(rank):
        most = max(shape[dim] for shape in shapes)
        for shape in shapes:
            shape[dim] = shape[dim] if dim == axis else most
    return jnp.concatenate([jnp.broadcast_to(p, s) for p, s in zip(parts, shapes, strict=True)], axis=axis)


# ---------------------------------------------------------------- activations


def _from_input(function):
    """The function with nothing kept for its backward pass but its input; jax keeps up to four tensors of that size."""
    kept = jax.custom_vjp(function)
    kept.defvjp(lambda x: (function(x), x), lambda x, cotangent: jax.vjp(function, x)[1](cotangent))
    return kept


silu = _from_input(jax.nn.silu)
gelu = _from_input(functools.partial(jax.nn.gelu, approximate=False))
gelu_tanh = _from_input(functools.partial(jax.nn.gelu, approximate=True))
softplus = _from_input(jax.nn.softplus)

# ---------------------------------------------------------------- losses


def count(targets: jax.Array) -> jax.Array:
    """How many targets are real, which is: not negative. float32 scalar, at least 1."""
    return jnp.maximum((targets >= 0).sum(), 1).astype(jnp.float32)


def cross_entropy(logits: jax.Array, targets: jax.Array, axes: Axes = (), real: int | None = None) -> jax.Array:
    """Cross entropy in float32, summed over this device's real targets.

    logits: [..., vocab], the vocabulary split over `axes` and never gathered; entries from `real` on are padding
    targets: int [...], global ids; negative ones are not counted
    """
    return _cross_entropy(logits, targets, tuple(axes), real)


@functools.partial(jax.custom_vjp, nondiff_argnums=(2, 3))
def _cross_entropy(logits, targets, axes, real):
    return _cross_entropy_forward(logits, targets, axes, real)[0]


def _widened(logits, axes, real):
    logits = logits.astype(wide(logits))
    if real is None:
        return logits
    return jnp.where(positions(logits.shape[-1], axes) < real, logits, MASKED)


def _local(logits, targets, axes):
    """Targets as indices into the local vocabulary, and where they lie in it."""
    local = targets - lax.axis_index(axes) * logits.shape[-1] if axes else targets
    return local, (local >= 0) & (local < logits.shape[-1])


def _cross_entropy_forward(logits, targets, axes, real):
    x = _widened(logits, axes, real)
    local, mine = _local(logits, targets, axes)
    top = x.max(axis=-1)
    top = lax.pmax(top, axes) if axes else top
    total = jnp.exp(x - top[..., None]).sum(axis=-1)
    picked = jnp.take_along_axis(x, jnp.where(mine, local, 0)[..., None], axis=-1)[..., 0]
    picked = jnp.where(mine, picked, 0)
    if axes:
        total, picked = lax.psum((total, picked), axes)
    log_sum = top + jnp.log(total)
    return jnp.where(targets >= 0, log_sum - picked, 0).sum(), (logits, targets, log_sum)


def _cross_entropy_backward(axes, real, residuals, cotangent):
    """(softmax - one hot) of the logits, made from the saved logits: nothing of their size is kept beside them."""
    logits, targets, log_sum = residuals
    local, _ = _local(logits, targets, axes)
    weight = jnp.where(targets >= 0, cotangent, 0)[..., None]
    chosen = local[..., None] == jnp.arange(logits.shape[-1], dtype=local.dtype)
    share = jnp.exp(_widened(logits, axes, real) - log_sum[..., None])
    return ((share - chosen) * weight).astype(logits.dtype), None


_cross_entropy.defvjp(_cross_entropy_forward, _cross_entropy_backward)

# ---------------------------------------------------------------- movement and noise


@functools.partial(jax.custom_vjp, nondiff_argnums=(1, 2))
def shard(x: jax.Array, axes: str | tuple[str, ...], axis: int) -> jax.Array:
    """This device's part of dim `axis` of a tensor equal along `axes`; backward: an all-gather."""
    part = x.shape[axis] // lax.axis_size(axes)
    return lax.dynamic_slice_in_dim(x, lax.axis_index(axes) * part, part, axis=axis)


def _shard_forward(x, axes, axis):
    return shard(x, axes, axis), None


def _shard_backward(axes, axis, _, cotangent):
    return (lax.all_gather(cotangent, axes, axis=axis, tiled=True, to="invarying"),)


shard.defvjp(_shard_forward, _shard_backward)


def own_part(x: jax.Array, axes: str | tuple[str, ...], axis: int) -> jax.Array:
    """This device's part of dim `axis` of a tensor that counts as varying along `axes`; backward: zeros elsewhere."""
    part = x.shape[axis] // lax.axis_size(axes)
    return lax.dynamic_slice_in_dim(x, lax.axis_index(axes) * part, part, axis=axis)


def dropout(
    x: jax.Array,
    rate: float,
    key: jax.Array | None,
    split: Sequence[Axes] = (),
    zigzag: Mapping[int, int] | None = None,
) -> jax.Array:
    """Zeroes a share `rate` of `x` and scales the rest; without a key nothing.

    The mask is a function of `key` and the global coordinates alone, the counters of threefry: (row, column). So it
    is the same on every mesh. `split` gives the axes that split each dim, `zigzag` the dims in that order.
    """
    if rate == 0 or key is None:
        return x
    split = split or ((),) * x.ndim
    turned = zigzag or {}
    *rows, column = (
        positions(n, a, turned.get(d)).astype(jnp.uint32) for d, (n, a) in enumerate(zip(x.shape, split, strict=True))
    )
    row = jnp.zeros((1,) * x.ndim, jnp.uint32)
    for d, at in enumerate(rows):
        whole = x.shape[d] * math.prod(lax.axis_size(a) for a in split[d])
        row = row * jnp.uint32(whole) + at.reshape((-1,) + (1,) * (x.ndim - 1 - d))
    words = (*jax.random.key_data(key), row, column)
    bits, _ = threefry2x32_p.bind(*_alike(words, x.shape))
    keep = bits >= jnp.uint32(min(int(rate * 2**32), 2**32 - 1))
    return jnp.where(keep, x / jnp.asarray(1 - rate, x.dtype), 0)


def _alike(words, shape):
    """Broadcast to one shape, and counted as varying over the same axes, as a primitive wants its operands."""
    varying = frozenset().union(*(jax.typeof(w).manual_axis_type.varying for w in words))
    for w in words:
        missing = tuple(sorted(varying - jax.typeof(w).manual_axis_type.varying))
        w = jnp.broadcast_to(w, shape)
        yield lax.pcast(w, missing, to="varying") if missing else w
