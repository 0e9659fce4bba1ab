"""One step of a pipeline, on one device: every tick of its schedule in one scan.

A tick is lockstep: what a microbatch needs before the first stage, a forward slot, what follows the last stage, a
backward slot, and the hops to the next device and back. Stages keep no residuals: the backward slot computes a stage
anew from its input (which lies in a stash in between) and differentiates it. Slots without work are branches not taken,
so they cost nothing (slots.py), and no collective inside a slot may run over the pipeline's own axes.

Before and after the stages all devices of the pipeline compute alike, each its part where a dim is split over them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from . import slots
from .control import scope, varying, when, zeros
from .schedule import IDLE, Schedule, order
from .stage import Turns

Arrays = Mapping[str, jax.Array]
Carry = Any  # a pytree of arrays: what stages hand on


class Told(NamedTuple):
    """What a part of a model yields beside its carry: its share of the loss, metrics, carried state as updated."""

    loss: Any = 0.0
    metrics: dict | None = None
    carried: dict | None = None


Before = Callable[[Arrays, Arrays, Any], tuple[Carry, Told]]
Stage = Callable[[Arrays, Arrays, Carry, Any, tuple[Turns, ...]], tuple[Carry, Told]]
After = Callable[[Arrays, Arrays, Carry, Any], Told]


@dataclass(frozen=True)
class Pipeline:
    """How a model is cut.

    axes: the mesh axes of the pipeline, outermost first
    turns: for each repeat that is cut, its turns in each virtual stage
    staged: modules and weights of those repeats, by the begin of their path; stacked along their first dim, which
        holds the virtual stages of a device one after the other, each with the same number of places
    shared: weights outside of the repeats that stages use, too
    """

    axes: tuple[str, ...]
    schedule: Schedule
    turns: tuple[tuple[int, ...], ...]
    staged: tuple[str, ...]
    shared: tuple[str, ...] = ()
    first: tuple[np.ndarray, ...] = field(init=False)

    def __post_init__(self) -> None:
        stages, rounds = self.schedule.stages, self.schedule.rounds
        begins = tuple(self._by_device(np.cumsum((0, *t[:-1])), stages, rounds) for t in self.turns)
        object.__setattr__(self, "first", begins)

    @staticmethod
    def _by_device(virtual: Sequence[int] | np.ndarray, stages: int, rounds: int) -> np.ndarray:
        """int32 [stages, rounds] of a value for each virtual stage."""
        return np.asarray(virtual, np.int32).reshape(rounds, stages).T

    def order(self, repeat: int) -> tuple[int, ...]:
        """The stack of one of the repeats at rest: for each place the number of its turn, or -1 where it is padding."""
        return order(self.turns[repeat], self.schedule.stages)

    def is_staged(self, path: str) -> bool:
        return any(path == begin or path.startswith(f"{begin}.") for begin in self.staged)

    def of_stage(self, device: jax.Array, turn: jax.Array) -> tuple[Turns, ...]:
        """What a device's virtual stage of one round has of each repeat."""
        found = []
        for first, counts in zip(self.first, self.turns, strict=True):
            count = self._by_device(counts, self.schedule.stages, self.schedule.rounds)
            begin, number = (jnp.asarray(table)[device, turn] for table in (first, count))
            filled = (sum(counts), max(counts) * len(counts))
            found.append(Turns(begin, number, max(counts), filled))
        return tuple(found)


def run(
    pipeline: Pipeline, before: Before, stage: Stage, after: After, weights: Arrays, carried: Arrays, batch: Any
) -> tuple[jax.Array, dict, dict, dict]:
    """Loss, metrics, carried state after the step and gradients, in float32 or wider, as weights lie at rest.

    before, stage, after: of one microbatch; `stage` sees of each staged array the places of one virtual stage
    weights, carried: local parts by path; gradients are of `weights`, with what differs from device to device outside
        of the pipeline's axes not yet summed
    batch: a pytree of arrays [microbatches, ...]
    """
    return Run(pipeline, before, stage, after, weights, carried, batch).all()


