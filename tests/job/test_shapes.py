"""Slices that cannot be, of those that a job gives inline; and what the TPU compiler says of the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from meshc.job.catalogue import find_slice, slice_names
from meshc.job.shapes import other_sides, shape_holds, whole_hosts
from meshc.source import SourceFile, Span

ROOT = Path(__file__).parents[2]
COMPILERS = ROOT / ".cache" / "aot"
"""Where `make prove` installs libtpu."""


@pytest.mark.parametrize("name", slice_names())
def test_the_slices_of_the_catalogue_can_be(name: str):
    found, _ = find_slice(name)
    assert found is not None
    assert not list(shape_holds(found, lambda *_: Span(SourceFile("a", ""), 0, 0)))


@pytest.mark.parametrize(
    ("sides", "hosts", "others"),
    [
        ((1, 8), 4, [(2, 4)]),
        ((3, 4), 4, [(2, 6)]),
        ((16,), 4, [(4, 4), (2, 8)]),
        ((1, 1, 16), 4, [(2, 2, 4), (4, 4, 1), (2, 8, 1)]),
        ((3, 5), 4, []),
        ((2, 2), 8, []),
    ],
)
def test_other_sides_of_as_many_chips(sides: tuple[int, ...], hosts: int, others: list[tuple[int, ...]]):
    """4 x 4 x 1 is a slice of 2 x 2 x 1 hosts, 1 x 4 x 4 is none."""
    assert not whole_hosts(sides, hosts)
    assert other_sides(sides, hosts) == others


@pytest.mark.slow
def test_the_tpu_compiler_refuses_what_is_refused_here():
    """Every torus of up to 6 x 6 and 4 x 4 x 4 chips in hosts of 4; and it compiles collectives for meshes whose axes
    are no products of sides, or lie on parts of several slices: these are not refused here.
    """
    assert (COMPILERS / "libtpu").is_dir(), "`make prove` installs the compilers first"
    environment = {
        "TPU_SKIP_MDS_QUERY": "1",
        "JAX_PLATFORMS": "cpu",
        "PYTHONPATH": os.pathsep.join(map(str, (COMPILERS, ROOT))),
    }
    child = [sys.executable, str(Path(__file__).with_name("tpu_topologies.py"))]
    done = subprocess.run(child, env=os.environ | environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert [sides for sides, exists in found["sides"] if exists != whole_hosts(sides, 4)] == []
    assert sum(exists for _, exists in found["sides"]) == 9 + 4 * 4
    assert all(found["meshes"])
