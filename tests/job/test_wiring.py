"""Which links groups of devices cross: against a count over every device, and figures worked out by hand."""

from __future__ import annotations

import math
import random
from itertools import product

import pytest

from meshc.job.catalogue import find_slice
from meshc.job.slices import Level, Slice
from meshc.job.wiring import Crossing, Link, Mesh, crossings, links, slowest


def machine(*levels: Level, torus: tuple[int, ...] = (), wrapped: tuple[bool, ...] = ()) -> Slice:
    chips = math.prod(torus) * math.prod(level.size for level in levels)
    return Slice("machine", "gpu", chips, 1, 1, {}, 1.0, torus, wrapped or (False,) * len(torus), 50.0, levels)


RACKS = machine(Level("chip", 2, 8e9), Level("node", 2, 4e9), Level("rack", 2, 2e9), Level("network", 2, 1e9))


def crossed(slice: Slice, mesh: Mesh, *axes: str) -> list[str]:
    return [crossing.link.name for crossing in crossings(slice, mesh, axes)]


def known(name: str) -> Slice:
    found, problems = find_slice(name)
    assert found is not None, problems
    return found


# ---------------------------------------------------------------- levels


def test_the_innermost_axis_lies_in_the_innermost_units():
    mesh = (("replica", 2), ("fsdp", 2), ("tp", 4))
    assert [crossed(RACKS, mesh, axis) for axis, _ in mesh] == [["network"], ["rack"], ["chip", "node"]]


def test_several_axes_together_cross_what_any_of_them_crosses():
    mesh = (("replica", 2), ("fsdp", 2), ("tp", 4))
    assert crossed(RACKS, mesh, "replica", "tp") == ["chip", "node", "network"]
    assert slowest(crossings(RACKS, mesh, ("replica", "tp"))) == Link("network", 1e9)
    assert crossings(RACKS, mesh, ("fsdp", "tp"))[-1] == Crossing(Link("rack", 2e9), size=8, together=4)


def test_an_axis_that_spans_part_of_a_level():
    """4 of the 8 in a node at every second place, and as many in the next node."""
    slice = machine(Level("node", 8, 450e9), Level("network", 2, 50e9))
    assert crossings(slice, (("a", 8), ("b", 2)), "a") == (
        Crossing(Link("node", 450e9), size=8),
        Crossing(Link("network", 50e9), size=8, together=4),
    )


def test_a_size_that_does_not_divide_a_level():
    """Of 24 in nodes of 8, the groups of 6 are 0-5, 6-11, 12-17 and 18-23: two of them 2 and 4 on either side."""
    slice = machine(Level("node", 8, 450e9), Level("network", 3, 50e9))
    node, network = crossings(slice, (("a", 4), ("b", 6)), "b")
    assert (node.link.name, network) == ("node", Crossing(Link("network", 50e9), size=6, together=2, even=False))


def test_a_level_of_one_is_not_crossed():
    slice = machine(Level("node", 4, 4e9), Level("rack", 1, 1.0), Level("network", 2, 2e9))
    assert links(slice) == ("node", "network")
    assert crossed(slice, (("a", 2), ("b", 4)), "a", "b") == ["node", "network"]


def test_no_axis_and_an_axis_of_one_cross_nothing():
    assert crossings(RACKS, (("a", 16), ("b", 1)), ()) == ()
    assert crossings(RACKS, (("a", 16), ("b", 1)), "b") == ()
    assert slowest(()) is None


def test_the_slowest_link_need_not_be_the_outermost():
    slice = machine(Level("node", 2, 1e9), Level("network", 2, 4e9))
    assert slowest(crossings(slice, (("a", 4),), "a")) == Link("node", 1e9)
    equal = machine(Level("rack", 2, 1e9), Level("pod", 2, 1e9))
    assert slowest(crossings(equal, (("a", 4),), "a")) == Link("pod", 1e9)


def test_nothing_is_invented_about_virtual_devices():
    assert slowest(crossings(known("cpu-2x4"), (("a", 2), ("b", 4)), "ab")) == Link("machine", None)


def test_a_mesh_that_does_not_fill_the_slice_has_no_links():
    with pytest.raises(ValueError, match="does not fill"):
        crossings(RACKS, (("a", 4),), "a")


