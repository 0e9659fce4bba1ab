"""The links of a slice that groups of its devices cross. Pure arithmetic on sizes; no axis is known by its name.

A mesh here is its axes with their sizes, outermost first, all of the slice's chips. Its devices are numbered row by
row, the outermost axis slowest, and chips of a node (rack, …) have numbers in a row: so the runtime makes meshes of
GPUs and virtual devices. On a TPU slice it lays the mesh on the torus (see torus.py); of several tori that levels join,
the outermost axes go across the tori as far as their sizes divide the number of tori.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from meshc.job.slices import TORUS, Slice
from meshc.job.torus import laid

Mesh = Sequence[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Link:
    """`bandwidth` is bytes per second that one chip can send through it in the group at hand; None: not known."""

    name: str
    bandwidth: float | None


@dataclass(frozen=True, slots=True)
class Crossing:
    """A link that groups of devices cross.

    size      devices of a group
    together  of these on the same near side of the link (where that differs, the fewest): what a group has to bring
              across, they can share
    even      whether all groups cross it alike
    """

    link: Link
    size: int
    together: int = 1
    even: bool = True


def fills(slice: Slice, mesh: Mesh) -> bool:
    """Whether a mesh has the slice's chips: what everything here is about."""
    return math.prod(size for _, size in mesh) == slice.chips


def crossings(slice: Slice, mesh: Mesh, axes: Sequence[str]) -> tuple[Crossing, ...]:
    """The links that the groups along these axes together cross, innermost first; none for groups of one device."""
    if not fills(slice, mesh):
        raise ValueError(f"a mesh of {mesh} does not fill `{slice.name}`")
    across, inside = _parted(slice, mesh)
    found: list[Crossing] = []
    within = math.prod(size for name, size in inside if name in axes)
    size = within * math.prod(size for name, size in across if name in axes)
    if within > 1:
        found.append(Crossing(Link(TORUS, _torus_bandwidth(slice, inside, axes)), size))
    unit = 1
    for level in slice.levels:
        below, unit = unit, unit * level.size
        if crossed := _crossed(across, axes, below, unit):
            together, even = crossed
            found.append(Crossing(Link(level.name, level.bandwidth), size, together * within, even))
    return tuple(found)


def slowest(crossed: Sequence[Crossing]) -> Link | None:
    """The link that holds a group up: one of unknown speed, else the slowest; of equal ones the outermost."""
    unknown = [c.link for c in crossed if c.link.bandwidth is None]
    if unknown or not crossed:
        return unknown[-1] if unknown else None
    return min((c.link for c in reversed(crossed)), key=lambda link: link.bandwidth or 0.0)


def links(slice: Slice) -> tuple[str, ...]:
    """Names of the links there are, innermost first."""
    torus = (TORUS,) if math.prod(slice.torus) > 1 else ()
    return (*torus, *(level.name for level in slice.levels if level.size > 1))


# ---------------------------------------------------------------- tori


def _parted(slice: Slice, mesh: Mesh) -> tuple[Mesh, Mesh]:
    """The axes' sizes across whole tori, and inside one. Without a torus all of them go across single chips."""
    if not slice.torus:
        return mesh, [(name, 1) for name, _ in mesh]
    left = slice.chips // math.prod(slice.torus)
    across: list[tuple[str, int]] = []
    for name, size in mesh:
        share = math.gcd(size, left)
        left //= share
        across.append((name, share))
    return across, [(name, size // share) for (name, size), (_, share) in zip(mesh, across, strict=True)]


def _torus_bandwidth(slice: Slice, mesh: Mesh, axes: Sequence[str]) -> float:
    """Bytes per second that a chip can send to others of its group, over all sides on which the group lies.

    Along a closed side it sends both ways. On a line the chip at its end has one link, and all wait for it. Groups
    whose members lie `step` apart share each link with as many others.
    """
    extents = laid(slice.torus, [size for _, size in mesh])
    total = 0.0
    for i, side in enumerate(slice.torus):
        joined, step, inner = 1, 0, 1
        for (name, _), extent in reversed(list(zip(mesh, extents, strict=True))):
            if name in axes and extent[i] > 1:
                joined, step = joined * extent[i], step or inner
            inner *= extent[i]
        if joined > 1:
            closed = slice.wrapped[i] and joined * step == side
            total += slice.link_bandwidth * (2 / step if closed else min(1, 2 / step))
    return total


# ---------------------------------------------------------------- levels


def _crossed(mesh: Mesh, axes: Sequence[str], below: int, unit: int) -> tuple[int, bool] | None:
    """Whether two devices of a group lie in one unit and in different units below.

    Yields how many of a group lie together below (the fewest), and whether that is the same everywhere.
    """
    strides = list(_strides(mesh))
    if all(_aligned(stride, size, cut) for _, size, stride in strides for cut in (below, unit)):
        own = [(size, stride) for name, size, stride in strides if name in axes]
        low, high = (math.prod(max(1, min(size, cut // stride)) for size, stride in own) for cut in (below, unit))
        return (low, True) if low < high else None
    return _counted(strides, axes, below, unit)


def _strides(mesh: Mesh) -> Iterator[tuple[str, int, int]]:
    stride = 1
    for name, size in reversed(mesh):
        yield name, size, stride
        stride *= size


def _aligned(stride: int, size: int, cut: int) -> bool:
    """Whether a cut after every `cut` devices falls on, or regularly between, the steps of an axis."""
    return stride % cut == 0 or cut % (stride * size) == 0 or (cut % stride == 0 and stride * size % cut == 0)


def _counted(
    strides: Sequence[tuple[str, int, int]], axes: Sequence[str], below: int, unit: int
) -> tuple[int, bool] | None:
    """The same by looking at each group, up to a shift by whole units."""
    members, starts = [0], {0}
    for name, size, stride in strides:
        if name in axes:
            members = [m + stride * i for m in members for i in range(size)]
        else:
            starts = {(s + stride * i) % unit for s in starts for i in range(size)}
    fewest: set[int] = set()
    crosses: set[bool] = set()
    for start in starts:
        together = Counter((start + m) // below for m in members)
        crosses.add(len(together) > len({(start + m) // unit for m in members}))
        fewest |= set(together.values())
    return (min(fewest), len(fewest) == 1 and len(crosses) == 1) if True in crosses else None
