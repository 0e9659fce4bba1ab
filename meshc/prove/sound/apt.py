"""Partitions as people write them: each axis with a job of its own, sizes that fit more often than not.

Half of the draws have one of these, for of the wholly random ones few with several strategies are legal.
"""

from __future__ import annotations

import re
from random import Random

from meshc.prove.mixed.models import Drawn
from meshc.prove.mixed.partitions import Partition, draw_axes, draw_experts, draw_pipeline

ROWS = ("data({})", "fsdp({})", "fsdp({}, gathered = kept)", "zero1({})", "zero2({})")
HEADS = ("tensor({})", "tensor({}, sequence = true)")
SEQUENCE = ("ring({})", "gather_kv({})", "ulysses({})")


def apt_partition(r: Random, model: Drawn, devices: tuple[int, ...]) -> Partition:
    partition = Partition(draw_axes(r, devices))
    axes = list(partition.axes)
    r.shuffle(axes)
    lines = partition.lines
    if "layers" in model.dims and r.random() < 0.2:
        lines.append(draw_pipeline(r, axes.pop(), partition))
    if model.has_experts and axes and r.random() < 0.8:
        _with_experts(r, partition, axes)
    jobs = ["rows", "heads", "sequence", "rows"] if "seq" in model.dims else ["rows", "rows", "heads"]
    for axis in axes:
        job = jobs.pop(r.randrange(len(jobs))) if jobs else "rows"
        if job == "heads" and "sequence" in jobs and "heads" in model.dims and r.random() < 0.3:
            jobs.remove("sequence")
            others = [name for name in axes if not any(f"({name}" in line for line in lines) and name != axis]
            if others:
                lines += _shared(axis, others[0])
                axes.remove(others[0])
                continue
        lines.append(r.choice({"rows": ROWS, "heads": HEADS, "sequence": SEQUENCE}[job]).format(axis))
    r.shuffle(lines)
    return partition


def _with_experts(r: Random, partition: Partition, axes: list[str]) -> None:
    """A view without the stages' axis, or experts on an axis that splits rows as well."""
    stages = next((m[1] for line in partition.lines if (m := re.match(r"pipeline\((\w+)", line))), None)
    if r.random() < 0.4:
        partition.lines.append(f"expert({r.choice(axes)})")
        return
    others = Partition({name: size for name, size in partition.axes.items() if name != stages})
    draw_experts(r, others)
    partition.view = others.view
    partition.lines += others.lines


def _shared(tensor: str, sequence: str) -> list[str]:
    """Tensor parallelism and Ulysses, with the heads that both claim shared out in the open."""
    return [
        f"tensor({tensor})",
        f"ulysses({sequence})",
        f"within attend {{ heads, kv_heads -> {tensor}, {sequence} }}",
    ]
