"""Attention over a sequence that is split: every query meets all keys, which travel in blocks.

Round a ring (arXiv:2310.01889) each device hands the keys and values that it has to the next one, n - 1 times of n
devices, and merges what its queries see of them into a running softmax; gathered, it has them all at once. The
backward pass, written by hand, lets them travel again, and with them what their gradients are so far. Blocks are cut at
the ends of the chunks of a zigzag order, so positions in a block are consecutive, and one that a mask hides is skipped:
in zigzag order each device then has as much to do in each turn as any other.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..ops import MASKED, natural_positions, wide
from .masks import Scores, Side, may_see, visible
from .xla import beside, grouped, own, products, scale_of


def ring(
    q: jax.Array,
    k: jax.Array,
    v: jax.Array,
    *,
    over: Sequence[str],
    gathered: Sequence[str] = (),
    zigzag: int | None = None,
    causal: bool = True,
    window: int | None = None,
    scale: float | None = None,
    cap: float | None = None,
    chunk: int | None = None,
    real: int | None = None,
    sinks: jax.Array | None = None,
    segments: jax.Array | None = None,
    own_heads: Sequence[str] = (),
) -> jax.Array:
    """Attention as `attend`, of sequences split over the mesh axes `over`, the slowest first.

    q: [..., seq, heads, head_dim]; k, v: [..., seq, kv_heads, head_dim]; seq is this device's part
    gathered: those of `over` along which keys and values are gathered before they go round the others
    zigzag: into how many pairs of chunks the whole sequence is cut, where it is in that order
    segments: int [..., seq] of the whole sequence, in its order on devices
    """
    if own_heads:
        k, v = (own(x, q.shape[-2], tuple(own_heads)) for x in (k, v))
    how = Scores(causal, window, scale, cap, chunk, real)
    return _exchanged(q, k, v, sinks, segments, Plan(how, tuple(over), tuple(gathered), zigzag))


def gather(q: jax.Array, k: jax.Array, v: jax.Array, *, over: Sequence[str], **options) -> jax.Array:
    """As `ring`, keys and values gathered over all axes, and in the backward pass again."""
    return ring(q, k, v, over=over, gathered=over, **options)


# ---------------------------------------------------------------- where blocks are


class Plan(NamedTuple):
    """What is known of an exchange when it is traced."""

    how: Scores
    over: tuple[str, ...]
    gathered: tuple[str, ...]
    zigzag: int | None

    @property
    def along(self) -> tuple[str, ...]:
        """The axes of the ring."""
        return tuple(a for a in self.over if a not in self.gathered)

    @property
    def turns(self) -> int:
        return math.prod(lax.axis_size(a) for a in self.along)

    def here(self) -> jax.Array | int:
        """This device's place in the ring."""
        return lax.axis_index(self.along) if self.along else 0

    def shards(self) -> np.ndarray:
        """Number of the sequence's shard, by place in the ring and number among the gathered ones."""
        sizes = [lax.axis_size(a) for a in self.over]
        axes = [self.over.index(a) for a in (*self.along, *self.gathered)]
        return np.arange(math.prod(sizes)).reshape(sizes).transpose(axes).reshape(self.turns, -1)

    def next(self, x):
        """From each device to the next of the ring."""
        pairs = [(i, (i + 1) % self.turns) for i in range(self.turns)]
        return jax.tree.map(lambda a: lax.ppermute(a, self.along, pairs), x)


