"""The catalogue and virtual slices."""

import math

import pytest

from meshc.job.catalogue import find_slice, slice_names
from meshc.job.slices import Slice


def known(name: str) -> Slice:
    found, problems = find_slice(name)
    assert found is not None, problems
    return found


@pytest.mark.parametrize("name", slice_names())
def test_each_file_of_the_catalogue_is_sound(name: str):
    found = known(name)
    assert found.name == name
    wired = math.prod(found.torus) * math.prod(level.size for level in found.levels)
    assert wired == found.chips
    assert found.hosts * found.chips_per_host == found.chips


@pytest.mark.parametrize(
    ("name", "chips", "hosts"),
    # v4 and v5p count TensorCores, two a chip; v3-8 is eight devices to JAX
    [
        ("v5e-256", 256, 64),
        ("v5p-64", 32, 8),
        ("v4-32", 16, 4),
        ("v3-8", 8, 1),
        ("h100-256", 256, 32),
        ("gb200-144", 144, 36),
    ],
)
def test_devices_and_hosts(name: str, chips: int, hosts: int):
    assert (known(name).chips, known(name).hosts) == (chips, hosts)


@pytest.mark.parametrize(
    ("name", "chips", "hosts"), [("cpu-1", 1, 1), ("cpu-12", 12, 1), ("cpu-2x4", 8, 2), ("cpu-4096", 4096, 1)]
)
def test_virtual_slices_are_computed(name: str, chips: int, hosts: int):
    found = known(name)
    assert (found.chips, found.hosts, found.platform, found.virtual) == (chips, hosts, "cpu", True)


@pytest.mark.parametrize(
    "name", ["cpu-0", "cpu-", "cpu-8x", "cpu-x8", "cpu-08", "cpu-4097", "cpu-64x65", "CPU-8", "../x"]
)
def test_what_is_no_slice(name: str):
    found, problems = find_slice(name)
    assert found is None
    assert [d.code for d in problems] == ["E0508"]
