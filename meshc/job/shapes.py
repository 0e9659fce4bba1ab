"""Whether a slice can be: its torus made of whole hosts, its chips wired as the platform wires them.

A TPU host is a block of the torus: 2 x 2 chips where it has 4, 2 x 4 where it has 8 (or 2 x 2 chips of two cores each,
which JAX counts as devices along a third side). libtpu refuses any other topology: "layout is not divisible by
chips_per_host_bounds".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest

from meshc.diagnostics import slices as say
from meshc.diagnostics.model import Diagnostic
from meshc.diagnostics.suggest import divisors
from meshc.job.slices import Slice
from meshc.source import Span

BLOCKS: dict[int, tuple[tuple[int, ...], ...]] = {4: ((2, 2),), 8: ((2, 4), (4, 2), (2, 2, 2))}
"""Of a host, by its chips. Hosts of another number of chips are not told of: any block will do."""

MOST_SHAPES = 4
"""Others that are told."""

At = Callable[..., Span]
"""Where a value of the slice is written, by its path of keys; the slice itself where it is left out."""


def shape_holds(slice: Slice, at: At) -> Iterator[Diagnostic]:
    """E0402 and E0403 of a slice that a job gives inline."""
    if slice.torus and slice.platform != "tpu":
        yield say.torus_of(slice.platform, at("platform"), at("torus"))
    elif slice.platform == "tpu" and not slice.torus and slice.chips > 1:
        yield say.tpu_without_torus(slice.chips, at("platform"))
    elif slice.torus and not whole_hosts(slice.torus, slice.chips_per_host):
        others = other_sides(slice.torus, slice.chips_per_host)
        yield say.no_whole_hosts(slice.torus, slice.chips_per_host, at("torus", "sides"), others)


def whole_hosts(sides: Sequence[int], chips_per_host: int) -> bool:
    """Whether hosts fill a torus. One of a single chip or a single host of few chips is not cut by it."""
    blocks = BLOCKS.get(chips_per_host) or tuple(_products(chips_per_host, len(sides)))
    return any(all(side % part == 0 for side, part in zip_longest(sides, block, fillvalue=1)) for block in blocks)


def other_sides(sides: Sequence[int], chips_per_host: int) -> list[tuple[int, ...]]:
    """Sides of as many chips that hosts fill, the most alike ones first; two at least, for a block has two."""
    count = max(2, len(sides))
    found: dict[tuple[int, ...], tuple[int, ...]] = {}
    for other in _products(math.prod(sides), count):
        if whole_hosts(other, chips_per_host):
            found.setdefault(tuple(sorted(other)), other)
    return sorted(found.values(), key=lambda other: (max(other) - min(other), other))[:MOST_SHAPES]


def _products(number: int, count: int) -> Iterator[tuple[int, ...]]:
    """All ways to write a number as a product of so many factors."""
    if count == 1:
        yield (number,)
        return
    for first in divisors(number):
        yield from ((first, *rest) for rest in _products(number // first, count - 1))
