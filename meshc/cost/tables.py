"""A report as text tables: what `meshc explain` prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict

from meshc.cost.links import AxisLinks, price
from meshc.cost.report import Report, Tensor
from meshc.diagnostics.units import duration, rate, size
from meshc.job.wiring import links
from meshc.semantics.collectives import Collective, CollectiveOp, sent
from meshc.semantics.links import Network

TITLES = {
    "param": "weights at rest",
    "gradient": "gradients while they accumulate, where not as weights",
    "optimizer": "optimizer state, where not as weights",
    "state": "carried from step to step",
    "input": "inputs",
    "activation": "activations (a microstep)",
}


def text(report: Report) -> str:
    """All of a report."""
    return (
        "\n".join((*_mesh(report), _parameters(report), *_tensors(report), *_collectives(report), "", *_memory(report)))
        + "\n"
    )


def part(report: Report) -> str:
    """The tensors and collectives of a report that is about some of them."""
    return "\n".join((*_mesh(report), *_tensors(report), *_collectives(report))) + "\n"


def _parameters(report: Report) -> str:
    return f"parameters: {report.parameters:,}"


def _mesh(report: Report) -> Iterator[str]:
    axes = " x ".join(f"{axis} {size}" for axis, size in report.mesh.items())
    where = f" on {report.slice.name}" if report.slice else ""
    yield f"mesh: {axes} = {report.devices} devices{where}" if axes else f"mesh: one device{where}"
    if report.launch:
        yield f"launch: {report.launch.words}"
    for name, (group, inner) in report.views.items():
        yield f"  {name} regroups {', '.join(group)}: {' x '.join(f'{axis} {size}' for axis, size in inner.items())}"
    for axis, parts in report.refined.cut.items():
        yield f"  {axis} is {' x '.join(f'{part} {report.refined.sizes[part]}' for part in parts)} of the device mesh"
    for dim, order in report.orders.items():
        last = 2 * order.parts - 1
        yield f"  {dim} lies in zigzag order: of {last + 1} chunks, part i of {order.parts} has chunks i and {last} - i"
    if report.pipeline:
        yield f"  {report.pipeline.words}"
    if _worth_pricing(report):
        yield ""
        head = ("axis", "devices", "links it crosses", "slowest", "of a chip", "a step at least")
        yield from table(head, map(_axis, report.axes), right=(1, 4, 5))


def _tensors(report: Report) -> Iterator[str]:
    for kind, title in TITLES.items():
        if tensors := _worth_showing(report, kind):
            yield ""
            yield from table(
                (title, "dims", "a device", "axes", "bytes", "a device"), map(_tensor, tensors), right=(4, 5)
            )


def _collectives(report: Report) -> Iterator[str]:
    if report.collectives:
        yield ""
        network = _worth_pricing(report)
        head = ("collectives a step", "axes", "tensor", "phase", "runs", "bytes a device", *_priced_head(network))
        rows = (_collective(found, network) for found in report.collectives)
        yield from table(head, rows, right=(4, 5, 7))
        yield from _traffic(report.collectives, network)


def _worth_pricing(report: Report) -> Network | None:
    """The links of the slice, where there are several or their speed is known."""
    if report.network is None:
        return None
    known = any(axis.slowest.bandwidth is not None for axis in report.axes)
    return report.network if known or len(links(report.network.slice)) > 1 else None


def _priced_head(network: Network | None) -> tuple[str, ...]:
    return ("slowest link", "at least") if network else ()


def _worth_showing(report: Report, kind: str) -> list[Tensor]:
    tensors = [t for t in report.tensors if t.kind == kind]
    if kind not in ("gradient", "optimizer"):
        return tensors
    at_rest = {t.path: t.placement for t in report.tensors if t.kind == "param"}
    return [t for t in tensors if at_rest.get(t.path) != t.placement]


def _tensor(tensor: Tensor) -> tuple[str, ...]:
    dims = ", ".join(f"{dim} {size}" for dim, size in zip(tensor.dims, tensor.shape, strict=True))
    placement = ", ".join(f"{dim} -> {' '.join(axes)}" for dim, axes in tensor.placement.items())
    shard = " x ".join(map(str, tensor.shard_shape)) or "1"
    return (tensor.path, dims, shard, placement or "whole", size(tensor.bytes), size(tensor.bytes_per_device))


def _axis(found: AxisLinks) -> tuple[str, ...]:
    links, told = ", ".join(found.crossed), rate(found.slowest.bandwidth)
    return (found.axis, str(found.size), links, found.slowest.name, told, duration(found.seconds))


def _collective(found: Collective, network: Network | None) -> tuple[str, ...]:
    axes = " ".join(found.axes)
    priced = price(found, network)
    told = (priced.link.name, duration(priced.seconds)) if priced else ()
    return (found.op, axes, found.tensor, found.phase, str(found.count), size(found.bytes_per_device), *told)


def _traffic(collectives: Sequence[Collective], network: Network | None) -> Iterator[str]:
    """Bytes a device and step, of each kind over each group of axes; where the links are known, also times."""
    sums = sent(collectives)
    yield ""
    rows = [
        (f"{op} over {' '.join(axes)}", size(number), *_link(network, axes), *_time(network, op, axes, number))
        for (op, axes), number in sums.items()
    ]
    total = (duration(network.total_seconds(collectives)),) if network else ()
    last = ("all", size(sum(sums.values())), *([""] if network else []), *total)
    yield from table(("sent by a device in a step", "bytes", *_priced_head(network)), [*rows, last], right=(1, 3))


def _link(network: Network | None, axes: Sequence[str]) -> Iterator[str]:
    if network and (link := network.link(axes)):
        yield f"{link.name} {rate(link.bandwidth)}"


def _time(network: Network | None, op: CollectiveOp, axes: Sequence[str], num_bytes: int) -> Iterator[str]:
    if network:
        yield duration(network.seconds(op, axes, num_bytes))


def _memory(report: Report) -> Iterator[str]:
    held = asdict(report.memory)
    rows = [(name.replace("_", " "), size(held[name])) for name in held if held[name]]
    rows.append(("all", size(report.memory.total)))
    if report.slice and not report.slice.virtual:
        rows.append((f"a chip of {report.slice.name}", size(report.slice.hbm_bytes)))
    yield from table(("memory of a device", "bytes"), rows, right=(1,))


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]], right: tuple[int, ...] = ()) -> Iterator[str]:
    """Columns as wide as they need; those numbered in `right` end on one line."""
    rows = list(rows)
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]

    def line(row: tuple[str, ...]) -> str:
        cells = (f"{c:>{w}}" if i in right else f"{c:<{w}}" for i, (c, w) in enumerate(zip(row, widths, strict=True)))
        return "  ".join(cells).rstrip()

    yield line(head)
    yield line(tuple("-" * width for width in widths))
    yield from map(line, rows)
