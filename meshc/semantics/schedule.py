"""What a pipeline's schedule costs: ticks, idle slots, inputs that wait. The program runs by `runtime.pipeline`'s
tables; these are counted from the same rule (see there), which a test compares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Schedule:
    """`kind`: gpipe, 1f1b or interleaved."""

    kind: str
    stages: int
    microbatches: int
    rounds: int = 1

    def forward(self, microbatch: int, virtual: int) -> int:
        """The tick of the forward slot of a microbatch in a virtual stage."""
        group, within = divmod(microbatch, self.stages)
        turn, device = divmod(virtual, self.stages)
        return group * self.stages * self.rounds + turn * self.stages + within + device

    def backward(self, microbatch: int, virtual: int) -> int:
        if self.kind == "gpipe":
            return 2 * self.forward(self.microbatches - 1, self.last) + 1 - self.forward(microbatch, virtual)
        return self.forward(microbatch, self.last) + self.last - virtual

    @property
    def last(self) -> int:
        return self.stages * self.rounds - 1

    @cached_property
    def ticks(self) -> int:
        return 1 + max(self.backward(i, k) for i, k in self._work())

    @cached_property
    def hops(self) -> int:
        """Ticks after which results go on to another stage; as many after which cotangents go back."""
        return len({self.forward(i, k) for i, k in self._work() if k < self.last})

    @cached_property
    def active(self) -> int:
        """Ticks in which some stage has a forward slot; as many in which one has a backward slot."""
        return len({self.forward(i, k) for i, k in self._work()})

    @property
    def slots(self) -> int:
        """Forward slots of a device that have work; as many backward ones."""
        return self.rounds * self.microbatches

    def idle_share(self, layers: Sequence[int] | None = None) -> float:
        """The share of a step in which a device has no work; `layers` of each virtual stage, where they are not alike.

        In a tick all wait for the one with the most layers, and none for one that has nothing.
        """
        layers = layers or (1,) * (self.last + 1)
        longest: dict[int, int] = {}
        for i, k in self._work():
            tick = self.forward(i, k)
            longest[tick] = max(longest.get(tick, 0), layers[k])
        return 1 - self.microbatches * sum(layers) / (self.stages * sum(longest.values()))

    @cached_property
    def live(self) -> int:
        """Inputs of stages that some device keeps at once, at most."""
        return max(self._most(s) for s in range(self.stages))

    @property
    def cotangents(self) -> int:
        """Cotangents of leaving microbatches that wait for the last stage at once."""
        return self.microbatches if self.kind == "gpipe" else 1

    def _most(self, device: int) -> int:
        here = [(i, k) for i, k in self._work() if k % self.stages == device]
        change = [0] * (self.ticks + 1)
        for i, k in here:
            change[self.forward(i, k)] += 1
            change[self.backward(i, k) + 1] -= 1
        most = held = 0
        for tick in change:
            held += tick
            most = max(most, held)
        return most

    def _work(self) -> Iterator[tuple[int, int]]:
        return ((i, k) for i in range(self.microbatches) for k in range(self.last + 1))
