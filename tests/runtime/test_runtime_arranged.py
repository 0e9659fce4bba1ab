"""Where the runtime puts the axes of a mesh on TPUs, and that the compiler says the same; on stand-ins for devices."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from meshc.job.torus import laid
from meshc.runtime.mesh import arranged


@dataclass(frozen=True)
class Chip:
    """What jax's layout of meshes reads of a device."""

    id: int
    coords: tuple[int, ...]
    slice_index: int = 0
    device_kind: str = "TPU v4"
    platform: str = "tpu"
    core_on_chip: int = 0
    process_index: int = 0


def torus(sides: tuple[int, ...], slices: int = 1, kind: str = "TPU v4") -> list[Chip]:
    places = list(product(*(range(side) for side in (*sides, 1, 1)[:3])))
    return [Chip(i * len(places) + j, at, i, kind) for i in range(slices) for j, at in enumerate(places)]


def walked(devices: np.ndarray, axis: int) -> list[tuple[int, ...]]:
    """Of an axis: the coordinates of its first group, from the outermost place on."""
    first = [0] * devices.ndim
    return [devices[(*first[:axis], i, *first[axis + 1 :])].coords for i in range(devices.shape[axis])]


@pytest.mark.parametrize(
    ("sides", "shape"),
    [
        ((4, 4, 4), (4, 16)),
        ((4, 4, 8), (8, 4, 4)),
        ((2, 4, 4), (2, 2, 8)),  # no set of whole sides is 2
        ((2, 2, 4), (8, 2)),
        ((2, 2, 4), (2, 2, 2, 2)),
        ((16, 16), (16, 16)),
        ((16, 16), (8, 4, 8)),
        ((16, 16), (64, 4)),
        ((16, 16), (2, 2, 64)),
        ((8, 8), (4, 4, 4)),
        ((4, 12), (6, 8)),
        ((4, 4, 4), (2, 2, 2, 2, 2, 2)),
    ],
)
def test_the_compiler_lays_axes_on_a_torus_as_jax_does(sides: tuple[int, ...], shape: tuple[int, ...]):
    devices = arranged(shape, torus(sides))
    extents = laid(sides, shape)
    for axis, extent in enumerate(extents):
        coordinates = walked(devices, axis)
        steps = [math.prod(inner[side] for inner in extents[axis + 1 :]) for side in range(len(sides))]
        for side, (joined, step) in enumerate(zip(extent, steps, strict=True)):
            assert sorted({at[side] for at in coordinates}) == [step * i for i in range(joined)]


def test_a_mesh_that_shares_a_side_is_laid_on_every_tpu():
    """`jax.make_mesh` splits sides only on v5e."""
    assert arranged((2, 2, 8), torus((2, 4, 4), kind="TPU v5p")).shape == (2, 2, 8)


@pytest.mark.parametrize(
    ("shape", "slices", "across"),
    [
        ((2, 4, 4), 2, (2, 1, 1)),
        ((8, 4), 2, (2, 1)),
        ((2, 2, 16), 4, (2, 2, 1)),
        ((1, 4, 8), 2, (1, 2, 1)),
        ((3, 8, 4), 2, (1, 2, 1)),  # 3 cannot be split between 2 slices
    ],
)
def test_outer_axes_go_across_slices(shape: tuple[int, ...], slices: int, across: tuple[int, ...]):
    chips = math.prod(shape) // slices
    sides = {16: (4, 4), 48: (4, 4, 3)}[chips]
    devices = arranged(shape, torus(sides, slices))
    number = np.vectorize(lambda chip: chip.slice_index)(devices)
    for axis, (size, count) in enumerate(zip(shape, across, strict=True)):
        line = [int(n) for n in np.moveaxis(number, axis, 0).reshape(size, -1)[:, 0]]
        assert len(set(line)) == count
        assert line == sorted(line)
    assert all((number == i).sum() == chips for i in range(slices))


def test_gpus_of_a_node_follow_each_other():
    gpus = [Chip(i, (), i // 8, "NVIDIA H100", "gpu") for i in range(16)]
    devices = arranged((2, 8), list(reversed(gpus)))
    assert [[d.slice_index for d in row] for row in devices] == [[0] * 8, [1] * 8]
