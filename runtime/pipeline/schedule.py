"""Which stage works on which microbatch when: a pipeline's ticks as tables.

`stages` devices along an axis, each with `rounds` virtual stages: virtual stage k = r * stages + s is round r of device
s. In a tick each device has a forward slot, then a backward slot; then what they yield goes one device on (backward:
back), round the ring. Microbatch i = g * stages + j is in virtual stage k's forward slot at tick

    F(i, k) = g * stages * rounds + r * stages + j + s

so the next virtual stage has it at the next tick, and no two of a device's ever meet. Of each, the backward slot is

    gpipe              the ticks of the forward slots in reverse, when all of them are done
    1f1b, interleaved  F(i, last) + (last - k): as soon as can be (PipeDream-Flush, arXiv:2006.09503; rounds:
                       Megatron-LM, arXiv:2104.04473, section 2.2)

With slots that have no work skipped, a step takes (rounds * microbatches + stages - 1) times a forward and a backward
slot where `stages` divides `microbatches`, and is idle for (stages - 1) of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

Kind = Literal["gpipe", "1f1b", "interleaved"]
IDLE = -1


@dataclass(frozen=True)
class Slots:
    """One kind of slot, by tick and device: int32 [ticks, stages] each; IDLE in `microbatch` where there is no work.

    place: where in the stash the stage's input lies from its forward to its backward slot
    """

    microbatch: np.ndarray
    round: np.ndarray
    place: np.ndarray

    @property
    def busy(self) -> int:
        return int((self.microbatch != IDLE).sum())

    @property
    def any(self) -> np.ndarray:
        """Ticks in which some device has work: bool [ticks]."""
        return (self.microbatch != IDLE).any(axis=1)


@dataclass(frozen=True)
class Schedule:
    """A pipeline's tables.

    enters, leaves, returns: which microbatch, or IDLE, enters the first virtual stage in a tick, leaves the last one,
        and has its backward pass through the first one done: int32 [ticks]
    cotangent: where, from when it leaves to the last virtual stage's backward slot, the cotangent of a microbatch
        lies: int32 [microbatches]
    sends, returned: ticks after which some forward (backward) slot's result is needed by another one: bool [ticks]
    """

    kind: Kind
    stages: int
    microbatches: int
    rounds: int
    forward: Slots
    backward: Slots
    enters: np.ndarray
    leaves: np.ndarray
    returns: np.ndarray
    cotangent: np.ndarray
    sends: np.ndarray
    returned: np.ndarray

    @property
    def ticks(self) -> int:
        return len(self.enters)

    @property
    def live(self) -> int:
        """Inputs of stages that a device keeps at once, at most."""
        return int(max(self.forward.place.max(), 0)) + 1

    @property
    def cotangents(self) -> int:
        return int(self.cotangent.max()) + 1

    @property
    def idle_share(self) -> float:
        """Slots without work, of those in which some device has work."""
        slots = self.stages * (self.forward.any.sum() + self.backward.any.sum())
        return 1 - (self.forward.busy + self.backward.busy) / float(slots)


def schedule(kind: Kind, stages: int, microbatches: int, rounds: int = 1) -> Schedule:
    """The tables. Rounds other than 1 are for `interleaved`."""
    last = stages * rounds - 1
    i, k = np.meshgrid(np.arange(microbatches), np.arange(last + 1), indexing="ij")  # [microbatches, virtual stages]
    group, within = np.divmod(i, stages)
    turn, device = np.divmod(k, stages)
    forward = group * stages * rounds + turn * stages + within + device
    backward = 2 * forward.max() + 1 - forward if kind == "gpipe" else forward[:, -1:] + (last - k)
    ticks = int(backward.max()) + 1
    place = _places(forward, backward, device, stages)
    first, final = forward[:, 0], forward[:, -1]
    cotangent = _packed(final, backward[:, -1])
    return Schedule(
        kind, stages, microbatches, rounds,
        _slots(forward, device, turn, place, ticks, stages), _slots(backward, device, turn, place, ticks, stages),
        _events(first, ticks), _events(final, ticks), _events(backward[:, 0], ticks), cotangent,
        _marks(forward[:, :-1], ticks), _marks(backward[:, 1:], ticks),
    )  # fmt: skip


def _places(begin: np.ndarray, end: np.ndarray, device: np.ndarray, stages: int) -> np.ndarray:
    """For each microbatch and virtual stage a place on its device that is free from `begin` to `end`."""
    place = np.zeros_like(begin)
    for s in range(stages):
        here = device == s
        place[here] = _packed(begin[here], end[here])
    return place


def _packed(begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """The lowest free place for each interval, both ends included; none begins before it was sorted in."""
    free_from: list[int] = []
    places = np.zeros(len(begin), np.int32)
    for at in np.argsort(begin, kind="stable"):
        found = next((p for p, tick in enumerate(free_from) if tick <= begin[at]), len(free_from))
        free_from[found:] = [int(end[at]) + 1, *free_from[found + 1 :]]
        places[at] = found
    return places


def _slots(tick, device, turn, place, ticks: int, stages: int) -> Slots:
    tables = [np.full((ticks, stages), fill, np.int32) for fill in (IDLE, 0, 0)]
    microbatch = np.broadcast_to(np.arange(len(tick))[:, None], tick.shape)
    for table, values in zip(tables, (microbatch, turn, place), strict=True):
        table[tick, device] = values
    return Slots(*tables)


def _events(tick: np.ndarray, ticks: int) -> np.ndarray:
    found = np.full(ticks, IDLE, np.int32)
    found[tick] = np.arange(len(tick))
    return found


def _marks(tick: np.ndarray, ticks: int) -> np.ndarray:
    found = np.zeros(ticks, bool)
    found[tick] = True
    return found


def order(turns: Sequence[int], stages: int) -> tuple[int, ...]:
    """A stack of layers at rest: for each place the number of its layer, or -1 where it is padding.

    turns: those of each virtual stage; a device's virtual stages lie one after the other, each with room for the most
    """
    begins = np.cumsum((0, *turns[:-1]))
    places = max(turns)
    found = [
        int(begins[k]) + p if p < turns[k] else IDLE
        for s in range(stages)
        for k in range(s, len(turns), stages)
        for p in range(places)
    ]
    return tuple(found)
