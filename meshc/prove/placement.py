"""Placement: what each device holds, read off the actual shards and compared with what was derived.

A shard is right when it has the derived shape and holds the slice that the derived layout gives its device: the slice
is cut from the array of a one-device run, never found through the sharding that the array itself claims to have.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from meshc.prove.model import Measure

SAME_SLICE = 1e-6
"""How far a shard may be from the slice of a one-device run, of that array's largest value: rounding, no more."""

NOISE = 1e-10
"""Of the largest value of all arrays of a kind: an array below it (a key bias's gradient is zero) is rounding."""

Axes = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Shard:
    """One device's part of an array: the device's coordinates on the mesh, and its data."""

    at: Mapping[str, int]
    data: np.ndarray


def measures(
    claim: str,
    path: str,
    shards: Sequence[Shard],
    axes: Axes,
    sizes: Mapping[str, int],
    whole: np.ndarray,
    largest: float = 0.0,
    rounded: float = 0.0,
) -> Iterator[Measure]:
    """What is wrong with one array's shards.

    axes: for each dim the axes that split it, slowest first; sizes: of all axes; whole: the array of a one-device run;
    largest: the largest value of all arrays of its kind; rounded: what is rounding, whatever its share of them
    """
    slices = [slice_of(s.at, axes, sizes, whole.shape) for s in shards]
    wrong = sum(s.data.shape != whole[i].shape for s, i in zip(shards, slices, strict=True))
    yield Measure(f"{claim}: shards of another shape", path, wrong, 0)
    if wrong:
        return
    scale = max(largest_of(whole), largest * NOISE / SAME_SLICE, rounded / SAME_SLICE) or 1.0
    distance = max(_distance(s.data, whole[i]) for s, i in zip(shards, slices, strict=True))
    yield Measure(f"{claim}: shards against their slice", path, distance / scale, SAME_SLICE)
    missing = len(_distinct(whole[i] for i in slices)) - len(_distinct(s.data for s in shards))
    yield Measure(f"{claim}: shards that are equal and should differ", path, max(missing, 0), 0)
    yield Measure(f"{claim}: copies that differ", path, _differing_copies(shards, slices), 0)


def largest_of(whole: np.ndarray) -> float:
    return float(np.max(np.abs(whole), initial=0))


def slice_of(at: Mapping[str, int], axes: Axes, sizes: Mapping[str, int], shape: Sequence[int]) -> tuple[slice, ...]:
    """What a device at these coordinates holds of an array of this shape."""
    slices = []
    for dim_axes, size in zip(axes, shape, strict=True):
        number = 0
        for axis in dim_axes:
            number = number * sizes[axis] + at[axis]
        length = size // math.prod(sizes[a] for a in dim_axes)
        slices.append(slice(number * length, (number + 1) * length))
    return tuple(slices)


def _distance(data: np.ndarray, expected: np.ndarray) -> float:
    difference = np.abs(data.astype(np.float64) - expected.astype(np.float64))
    return float("inf") if np.isnan(difference).any() else float(np.max(difference, initial=0))


def _distinct(parts: Iterable[np.ndarray]) -> set[bytes]:
    return {np.ascontiguousarray(part).tobytes() for part in parts}


def _differing_copies(shards: Sequence[Shard], slices: Sequence[tuple[slice, ...]]) -> int:
    """How many slices are held by several devices that do not hold the same."""
    held: dict[tuple[tuple[int, int], ...], set[bytes]] = {}
    for shard, index in zip(shards, slices, strict=True):
        held.setdefault(tuple((s.start, s.stop) for s in index), set()).add(shard.data.tobytes())
    return sum(len(values) > 1 for values in held.values())