def counted(slice: Slice, mesh: Mesh, axes: tuple[str, ...]) -> list[tuple[str, int, bool]]:
    """The same by walking over all devices: numbers row by row, a level joins numbers in a row."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for number, place in enumerate(product(*(range(size) for _, size in mesh))):
        fixed = tuple(i for i, (name, _) in zip(place, mesh, strict=True) if name not in axes)
        groups.setdefault(fixed, []).append(number)
    found: list[tuple[str, int, bool]] = []
    unit = 1
    for level in slice.levels:
        below, unit = unit, unit * level.size
        counts: set[int] = set()
        crosses: set[bool] = set()
        for group in groups.values():
            in_units = [[m for m in group if m // below == u] for u in {m // below for m in group}]
            counts |= {len(members) for members in in_units}
            pairs = ((a, b) for a in group for b in group)
            crosses.add(any(a // below != b // below and a // unit == b // unit for a, b in pairs))
        if True in crosses:
            found.append((level.name, min(counts), len(counts) == 1 and len(crosses) == 1))
    return found


@pytest.mark.parametrize("seed", range(60))
def test_against_a_count_over_all_devices(seed: int):
    chance = random.Random(seed)
    factors = chance.choices([1, 2, 3, 4], k=4)
    slice = machine(*(Level(f"level{i}", n, 1.0) for i, n in enumerate(chance.sample(factors, 4))))
    primes = [p for n in factors for p in ((2, 2) if n == 4 else (n,))]
    chance.shuffle(primes)
    cuts = sorted(chance.choices(range(len(primes) + 1), k=2))
    sizes = [math.prod(primes[a:b]) for a, b in zip([0, *cuts], [*cuts, len(primes)], strict=True)]
    mesh = tuple(zip("abc", sizes, strict=True))
    for axes in (("a",), ("b",), ("c",), ("a", "c"), ("b", "c"), ("a", "b", "c")):
        found = [(c.link.name, c.together, c.even) for c in crossings(slice, mesh, axes)]
        assert found == counted(slice, mesh, axes), (slice.levels, mesh, axes)


# ---------------------------------------------------------------- tori: 50 bytes a second a link and direction


def bandwidth(slice: Slice, mesh: Mesh, *axes: str) -> float | None:
    (only,) = crossings(slice, mesh, axes)
    assert only.link.name == "torus"
    return only.link.bandwidth


@pytest.mark.parametrize(
    ("wrapped", "mesh", "axes", "links_of_a_chip"),
    [
        ((True, True), (("a", 16), ("b", 16)), "b", 2),  # a ring: both ways
        ((False, False), (("a", 16), ("b", 16)), "b", 1),  # a line: its end has one link
        ((True, True), (("a", 256),), "a", 4),  # both sides
        ((True, False), (("a", 256),), "a", 3),
        ((True, True), (("a", 16), ("b", 16)), "ab", 4),
        ((True, True), (("a", 2), ("b", 8), ("c", 16)), "b", 1),  # half of a ring is a line
        ((True, True), (("a", 2), ("b", 8), ("c", 16)), "a", 2 / 8),  # two members at distance 8: 8 groups share a link
        ((True, True), (("a", 2), ("b", 8), ("c", 16)), "ab", 2),  # together the whole ring
        (
            (False, False),
            (("a", 8), ("b", 2), ("c", 16)),
            "a",
            1,
        ),  # every second of a line, two groups: its end has one
        ((False, False), (("a", 4), ("b", 4), ("c", 16)), "a", 1 / 2),
    ],
)
def test_what_a_chip_can_send_on_a_torus(wrapped, mesh, axes, links_of_a_chip):
    assert bandwidth(machine(torus=(16, 16), wrapped=wrapped), mesh, *axes) == pytest.approx(50 * links_of_a_chip)


def test_the_published_rates_of_v5e():
    """400 GB/s a chip in both directions together: 200 in one, over both sides of a pod."""
    slice = known("v5e-256")
    assert bandwidth(slice, (("data", 16), ("model", 16)), "model") == 100e9
    assert bandwidth(slice, (("data", 16), ("model", 16)), "data", "model") == 200e9


def test_levels_join_whole_tori():
    slice = known("v5e-512")
    assert links(slice) == ("torus", "dcn")
    mesh = (("replica", 2), ("fsdp", 16), ("tp", 16))
    assert [crossed(slice, mesh, axis) for axis, _ in mesh] == [["dcn"], ["torus"], ["torus"]]
    # An axis larger than the number of tori crosses them with its outer part: 2 x 128, and 16 of a torus share the way.
    assert crossings(slice, (("fsdp", 32), ("tp", 16)), ("fsdp",)) == (
        Crossing(Link("torus", 100e9), size=32),
        Crossing(Link("dcn", 3.125e9), size=32, together=16),
    )
    # Of sizes that the number of tori does not divide, the next axis goes across.
    three = machine(Level("dcn", 2, 1.0), torus=(3, 4))
    assert crossed(three, (("a", 3), ("b", 8)), "a") == ["torus"]
    assert crossed(three, (("a", 3), ("b", 8)), "b") == ["torus", "dcn"]