class Cut(NamedTuple):
    """The whole sequence as pieces of consecutive positions, `size` each, `each` of them on a device."""

    size: int
    each: int
    whole: int
    zigzag: int | None

    def sides(self, shards: jax.Array, segments: jax.Array | None) -> Side:
        """Positions [pieces, size] and segments [pieces, ..., size] of the pieces of some shards."""
        numbers = (shards[:, None] * self.each + jnp.arange(self.each)).reshape(-1)
        first = numbers * self.size
        if self.zigzag is not None:
            first = natural_positions(first, self.whole, self.zigzag)
        positions = first[:, None] + jnp.arange(self.size)
        if segments is None:
            return Side(positions)
        pieces = self.pieces(segments, segments.ndim - 1)
        return Side(positions, jnp.take(pieces, numbers, axis=0))

    def pieces(self, x: jax.Array, axis: int) -> jax.Array:
        """A tensor's dim `axis` cut into pieces: [pieces, …, size, …]."""
        cut = x.reshape(*x.shape[:axis], -1, self.size, *x.shape[axis + 1 :])
        return jnp.moveaxis(cut, axis, 0)

    def joined(self, x: jax.Array, axis: int) -> jax.Array:
        """The inverse of `pieces`."""
        back = jnp.moveaxis(x, 0, axis)
        return back.reshape(*back.shape[:axis], -1, *back.shape[axis + 2 :])


