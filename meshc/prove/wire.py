"""The collectives of an optimised HLO module: over which mesh axes, how often, how many bytes a device sends.

Bytes follow the ring model (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms", 2009), n devices in a group:
    all-gather      (n - 1) / n of the output       all-reduce       2 (n - 1) / n of the input
    reduce-scatter  (n - 1) / n of the input        all-to-all       (n - 1) / n of the input
    collective-permute   the input
Groups of one cost nothing.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from meshc.prove import groups, hlo

OPCODES = {
    **{op: op for op in ("all-gather", "all-reduce", "reduce-scatter", "all-to-all", "collective-permute")},
    "ragged-all-to-all": "all-to-all",
    "collective-broadcast": "collective-broadcast",
}


@dataclass(frozen=True, slots=True)
class WireCollective:
    """One array that one collective moves. XLA's combined collectives (tuples) are one of these for each array.

    op          as the derived list calls it
    axes        mesh axes it runs over, in mesh order; empty for a group of one
    whole       whether its groups are those of whole axes
    elements    of the local input
    wire_bytes  bytes a device sends, each time
    times       a step, where branches of slots are not always taken the mean of all devices; `counted` is false inside
                a loop of unknown length
    """

    op: str
    axes: tuple[str, ...]
    whole: bool
    dtype: str
    elements: int
    wire_bytes: float
    times: float
    counted: bool
    instruction: str
    op_name: str

    @property
    def bytes_per_step(self) -> float:
        return self.wire_bytes * self.times

    @property
    def scalar(self) -> bool:
        return self.elements == 1


def collectives(text: str, mesh: Mapping[str, int]) -> tuple[WireCollective, ...]:
    """All collectives of a module's text; `mesh` is axis -> size, outermost first. Groups of one are left out."""
    return tuple(c for run in hlo.parse(text).executed() for c in _collectives_of(run, mesh) if c.axes)


def _collectives_of(run: hlo.Executed, mesh: Mapping[str, int]) -> Iterator[WireCollective]:
    found = run.instruction
    op = OPCODES.get(found.opcode.removesuffix("-start"))
    if op is None:
        return
    if found.opcode.startswith("collective-permute"):
        members = groups.source_target_pairs(found.attributes)
        size, whole = 2, True
    else:
        members = groups.replica_groups(found.attributes, math.prod(mesh.values()))
        size, whole = max(map(len, members)), groups.spans_axes(members, mesh)
    if op == "all-reduce" and run.computation.name.startswith("all-reduce-scatter"):
        op = "reduce-scatter"  # the TPU compiler's fused form: an all-reduce and a slice, run as one reduce-scatter
    axes = groups.axes_of(members, mesh)
    inputs = run.computation.operand_shapes(found)
    if found.opcode.startswith("ragged"):  # the one of rows and room for them that holds the rows alone
        inputs = [min(inputs[:2], key=lambda shape: shape.num_bytes)]
    for shape in inputs:
        yield WireCollective(
            op, axes, whole, shape.dtype, shape.elements, ring_bytes(op, shape.num_bytes, size),
            run.times * share(found.op_name), run.counted, found.name, found.op_name,
        )  # fmt: skip


SLOT = re.compile(r"_(\d+)_of_(\d+)(?=[/)]|$)")
"""The end of a scope's name (`runtime.pipeline.control.scope`): how often what is below it runs."""


def share(op_name: str) -> float:
    """How often an instruction runs of the times that the loops around it turn: the slots it is in are not all busy."""
    return math.prod(int(busy) / int(of) for busy, of in SLOT.findall(op_name))


def ring_bytes(op: str, input_bytes: int, size: int) -> float:
    """Bytes that each of `size` devices sends, given the bytes of its local input."""
    if size == 1:
        return 0.0
    match op:
        case "all-gather":
            return input_bytes * (size - 1)
        case "all-reduce":
            return input_bytes * 2 * (size - 1) / size
        case "reduce-scatter" | "all-to-all":
            return input_bytes * (size - 1) / size
        case _:
            return input_bytes


def bytes_by_axes(found: Iterable[WireCollective]) -> dict[tuple[str, ...], float]:
    """Bytes a device and step over each set of axes."""
    total: defaultdict[tuple[str, ...], float] = defaultdict(float)
    for collective in found:
        total[collective.axes] += collective.bytes_per_step
    return dict(total)


def total_bytes(found: Iterable[WireCollective]) -> float:
    """Bytes a device and step."""
    return sum(c.bytes_per_step for c in found)
