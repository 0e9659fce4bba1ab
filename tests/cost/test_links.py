"""Times on links, against figures worked out by hand; and what a report tells of them."""

from __future__ import annotations

import pytest

from meshc.cost.links import axis_links, price
from meshc.cost.report import as_json, report
from meshc.diagnostics.units import duration, rate
from meshc.job.catalogue import find_slice
from meshc.job.model import Optimizer
from meshc.job.slices import Level, Slice, virtual_slice
from meshc.semantics.collectives import Collective, CollectiveOp, Settings, derive, sent
from meshc.semantics.links import Network, network
from meshc.source import SourceFile, Span
from tests.semantics.llama import placed

NODES = Slice("nodes", "gpu", 16, 8, 1, {}, 1.0, levels=(Level("node", 8, 400.0), Level("network", 2, 50.0)))
HSDP = Network(NODES, (("replica", 2), ("fsdp", 2), ("tp", 4)))


def collective(op: CollectiveOp, *axes: str, bytes_per_device: int) -> Collective:
    return Collective(op, axes, "t", "forward", 1, bytes_per_device, Span(SourceFile("s", ""), 0, 0))


@pytest.mark.parametrize(
    ("op", "axes", "seconds"),
    [
        ("all-gather", ("tp",), 1200 / 400),
        ("all-reduce", ("replica",), 1200 / 50),
        # 8 of a node's 16 share what has to cross: 1200 / 8 each, 3 s at 50; in the node 3 s at 400.
        ("all-gather", ("replica", "fsdp", "tp"), 1200 / 400),
        # 2 in each node: 600 each through the network.
        ("reduce-scatter", ("replica", "fsdp"), 600 / 50),
        # Of 3 others 2 are across: two thirds, each of its own.
        ("all-to-all", ("replica", "fsdp"), 800 / 50),
        ("collective-permute", ("replica", "fsdp"), 1200 / 50),
    ],
)
def test_time_on_levels(op: CollectiveOp, axes: tuple[str, ...], seconds: float):
    assert HSDP.seconds(op, axes, 1200) == pytest.approx(seconds)
    priced = price(collective(op, *axes, bytes_per_device=1200), HSDP)
    assert priced is not None
    assert (priced.link.name, priced.seconds) == ("node" if axes == ("tp",) else "network", pytest.approx(seconds))


def test_gathering_over_a_whole_pod():
    """V bytes over the four links of a v5e chip at 50 GB/s: V * 255/256 / 200e9 ("How to Scale Your Model", sharding)."""
    pod, _ = find_slice("v5e-256")
    assert pod is not None
    size = 2**30 * 255 / 256
    wired = Network(pod, (("data", 16), ("model", 16)))
    assert wired.seconds("all-gather", ("data", "model"), size) == pytest.approx(size / 200e9)
    assert wired.seconds("all-gather", ("model",), size) == pytest.approx(size / 100e9)


def test_all_of_a_program_take_the_sum_of_its_parts():
    program = placed("replica = 2, fsdp = 2, tp = 4", "data(replica)\n fsdp(fsdp)\n tensor(tp)")
    wired = network(program, NODES)
    assert wired is not None
    collectives = derive(program)
    parts = [wired.seconds(op, axes, size) or 0.0 for (op, axes), size in sent(collectives).items()]
    assert wired.total_seconds(collectives) == pytest.approx(sum(parts))
    assert all(parts)


def test_a_report_tells_of_each_axis_and_collective():
    program = placed("replica = 2, fsdp = 2, tp = 4", "data(replica)\n fsdp(fsdp)\n tensor(tp)")
    told = as_json(report(program, derive(program), Settings(), Optimizer(), NODES))
    seconds = [c["seconds"] for c in told["collectives"] if "replica" in c["axes"]]
    assert told["axes"][0] == {
        "axis": "replica",
        "size": 2,
        "links": ["network"],
        "slowest": "network",
        "bandwidth": 50.0,
        "seconds": pytest.approx(sum(seconds)),
    }
    slowest = {tuple(c["axes"]): c["link"] for c in told["collectives"]}
    assert slowest == {
        ("fsdp",): "node",
        ("tp",): "node",
        ("replica",): "network",
        ("replica", "fsdp"): "network",
    }
    alone = next(c for c in told["collectives"] if c["axes"] == ["replica"])
    assert alone["seconds"] == pytest.approx(alone["bytes_per_device"] / 50)


def test_virtual_devices_have_links_and_no_times():
    program = placed("replica = 2, fsdp = 8", "data(replica)\n fsdp(fsdp)")
    told = as_json(report(program, derive(program), Settings(), Optimizer(), virtual_slice("cpu-2x8")))
    assert [(a["slowest"], a["bandwidth"]) for a in told["axes"]] == [("machine", None), ("process", None)]
    assert {c["seconds"] for c in told["collectives"]} == {None}
    assert {c["link"] for c in told["collectives"]} == {"machine", "process"}


def test_without_a_slice_nothing_is_known():
    program = placed("fsdp = 2", "fsdp(fsdp)")
    told = as_json(report(program, derive(program), Settings(), Optimizer()))
    assert told["axes"] == []
    assert {(c["link"], c["seconds"]) for c in told["collectives"]} == {(None, None)}


def test_an_axis_of_a_view_is_a_part_of_the_mesh():
    """8 devices of `dp` and `tp` regrouped: ep 4 takes 4 of dp's 8, etp 2 the node's inner 2."""
    mesh = "dp = 8, tp = 2 }\nmesh SwiGLU = regroup(dp, tp) { rest = 2, ep = 4, etp = 2"
    program = placed(mesh, "data(dp)\n tensor(tp)")
    wired = network(program, NODES)
    assert wired is not None
    assert {a.axis: (a.size, a.crossed) for a in axis_links(program, derive(program), wired)} == {
        "dp": (8, ("node", "network")),
        "tp": (2, ("node",)),
        "rest": (2, ("network",)),
        "ep": (4, ("node",)),
        "etp": (2, ("node",)),
    }


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(None, "unknown"), (0.0, "0"), (2e-10, "0.2 ns"), (1.234e-3, "1.23 ms"), (0.9996, "1 s"), (12345.0, "12,345 s")],
)
def test_durations(seconds: float | None, shown: str):
    assert duration(seconds) == shown


def test_rates():
    assert [rate(r) for r in (None, 450e9, 3.125e9, 1e12, 5.0)] == [
        "unknown",
        "450 GB/s",
        "3.12 GB/s",
        "1 TB/s",
        "5 B/s",
    ]
