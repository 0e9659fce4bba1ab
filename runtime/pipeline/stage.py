"""The turns of repeats that one virtual stage has, and the scan over them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from .control import scope, when


@dataclass(frozen=True)
class Turns:
    """What a virtual stage has of one repeat.

    first, count: its turns, by their number in the whole repeat: int32 scalars
    places: how many turns there is room for in each virtual stage
    filled: of all virtual stages' places, how many hold a turn, as (held, all)
    """

    first: jax.Array
    count: jax.Array
    places: int
    filled: tuple[int, int]

    def of(self, every: jax.Array | None) -> jax.Array | None:
        """Of an array with an entry for each turn of the repeat those of this stage: [places, ...]; None stays None."""
        if every is None:
            return None
        numbers = jnp.clip(self.first + jnp.arange(self.places), 0, every.shape[0] - 1)
        return every[numbers]


def scan(turn: Callable[[Any, Any], tuple[Any, Any]], carry: Any, over: Any, turns: Turns) -> tuple[Any, Any]:
    """`lax.scan` over the turns that a virtual stage has; places without one are skipped, and make zeros."""
    held, places = turns.filled
    if held == places:
        return lax.scan(turn, carry, over, length=turns.places)

    def place(carry: Any, inputs: Any) -> tuple[Any, Any]:
        number, here = inputs
        with scope("turn", held, places):
            return when(number < turns.count, lambda: turn(carry, here), lambda made: (carry, made[1]))

    return lax.scan(place, carry, (jnp.arange(turns.places), over))