def _cut(local: int, plan: Plan, segments) -> Cut:
    whole = local * math.prod(lax.axis_size(a) for a in plan.over)
    if not plan.how.hides and segments is None:
        return Cut(local, 1, whole, None)  # positions do not matter
    size = local if plan.zigzag is None else math.gcd(local, whole // (2 * plan.zigzag))
    return Cut(size, local // size, whole, plan.zigzag)


# ---------------------------------------------------------------- forward


class Softmax(NamedTuple):
    """Of queries so far: the largest score and the sum of exponentials [..., kv_heads, group, seq], and the mixed
    values before the division [..., seq, kv_heads, group, head_dim]."""

    top: jax.Array
    total: jax.Array
    mixed: jax.Array


@functools.partial(jax.custom_vjp, nondiff_argnums=(5,))
def _exchanged(q, k, v, sinks, segments, plan):
    return _forward(q, k, v, sinks, segments, plan)[0]


def _forward(q, k, v, sinks, segments, plan):
    cut = _cut(q.shape[-3], plan, segments)
    queries = cut.pieces(grouped(q, k, plan.how), q.ndim - 3)
    sides, shards = _own_sides(cut, plan, segments), jnp.asarray(plan.shards())
    state = _varying(_nothing(queries, v), (q, k, v))
    turn = functools.partial(_merge_all, queries, sides, plan=plan, cut=cut, segments=segments)
    held = _gathered((k, v), plan)

    def go_on(carry, number):
        held, state = carry
        ahead = plan.next(held)  # on its way while this one is worked on
        return (ahead, turn(state, held, shards[_source(plan, number)])), None

    (held, state), _ = _scan(go_on, (held, state), jnp.arange(plan.turns - 1))
    state = turn(state, held, shards[_source(plan, plan.turns - 1)])
    if sinks is not None:
        state = _sunk(state, sinks)
    total = jnp.maximum(state.total, 1)  # has exp(0) in it, but of a query that sees no key: in padding, say
    out = cut.joined(state.mixed / jax.vmap(beside)(total), q.ndim - 3).astype(v.dtype)
    out = out.reshape(*q.shape[:-1], v.shape[-1])
    return out, (q, k, v, sinks, segments, out, state.top + jnp.log(total))


def _own_sides(cut: Cut, plan: Plan, segments) -> Side:
    return cut.sides(lax.axis_index(plan.over)[None], segments)


def _source(plan: Plan, turn):
    """Whose keys a device has after so many turns."""
    return (plan.here() - turn) % plan.turns


def _gathered(tensors, plan: Plan):
    """Keys and values of all shards that do not go round, one after the other."""
    if not plan.gathered:
        return tensors
    return tuple(lax.all_gather(x, plan.gathered, axis=x.ndim - 3, tiled=True) for x in tensors)


def _nothing(queries, v) -> Softmax:
    """Of no keys yet; [pieces, …]."""
    dtype = wide(queries)
    each = jnp.moveaxis(queries[..., 0], -3, -1).astype(dtype)
    mixed = jnp.zeros((*queries.shape[:-1], v.shape[-1]), dtype)
    return Softmax(jnp.full(each.shape, MASKED, dtype), jnp.zeros(each.shape, dtype), mixed)


def _varying(tree, like):
    """Counted as varying over all axes that `like` varies over, as a loop and a branch want it."""
    axes = frozenset().union(*(_axes_of(x) for x in jax.tree.leaves(like)))

    def cast(x):
        missing = tuple(sorted(axes - _axes_of(x)))
        return lax.pcast(x, missing, to="varying") if missing else x

    return jax.tree.map(cast, tree)


def _axes_of(x) -> frozenset[str]:
    return jax.typeof(x).manual_axis_type.varying


def _merge_all(queries, sides, state, held, shards, *, plan, cut, segments):
    """The state with the blocks of some shards merged in."""
    keys, values = (cut.pieces(x, x.ndim - 3) for x in held)
    columns = cut.sides(shards, segments)

    def of_queries(_, piece):
        q, rows, state = piece

        def of_keys(state, block):
            k, v, there = block
            merge = functools.partial(_merge, plan.how, q, rows, k, v, there)
            return _where_seen(may_see(rows, there, plan.how), merge, state), None

        return None, _scan(of_keys, state, (keys, values, columns))[0]

    return _scan(of_queries, None, (queries, sides, state))[1]


def _where_seen(seen, function, state):
    return function(state) if seen is None else lax.cond(seen, function, lambda state: state, state)


def _merge(how, q, rows, k, v, columns, state):
    """A softmax with one more block of keys (online softmax, arXiv:1805.02867)."""
    scores = _masked(how, q, rows, k, columns)
    top = jnp.maximum(state.top, scores.max(axis=-1))
    weights, kept = jnp.exp(scores - top[..., None]), jnp.exp(state.top - top)
    mixed = jnp.einsum("...kgst,...tkd->...skgd", weights.astype(v.dtype), v, preferred_element_type=wide(v))
    return Softmax(top, state.total * kept + weights.sum(axis=-1), state.mixed * beside(kept) + mixed)


def _masked(how, q, rows, k, columns):
    scores, seen = products(q, k, how), visible(rows, columns, how)
    return scores if seen is None else jnp.where(seen, scores, MASKED)


def _sunk(state, sinks):
    """One more score for each head, without a value."""
    sinks = sinks.astype(state.top.dtype).reshape(*state.top.shape[-3:-1], 1)
    top = jnp.maximum(state.top, sinks)
    kept = jnp.exp(state.top - top)
    return Softmax(top, state.total * kept + jnp.exp(sinks - top), state.mixed * jax.vmap(beside)(kept))


# ---------------------------------------------------------------- backward


def _backward(plan, residuals, cotangent):
    """Keys and values go round again; the gradients of each go with them once they have left home, n - 1 turns, too."""
    q, k, v, sinks, segments, out, log_total = residuals
    q, k, v = lax.optimization_barrier((q, k, v))  # else what forward gathered and scored may be kept for here
    cut, at = _cut(q.shape[-3], plan, segments), q.ndim - 3
    queries = cut.pieces(grouped(q, k, plan.how), at)
    shape = (*q.shape[:-2], *queries.shape[-3:-1], v.shape[-1])
    of_out = cotangent.reshape(shape)
    along = (of_out * out.reshape(shape)).astype(log_total.dtype).sum(axis=-1)
    along = jnp.moveaxis(cut.pieces(along, at), -3, -1)
    sides, shards = _own_sides(cut, plan, segments), jnp.asarray(plan.shards())
    each = (queries, sides, cut.pieces(of_out, at), along, log_total)
    like = (q, k, v)
    turn = functools.partial(_gradients_all, each, plan=plan, cut=cut, segments=segments)

    held = _gathered((k, v), plan)
    none = _varying(tuple(jnp.zeros(x.shape, wide(x)) for x in held), like)
    of_q = _varying(jnp.zeros(queries.shape, wide(q)), like)
    of_q, of_own = turn(of_q, none, held, shards[_source(plan, 0)])
    if plan.turns > 1:
        held = plan.next(held)

        def go_on(carry, number):
            held, of_q, of_held = carry
            ahead = plan.next(held)
            of_q, of_held = turn(of_q, of_held, held, shards[_source(plan, number)])
            return (ahead, of_q, plan.next(of_held)), None

        carry = (held, of_q, none)
        (held, of_q, of_held), _ = _scan(go_on, carry, jnp.arange(1, plan.turns - 1))
        of_q, of_held = turn(of_q, of_held, held, shards[_source(plan, plan.turns - 1)])
        of_own = jax.tree.map(jnp.add, of_own, plan.next(of_held))
    of_k, of_v = (x.astype(like.dtype) for x, like in zip(of_own, (k, v), strict=True))
    if plan.gathered:
        of_k, of_v = (
            lax.psum_scatter(x, plan.gathered, scatter_dimension=x.ndim - 3, tiled=True) for x in (of_k, of_v)
        )
    of_q = cut.joined(of_q * scale_of(q, plan.how), at).astype(q.dtype).reshape(q.shape)
    return of_q, of_k, of_v, _of_sinks(sinks, along, log_total), None


def _gradients_all(each, of_q, of_held, held, shards, *, plan, cut, segments):
    """Gradients of queries, keys and values with those through the blocks of some shards added."""
    axes = [x.ndim - 3 for x in held]
    keys, values, of_keys, of_values = (
        cut.pieces(x, at) for x, at in zip((*held, *of_held), (*axes, *axes), strict=True)
    )
    columns = cut.sides(shards, segments)

    def of_queries(of_held, piece):
        (q, rows, *rest), of_q = piece

        def of_block(of_q, block):
            k, v, there, of_k, of_v = block
            add = functools.partial(_add_gradients, plan.how, (q, rows, *rest), k, v, there)
            of_q, of_k, of_v = _where_seen(may_see(rows, there, plan.how), add, (of_q, of_k, of_v))
            return of_q, (of_k, of_v)

        of_q, of_held = _scan(of_block, of_q, (keys, values, columns, *of_held))
        return of_held, of_q

    of_held, of_q = _scan(of_queries, (of_keys, of_values), (each, of_q))
    return of_q, tuple(cut.joined(x, at) for x, at in zip(of_held, axes, strict=True))


def _add_gradients(how, queries, k, v, columns, gradients):
    """As FlashAttention does it (arXiv:2205.14135, appendix B), for one block."""
    q, rows, of_out, along, log_total = queries
    of_q, of_k, of_v = gradients
    sums = functools.partial(jnp.einsum, preferred_element_type=wide(q))
    weights = jnp.exp(_masked(how, q, rows, k, columns) - log_total[..., None])
    of_v = of_v + sums("...kgst,...skgd->...tkd", weights.astype(v.dtype), of_out)
    of_scores = weights * (sums("...skgd,...tkd->...kgst", of_out, v) - along[..., None])
    if how.cap is not None:
        of_scores *= 1 - jnp.square(products(q, k, how) / how.cap)
    of_scores = of_scores.astype(q.dtype)
    of_q = of_q + sums("...kgst,...tkd->...skgd", of_scores, k)
    return of_q, of_k + sums("...kgst,...skgd->...tkd", of_scores, q), of_v


def _of_sinks(sinks, along, log_total):
    if sinks is None:
        return None
    sunk = jnp.exp(sinks.astype(log_total.dtype).reshape(*log_total.shape[-3:-1], 1) - log_total)
    return -(sunk * along).sum(axis=(*range(along.ndim - 3), -1)).reshape(sinks.shape).astype(sinks.dtype)


def _scan(function, carry, pieces):
    """`lax.scan`, without a loop round one turn."""
    count = jax.tree.leaves(pieces)[0].shape[0]
    if count == 1:
        carry, result = function(carry, jax.tree.map(lambda x: x[0], pieces))
        return carry, jax.tree.map(lambda x: x[None], result)
    return lax.scan(function, carry, pieces)


_exchanged.defvjp(_forward, _backward)