class _State(NamedTuple):
    """What one tick hands to the next. `inside` is of stages and differs along the pipeline, `outside` does not."""

    arrived: Carry
    returned: Carry
    stash: Carry
    cotangents: Carry
    staged: dict
    outer: dict
    shared: dict
    inside: Told
    outside: Told


class Run:
    """One pass over a batch; a part of it is a method."""

    def __init__(self, pipeline: Pipeline, before, stage, after, weights, carried, batch) -> None:
        self.pipeline, self.schedule, self.axes = pipeline, pipeline.schedule, pipeline.axes
        self.before, self.stage, self.after = before, stage, after
        self.weights, self.carried, self.batch = dict(weights), dict(carried), batch
        self.device = lax.axis_index(self.axes)
        self.is_last = self.device == self.schedule.stages - 1
        self.staged = {p: w for p, w in self.weights.items() if pipeline.is_staged(p)}
        self.outer = {p: w for p, w in self.weights.items() if not pipeline.is_staged(p)}
        self.shared = {p: varying(self.weights[p], self.axes) for p in pipeline.shared}

    # ------------------------------------------------------------ the whole

    def all(self) -> tuple[jax.Array, dict, dict, dict]:
        s = self.schedule
        tables = [tuple(jnp.asarray(t) for t in (x.microbatch, x.round, x.place)) for x in (s.forward, s.backward)]
        events = [jnp.asarray(t) for t in (s.enters, s.leaves, s.returns, s.sends, s.returned)]
        state, _ = lax.scan(lambda state, now: (self.tick(state, *now), None), self.start(), (*tables, *events))
        inside = lax.psum((state.inside.loss, state.inside.metrics), self.axes)
        loss = state.outside.loss + inside[0]
        metrics = _added(state.outside.metrics, inside[1])
        changes = {**(state.outside.carried or {}), **(state.inside.carried or {})}
        carried = {p: c + changes[p] / s.microbatches if p in changes else c for p, c in self.carried.items()}
        shared = lax.psum(state.shared, self.axes) if self.shared else {}
        return loss, metrics, carried, _added(state.staged | state.outer, shared)

    def start(self) -> _State:
        """Before the first tick: zeros of what ticks hand on."""
        index, s = varying(jnp.int32(0), self.axes), self.schedule
        entering, told_before = jax.eval_shape(lambda: self.enter(jnp.int32(0)))
        x = varying(zeros(entering), self.axes)
        like, told_inside = jax.eval_shape(lambda: self.forward(x, index, index))
        first = self.micro(jnp.int32(0))
        told_after = jax.eval_shape(
            lambda: self.outside(self.after(self.weights, self.carried, zeros(entering), first))
        )
        carry = zeros(like)
        inside = zeros(told_inside)
        whole = zeros({p: self.carried[p] for p in inside.carried or {}})
        outside = Told(*(_added(zeros(a), zeros(b)) for a, b in zip(told_before, told_after, strict=True)))
        return _State(
            carry, carry, _deep(carry, s.live), _deep(carry, s.cotangents),
            _sums(self.staged), _sums(self.outer), _sums(self.shared),
            inside._replace(carried=varying(whole, self.axes)), outside,
        )  # fmt: skip

    # ------------------------------------------------------------ a tick

    def tick(self, state: _State, forward, backward, enters, leaves, returns, sends, returned) -> _State:
        s = self.schedule
        with scope("enter", s.microbatches, s.ticks):
            entering, told = when(enters != IDLE, lambda: self.enter(enters))
        state = state._replace(outside=self.told(state.outside, told))
        number, turn, place = (table[self.device] for table in forward)
        begins = (self.device == 0) & (turn == 0)
        x = jax.tree.map(lambda new, old: jnp.where(begins, new, old), entering, state.arrived)
        state = state._replace(stash=put(state.stash, x, place, number != IDLE))
        y, told = slots.run("forward", s.forward, forward[0], self.device, lambda: self.forward(x, number, turn))
        state = state._replace(inside=self.told_inside(state.inside, told, turn))
        state = self.leave(state, y, leaves)
        state, dx = self.backward(state, backward)
        outer = self.enter_backward(state.outer, dx, returns)
        with scope("send", int(s.sends.sum()), s.ticks):
            arrived = when(sends, lambda: self.hop(y, 1))
        with scope("return", int(s.returned.sum()), s.ticks):
            back = when(returned, lambda: self.hop(dx, -1))
        return state._replace(arrived=arrived, returned=back, outer=outer)

    def enter(self, number: jax.Array) -> tuple[Carry, Told]:
        x, told = self.before(self.weights, self.carried, self.micro(number))
        return x, self.outside(told)

    def forward(self, x: Carry, number: jax.Array, turn: jax.Array) -> tuple[Carry, Told]:
        y, told = self.virtual(self.here(self.staged, turn), self.shared, x, number, turn)
        mine = self.here({p: a for p, a in self.carried.items() if self.pipeline.is_staged(p)}, turn)
        return y, self.changes(told, mine)

    def virtual(self, staged: dict, shared: dict, x: Carry, number: jax.Array, turn: jax.Array) -> tuple[Carry, Told]:
        """One virtual stage of this device on one microbatch."""
        mine = self.here({p: a for p, a in self.carried.items() if self.pipeline.is_staged(p)}, turn)
        turns = self.pipeline.of_stage(self.device, turn)
        y, told = self.stage(self.weights | shared | staged, self.carried | mine, x, self.micro(number), turns)
        return y, told._replace(loss=varying(_float(told.loss), self.axes), metrics=varying(told.metrics, self.axes))

    def leave(self, state: _State, y: Carry, leaves: jax.Array) -> _State:
        """What follows the last stage, for a microbatch that leaves it, with its gradients."""
        s = self.schedule

        def work() -> tuple:
            last = lax.psum(jax.tree.map(lambda a: jnp.where(self.is_last, a, 0), y), self.axes)
            micro = self.micro(leaves)

            def loss_of(outer: dict, x: Carry) -> tuple[jax.Array, Told]:
                told = self.after(self.weights | outer, self.carried, x, micro)
                return _float(told.loss), self.outside(told)

            (_, told), (grads, dy) = jax.value_and_grad(loss_of, argnums=(0, 1), has_aux=True)(self.outer, last)
            return _added(state.outer, grads), varying(dy, self.axes), told

        with scope("leave", s.microbatches, s.ticks):
            outer, dy, told = when(leaves != IDLE, work, lambda none: (state.outer, *none[1:]))
        place = jnp.asarray(s.cotangent)[jnp.maximum(leaves, 0)]
        kept = put(state.cotangents, dy, place, leaves != IDLE)
        return state._replace(outer=outer, cotangents=kept, outside=self.told(state.outside, told))

    def backward(self, state: _State, tables: Sequence[jax.Array]) -> tuple[_State, Carry]:
        s = self.schedule
        number, turn, place = (table[self.device] for table in tables)
        final = self.is_last & (turn == s.rounds - 1)
        of_loss = _get(state.cotangents, jnp.asarray(s.cotangent)[jnp.maximum(number, 0)])
        cotangent = jax.tree.map(lambda a, b: jnp.where(final, a, b), of_loss, state.returned)
        x = _get(state.stash, place)

        def work() -> tuple:
            def stage(staged: dict, shared: dict, x: Carry) -> tuple[Carry, jax.Array]:
                y, told = self.virtual(staged, shared, x, number, turn)
                return y, told.loss

            (_, loss), pull = jax.vjp(stage, self.here(self.staged, turn), self.shared, x)
            return pull((cotangent, jnp.ones_like(loss)))

        *grads, dx = slots.run("backward", s.backward, tables[0], self.device, work)
        staged, shared = when(
            number != IDLE,
            lambda: (self.added_here(state.staged, grads[0], turn), _added(state.shared, grads[1])),
            lambda _: (state.staged, state.shared),
        )
        return state._replace(staged=staged, shared=shared), dx

    def enter_backward(self, outer: dict, dx: Carry, returns: jax.Array) -> dict:
        """Of a microbatch whose backward pass has come through the first stage, the gradients of what is before it."""

        def work() -> dict:
            first = lax.psum(jax.tree.map(lambda a: jnp.where(self.device == 0, a, 0), dx), self.axes)
            micro = self.micro(returns)

            def entering(outer: dict) -> tuple[Carry, jax.Array]:
                x, told = self.before(self.weights | outer, self.carried, micro)
                return x, _float(told.loss)

            (_, loss), pull = jax.vjp(entering, self.outer)
            (grads,) = pull((first, jnp.ones_like(loss)))
            return _added(outer, grads)

        with scope("enter_backward", self.schedule.microbatches, self.schedule.ticks):
            return when(returns != IDLE, work, lambda _: outer)

    def hop(self, x: Carry, by: int) -> Carry:
        n = self.schedule.stages
        return lax.ppermute(x, self.axes, [(i, (i + by) % n) for i in range(n)])

    # ------------------------------------------------------------ parts

    def micro(self, number: jax.Array) -> Any:
        at = jnp.maximum(number, 0)
        return jax.tree.map(lambda a: lax.dynamic_index_in_dim(a, at, keepdims=False), self.batch)

    def here(self, arrays: dict, turn: jax.Array) -> dict:
        """The places of one round of each stacked array."""
        rounds = self.schedule.rounds
        if rounds == 1:
            return dict(arrays)
        return {p: lax.dynamic_slice_in_dim(a, turn * (len(a) // rounds), len(a) // rounds) for p, a in arrays.items()}

    def added_here(self, sums: dict, parts: dict, turn: jax.Array) -> dict:
        """Sums with these parts added at the places of one round."""
        if self.schedule.rounds == 1:
            return _added(sums, parts)
        return sums | {p: self._added_at(sums[p], part, turn * len(part)) for p, part in parts.items()}

    def _added_at(self, whole: jax.Array, part: jax.Array, begin: jax.Array) -> jax.Array:
        held = lax.dynamic_slice_in_dim(whole, begin, len(part))
        return lax.dynamic_update_slice_in_dim(whole, held + part.astype(whole.dtype), begin, 0)

    def changes(self, told: Told, of: Arrays) -> Told:
        """What was told, with the change of each carried array in place of the array."""
        after = told.carried or {}
        return Told(_float(told.loss), told.metrics or {}, {p: after[p] - a for p, a in of.items() if p in after})

    def outside(self, told: Told) -> Told:
        return self.changes(told, {p: a for p, a in self.carried.items() if not self.pipeline.is_staged(p)})

    def told(self, sums: Told, told: Told) -> Told:
        return Told(*(_added(a, b) for a, b in zip(sums, told, strict=True)))

    def told_inside(self, sums: Told, told: Told, turn: jax.Array) -> Told:
        carried = self.added_here(sums.carried, told.carried, turn)
        return Told(sums.loss + told.loss, _added(sums.metrics, told.metrics), carried)


def _float(x: Any) -> jax.Array:
    x = jnp.asarray(x)
    return x.astype(jnp.promote_types(x.dtype, jnp.float32))


def _added(sums: Any, parts: Any) -> Any:
    """Sums by name with these parts, in the sums' dtype; a name that only one of them has stays."""
    if not isinstance(sums, dict):
        return sums + parts
    both = {p: a + parts[p].astype(a.dtype) if p in parts else a for p, a in sums.items()}
    return both | {p: a for p, a in parts.items() if p not in sums}


def _sums(weights: dict) -> dict:
    """Zeros in which gradients of these weights are added up."""
    return {p: zeros(w).astype(jnp.promote_types(w.dtype, jnp.float32)) for p, w in weights.items()}


def _deep(carry: Carry, places: int) -> Carry:
    """A stash with so many places, each with this in it."""
    return jax.tree.map(lambda c: jnp.broadcast_to(c, (places, *c.shape)), carry)


def _get(stash: Carry, place: jax.Array) -> Carry:
    return jax.tree.map(lambda a: lax.dynamic_index_in_dim(a, place, keepdims=False), stash)


def put(stash: Carry, x: Carry, place: jax.Array, active: jax.Array) -> Carry:
    """The stash with `x` in its place where active."""
    held = _get(stash, place)
    put = jax.tree.map(lambda new, old: jnp.where(active, new, old), x, held)
    return jax.tree.map(lambda a, b: lax.dynamic_update_index_in_dim(a, b, place, 0), stash, put)
