"""Which sides of a torus each mesh axis takes: the rule by which JAX lays a mesh on the chips of a TPU slice.

After `jax.experimental.mesh_utils.create_device_mesh(allow_split_physical_axes=True)`, which the runtime calls
(runtime/mesh.py): innermost axes choose first; an axis takes whole sides where some multiply to its size, else each
axis takes parts of sides. The axes that share a side lie on it in mesh order, the outermost with the largest steps.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations

from meshc.diagnostics.suggest import divisors

Extent = tuple[int, ...]
"""Of one axis: along each side of the torus, how many parts of it the axis joins; their product is the axis' size."""


def laid(sides: Sequence[int], sizes: Sequence[int]) -> tuple[Extent, ...]:
    """The extent of each axis, outermost first. The sizes multiply to the chips of the torus."""
    if math.prod(sides) != math.prod(sizes):
        raise ValueError(f"axes of {sizes} do not fill a torus of {sides}")
    return _on_whole_sides(sides, sizes) or _on_parts(sides, sizes)


def _on_whole_sides(sides: Sequence[int], sizes: Sequence[int]) -> tuple[Extent, ...] | None:
    free = set(range(len(sides)))
    extents: list[Extent] = []
    for size in reversed(sizes):
        taken = _sides_of(size, sides, free)
        if taken is None:
            return None
        free -= set(taken)
        extents.append(tuple(side if i in taken else 1 for i, side in enumerate(sides)))
    return tuple(reversed(extents))


def _sides_of(size: int, sides: Sequence[int], free: set[int]) -> tuple[int, ...] | None:
    """Free sides that multiply to a size: as many as possible, of those the first."""
    for count in range(len(sides), 0, -1):
        for taken in combinations(sorted(free), count):
            if math.prod(sides[i] for i in taken) == size:
                return taken
    return () if size == 1 else None


def _on_parts(sides: Sequence[int], sizes: Sequence[int]) -> tuple[Extent, ...]:
    used = tuple(1 for _ in sides)
    extents: list[Extent] = []
    for size in reversed(sizes):
        left = [side // inner for side, inner in zip(sides, used, strict=True)]
        best = max(_extents(size, left), key=partial(_preference, sides, used))
        used = tuple(inner * e for inner, e in zip(used, best, strict=True))
        extents.append(best)
    return tuple(reversed(extents))


def _preference(sides: Sequence[int], used: Extent, extent: Extent) -> tuple[int, int, int, Extent]:
    """What of two extents is better: whole sides, many of them, then those on which other axes lie already."""
    whole = [e for e, side in zip(extent, sides, strict=True) if e == side]
    shared = math.prod(e for e, inner in zip(extent, used, strict=True) if inner > 1)
    return math.prod(whole), sum(e > 1 for e in whole), shared, extent


def _extents(size: int, left: Sequence[int]) -> Iterator[Extent]:
    """All ways to make a size of divisors of what is left of each side."""
    if not left:
        yield from [()] if size == 1 else []
        return
    for part in divisors(math.gcd(size, left[0])):
        for rest in _extents(size // part, left[1:]):
            yield (part, *rest)
