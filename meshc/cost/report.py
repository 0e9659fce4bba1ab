"""What `meshc explain` tells of a placed program: its mesh, where each tensor lies, each collective, memory a device.

The JSON form, which `program.json` beside a built program has too; keys only ever become more:

    {"mesh": {axis: size},                          every declared axis, outermost first
     "views": {name: {"regroup": [axis], "axes": {axis: size}}},
     "device_mesh": {axis: size},                   the device mesh, axes larger than 1: what placements speak of
     "parts": {axis: [axis]},                       declared axes that a view or a repeat cuts, in axes of that mesh
     "orders": {dim: {"zigzag": int}},              dims in zigzag order, and the pairs of chunks that they are cut into
     "pipeline": {"axes": [axis], "schedule": str, "stages": int, "rounds": int, "microbatches": int,
                  "turns": {dim: [int]}, "idle_share": float, "live": int} | null,      see cost/stages.py
     "slice": {"name": str, "chips": int, "hosts": int, "platform": "cpu" | "gpu" | "tpu"} | null,
     "launch": {"backend": str, "hosts": int, "processes_per_host": int, "processes": int,
                "local_device_ids": [[int]]} | null,   of a job that another backend than `local` starts
     "axes": [{"axis": axis, "size": int, "links": [str], "slowest": str, "bandwidth": float | null,
               "seconds": float | null}],
     "tensors": [{"path": str, "kind": KIND, "dims": [str], "shape": [int], "placement": {dim: [axis]},
                  "shard_shape": [int], "bytes": int, "bytes_per_device": int}],
     "collectives": [{"op": str, "axes": [axis], "tensor": str, "phase": "forward" | "backward" | "update",
                      "count": int, "bytes_per_device": int,        `count` runs a step send these bytes in all
                      "link": str | null, "bandwidth": float | null, "seconds": float | null}],
     "parameters": int,                             numbers that are trained, without padding
     "memory": {"params": int, "gradients": int, "optimizer": int, "state": int, "inputs": int,
                "gathered_weights": int, "activations": int, "total": int}}

`axes` are those larger than 1, with the links of the slice that their groups cross, innermost first; none without a
slice. `bandwidth` is bytes a second that one chip can send through the slowest of them, `seconds` what a collective's
runs take at least (semantics/links.py), of an axis all that go over it; null where it is not known.

Memory is bytes of one device: at rest, and what waits for the backward pass; what XLA needs besides is not counted.
KIND is `param` (at rest), `gradient` (while it accumulates), `optimizer` (one of its moments), `state` (carried from
step to step), `input`, `activation` (a named tensor of a layer, of one microstep; of a repeat, of one turn).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, Literal

from meshc.cost.links import AxisLinks, axis_links, price
from meshc.cost.memory import Memory, memory
from meshc.cost.stages import Stages, stages
from meshc.job.launch_plan import LaunchPlan
from meshc.job.model import Optimizer
from meshc.job.slices import Slice
from meshc.semantics.collectives import Collective, Settings
from meshc.semantics.flat import flatten
from meshc.semantics.links import Network, network
from meshc.semantics.placed import Computed, Layout, Order, Placed, PlacedProgram, PlacedWeight, local_shape
from meshc.semantics.program import Dim
from meshc.semantics.refine import Refined
from meshc.semantics.routing import lying

TensorKind = Literal["param", "gradient", "optimizer", "state", "input", "activation"]


@dataclass(frozen=True, slots=True)
class Tensor:
    path: str
    kind: TensorKind
    dims: tuple[str, ...]
    shape: tuple[int, ...]
    placement: dict[str, tuple[str, ...]]
    shard_shape: tuple[int, ...]
    bytes: int
    bytes_per_device: int


@dataclass(frozen=True, slots=True)
class Report:
    mesh: dict[str, int]
    views: dict[str, tuple[tuple[str, ...], dict[str, int]]]
    refined: Refined
    slice: Slice | None
    tensors: tuple[Tensor, ...]
    collectives: tuple[Collective, ...]
    memory: Memory
    parameters: int
    network: Network | None = None
    axes: tuple[AxisLinks, ...] = ()
    orders: dict[str, Order] = field(default_factory=dict)
    pipeline: Stages | None = None
    launch: LaunchPlan | None = None

    @property
    def devices(self) -> int:
        return math.prod(self.mesh.values())

    def named(self, name: str) -> Report:
        """The part that speaks of one tensor, or of all below a path: `Llama.table`, `Llama.block`, `wq`, `*.w?`."""

        def speaks(path: str) -> bool:
            if any(sign in name for sign in "*?["):
                return fnmatchcase(path, name)
            return f".{name}." in f".{path}."

        tensors = tuple(t for t in self.tensors if speaks(t.path))
        collectives = tuple(c for c in self.collectives if speaks(c.path))
        return replace(self, tensors=tensors, collectives=collectives)


def report(
    placed: PlacedProgram,
    collectives: Sequence[Collective],
    settings: Settings,
    optimizer: Optimizer,
    slice: Slice | None = None,
    launch: LaunchPlan | None = None,
) -> Report:
    tensors = (*_weights(placed, settings), *_inputs(placed, settings), *_activations(placed, settings))
    program = placed.program
    wired = network(placed, slice)
    return Report(
        {axis.name: axis.size for axis in program.axes},
        {view.name: (view.group, {axis.name: axis.size for axis in view.axes}) for view in program.views},
        placed.refined,
        slice,
        tensors,
        tuple(collectives),
        memory(placed, settings, optimizer),
        sum(math.prod(d.real for d in w.weight.dims) for w in placed.weights if w.weight.trained),
        wired,
        tuple(axis_links(placed, collectives, wired)),
        placed.orders,
        stages(placed),
        launch,
    )


def _weights(placed: PlacedProgram, settings: Settings) -> Iterator[Tensor]:
    for kind in ("param", "gradient", "optimizer", "state"):
        for weight in placed.weights:
            if weight.weight.trained == (kind != "state"):
                layout, width = _held(placed, settings, weight, kind)
                yield _tensor(weight.weight.dotted, kind, weight.weight.dims, layout, width, placed)


def _held(placed: PlacedProgram, settings: Settings, weight: PlacedWeight, kind: str) -> tuple[Layout, int]:
    """Where it lies, and bytes of an element."""
    match kind:
        case "gradient":
            return placed.added_up(weight), settings.gradient_bytes(placed.microsteps > 1)
        case "optimizer":
            return weight.optimizer, settings.param_bytes
        case "state":
            return weight.rest, settings.state_bytes
        case _:
            return weight.rest, settings.param_bytes


def _inputs(placed: PlacedProgram, settings: Settings) -> Iterator[Tensor]:
    for item in placed.fed:
        path, width = f"{placed.program.model.name}.{item.value.name}", settings.bytes_of(item.value)
        yield _tensor(path, "input", item.value.dims, item.layout, width, placed)


def _activations(placed: PlacedProgram, settings: Settings) -> Iterator[Tensor]:
    seen: set[str] = set()
    for item in flatten(placed).statements:
        if isinstance(item.statement, Computed) and item.statement.result.value.named:
            result: Placed = item.statement.result
            path = _fresh(".".join((*item.path, result.value.name)), seen)
            width = settings.bytes_of(result.value)
            yield _tensor(path, "activation", *lying(result, placed), width, placed)


def _fresh(path: str, seen: set[str]) -> str:
    """A name assigned again is another tensor: `x`, `x#2`, …"""
    number = 1
    name = path
    while name in seen:
        number += 1
        name = f"{path}#{number}"
    seen.add(name)
    return name


def _tensor(
    path: str, kind: TensorKind, dims: tuple[Dim, ...], layout: Layout, width: int, placed: PlacedProgram
) -> Tensor:
    shape = tuple(dim.size for dim in dims)
    shard = local_shape(dims, layout, placed.sizes)
    placement = {dim.name: axes for dim, axes in zip(dims, layout.axes, strict=True) if axes}
    names = tuple(dim.name for dim in dims)
    return Tensor(path, kind, names, shape, placement, shard, math.prod(shape) * width, math.prod(shard) * width)


def as_json(report: Report) -> dict[str, Any]:
    """The documented object, of plain lists, dicts, texts and numbers."""
    return {
        "mesh": report.mesh,
        "views": {name: {"regroup": list(group), "axes": axes} for name, (group, axes) in report.views.items()},
        "device_mesh": report.refined.sizes,
        "parts": {axis: list(parts) for axis, parts in report.refined.cut.items()},
        "orders": {dim: {"zigzag": order.parts} for dim, order in report.orders.items()},
        "pipeline": report.pipeline
        and {
            **asdict(report.pipeline),
            "axes": list(report.pipeline.axes),
            "turns": {dim: list(turns) for dim, turns in report.pipeline.turns},
        },
        "slice": report.slice
        and {name: getattr(report.slice, name) for name in ("name", "chips", "hosts", "platform")},
        "launch": report.launch.as_json() if report.launch else None,
        "axes": [_axis(axis) for axis in report.axes],
        "tensors": [_plain(tensor) for tensor in report.tensors],
        "collectives": [_collective(collective, report.network) for collective in report.collectives],
        "parameters": report.parameters,
        "memory": {**asdict(report.memory), "total": report.memory.total},
    }


def _plain(tensor: Tensor) -> dict[str, Any]:
    placement = {dim: list(axes) for dim, axes in tensor.placement.items()}
    lists = {name: list(getattr(tensor, name)) for name in ("dims", "shape", "shard_shape")}
    return {**asdict(tensor), **lists, "placement": placement}


def _axis(found: AxisLinks) -> dict[str, Any]:
    return {
        "axis": found.axis,
        "size": found.size,
        "links": list(found.crossed),
        "slowest": found.slowest.name,
        "bandwidth": found.slowest.bandwidth,
        "seconds": found.seconds,
    }


def _collective(found: Collective, network: Network | None) -> dict[str, Any]:
    priced = price(found, network)
    return {
        "op": found.op,
        "axes": list(found.axes),
        "tensor": found.tensor,
        "phase": found.phase,
        "count": found.count,
        "bytes_per_device": found.bytes_per_device,
        "link": priced.link.name if priced else None,
        "bandwidth": priced.link.bandwidth if priced else None,
        "seconds": priced.seconds if priced else None,
    }
