"""What a model in stages returns: the forward slots of its schedule, and no others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from . import slots
from .control import scope, varying, when, zeros
from .engine import Arrays, Before, Carry, Pipeline, Run, Stage, put
from .schedule import IDLE

Finish = Callable[[Arrays, Arrays, Carry, Any], dict]


def predict(
    pipeline: Pipeline, before: Before, stage: Stage, after: Finish, weights: Arrays, carried: Arrays, batch: Any
) -> dict[str, jax.Array]:
    """What `after` makes of each microbatch that has gone through all stages: [microbatches, ...] each."""
    return _Forward(pipeline, before, stage, after, weights, carried, batch).outputs()


class _Forward(Run):
    def outputs(self) -> dict[str, jax.Array]:
        s = self.schedule
        ticks = int(np.flatnonzero(s.leaves != IDLE)[-1]) + 1
        tables = (s.forward.microbatch, s.forward.round, s.enters, s.leaves, s.sends)
        entering, _ = jax.eval_shape(lambda: self.enter(jnp.int32(0)))
        index = varying(jnp.int32(0), self.axes)
        like, _ = jax.eval_shape(lambda: self.forward(varying(zeros(entering), self.axes), index, index))
        first = self.micro(jnp.int32(0))
        one = zeros(jax.eval_shape(lambda: self.after(self.weights, self.carried, zeros(entering), first)))
        whole = jax.tree.map(lambda a: jnp.broadcast_to(a, (s.microbatches, *a.shape)), one)
        start = (zeros(like), whole)
        (_, made), _ = lax.scan(
            lambda state, now: (self.step(*state, *now), None), start, tuple(jnp.asarray(t[:ticks]) for t in tables)
        )
        return made

    def step(self, arrived: Carry, made: dict, numbers, turns, enters, leaves, sends) -> tuple[Carry, dict]:
        s = self.schedule
        with scope("enter", s.microbatches, s.ticks):
            entering, _ = when(enters != IDLE, lambda: self.enter(enters))
        number, turn = numbers[self.device], turns[self.device]
        begins = (self.device == 0) & (turn == 0)
        x = jax.tree.map(lambda new, old: jnp.where(begins, new, old), entering, arrived)
        y, _ = slots.run("forward", s.forward, numbers, self.device, lambda: self.forward(x, number, turn))

        def work() -> dict:
            last = lax.psum(jax.tree.map(lambda a: jnp.where(self.is_last, a, 0), y), self.axes)
            return self.after(self.weights, self.carried, last, self.micro(leaves))

        with scope("leave", s.microbatches, s.ticks):
            made = put(made, when(leaves != IDLE, work), jnp.maximum(leaves, 0), leaves != IDLE)
        with scope("send", int(s.sends.sum()), s.ticks):
            arrived = when(sends, lambda: self.hop(y, 1))
        return arrived, made
