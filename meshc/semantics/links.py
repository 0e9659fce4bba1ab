"""Which links collectives cross, and how long at least they take: pure functions of a slice, a mesh and bytes.

Bytes are those that a device sends by the ring algorithms (collectives.py). How much of that goes through a link
depends on who sits where; of n devices of a group g sit together on one side of it:

    gather, scatter, all-reduce   all that a device sends goes round the ring, and so through the link; but there can be
                                  as many rings as devices on its side, each through the link of another: 1/g
    all-to-all                    a device sends the same to each of the others, of whom n-g are across: (n-g)/(n-1)
    permutation                   some device sends all of its own across: 1

NCCL's rings do so, and its "bus bandwidth" is these bytes a second (github.com/NVIDIA/nccl-tests, PERFORMANCE.md).
The time is at least the largest of bytes / bandwidth over the links that are crossed. Latency comes on top, and waiting
for other groups where a switch has less than what `bandwidth` of its chips makes together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from meshc.job.slices import Slice
from meshc.job.wiring import Crossing, Link, Mesh, crossings, fills, slowest
from meshc.semantics.collectives import Collective, CollectiveOp, sent
from meshc.semantics.placed import PlacedProgram


@dataclass(frozen=True)
class Network:
    """A mesh on a slice. `mesh` has the placed program's axes, outermost first, which fill the slice."""

    slice: Slice
    mesh: Mesh

    @cached_property
    def _known(self) -> dict[tuple[str, ...], tuple[Crossing, ...]]:
        return {}

    def crossings(self, axes: Sequence[str]) -> tuple[Crossing, ...]:
        """The links that groups along these axes together cross, innermost first."""
        key = tuple(axes)
        if key not in self._known:
            self._known[key] = crossings(self.slice, self.mesh, key)
        return self._known[key]

    def link(self, axes: Sequence[str]) -> Link | None:
        """The slowest link that these axes together cross."""
        return slowest(self.crossings(axes))

    def seconds(self, op: CollectiveOp, axes: Sequence[str], num_bytes: float) -> float | None:
        """Time that a device takes at least to send these bytes; None where the speed of a link is not known."""
        total = 0.0
        for crossed in self.crossings(axes):
            if crossed.link.bandwidth is None:
                return None
            total = max(total, num_bytes * share(op, crossed) / crossed.link.bandwidth)
        return total

    def total_seconds(self, collectives: Iterable[Collective]) -> float | None:
        """Time of all of them, one after another."""
        total = 0.0
        for (op, axes), num_bytes in sent(collectives).items():
            seconds = self.seconds(op, axes, num_bytes)
            if seconds is None:
                return None
            total += seconds
        return total


def network(placed: PlacedProgram, slice: Slice | None) -> Network | None:
    """The placed program's mesh on a slice; None without a slice, or where the mesh does not fill it."""
    mesh = tuple(placed.sizes.items())
    return Network(slice, mesh) if slice is not None and fills(slice, mesh) else None


def share(op: CollectiveOp, crossed: Crossing) -> float:
    """Of the bytes that a device sends, the part that has to go through this link."""
    size, together = crossed.size, crossed.together
    match op:
        case "all-gather" | "reduce-scatter" | "all-reduce":
            return 1 / together
        case "all-to-all":
            return (size - together) / (size - 1)
        case "collective-permute":
            return 1.0
