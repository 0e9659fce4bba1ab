"""The head of a program says which links its collectives cross, where the slice says how fast these are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from meshc.driver import compile_program
from meshc.job.target import Request

RACKS = Path(__file__).parents[2] / "specs" / "zoo" / "18_racks.mesh"


def head(path: Path, slice: str | None) -> str:
    compiled, diagnostics = compile_program(Request(str(path), slice))
    assert compiled is not None, diagnostics
    return compiled.files["train.py"].split('"""')[1]


def test_links_and_least_times_stand_at_the_head():
    told = head(RACKS, "h100-16")
    assert "on `h100-16` the slowest link and the least time:" in told
    megabytes, link, microseconds = re.findall(r"all-reduce over replica +([\d.]+)   (\w+), ([\d.]+) us", told)[0]
    assert link == "network"
    assert float(microseconds) == pytest.approx(float(megabytes) * 1e6 / 50e9 * 1e6, rel=5e-3)
    assert re.search(r"all-gather over fsdp +[\d.]+   node, ", told)


def test_the_slice_of_row_18_has_four_levels():
    """Replicas across racks, fsdp across the nodes of a rack, tp inside a node."""
    told = head(RACKS.with_suffix(".yaml"), None)
    assert re.search(r"all-reduce over replica +[\d.]+   network, ", told)
    assert re.search(r"all-gather over fsdp +[\d.]+   rack, ", told)
    assert re.search(r"all-reduce over tp +[\d.]+   node, ", told)


@pytest.mark.parametrize("slice", [None, "cpu-16", "cpu-2x8"])
def test_where_speeds_are_not_known_nothing_is_said(slice: str | None):
    assert "(ring algorithms):\n" in head(RACKS, slice)
