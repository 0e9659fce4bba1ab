"""What links cost: for each axis and collective the slowest link that it crosses, and the time that it takes at least.

The base of a time model: it knows bytes and bandwidths, no latency, and nothing runs at the same time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from meshc.job.wiring import Link
from meshc.semantics.collectives import Collective
from meshc.semantics.links import Network
from meshc.semantics.placed import PlacedProgram


@dataclass(frozen=True, slots=True)
class AxisLinks:
    """An axis of the mesh or of a view: the links that its groups cross, innermost first, and the slowest of them.

    `seconds` is what the collectives take at least that go over it, alone or with others; None where it is not known.
    """

    axis: str
    size: int
    crossed: tuple[str, ...]
    slowest: Link
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Price:
    """Of a collective on a slice. `seconds` are all its runs in a step, None where the speed of a link is not known."""

    link: Link
    seconds: float | None


def axis_links(
    placed: PlacedProgram, collectives: Sequence[Collective], network: Network | None
) -> Iterator[AxisLinks]:
    """Of each axis larger than 1; of none without a slice."""
    if network is None:
        return
    for view in (placed.program, *placed.program.views):
        for axis in view.axes:
            refined = placed.refined.of((axis.name,))
            if slowest := network.link(refined):
                names = tuple(c.link.name for c in network.crossings(refined))
                seconds = network.total_seconds(c for c in collectives if set(refined) & set(c.axes))
                yield AxisLinks(axis.name, axis.size, names, slowest, seconds)


def price(collective: Collective, network: Network | None) -> Price | None:
    """None without a slice."""
    link = network.link(collective.axes) if network else None
    if network is None or link is None:
        return None
    return Price(link, network.seconds(collective.op, collective.axes, collective.bytes_per_device))
