"""Meshes and partitions of a drawn spec: a strategy for each axis, and rules beside them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from meshc.prove.mixed.models import Drawn

NAMES = ("dp", "fsdp", "tp", "sp", "cp", "replica", "x", "data", "outer_shard", "ep", "w", "rows", "lax", "P", "loss")


@dataclass
class Partition:
    """axes: name -> size, outermost first; view: the axes that experts see, as text; dims: sizes that it asks for"""

    axes: dict[str, int]
    view: str = ""
    lines: list[str] = field(default_factory=list)
    dims: dict[str, str] = field(default_factory=dict)

    @property
    def mesh(self) -> str:
        sizes = "\n".join(f"  {name} = {size}" for name, size in self.axes.items())
        return f"mesh {{\n{sizes}\n}}" + (f"\n\n{self.view}" if self.view else "")

    @property
    def text(self) -> str:
        body = "\n".join(f"  {line}" for line in self.lines)
        return f"partition {{\n{body}\n}}"


DEVICES = (8, 16, 6, 12)


def draw_partition(r: Random, model: Drawn, devices: Sequence[int] = DEVICES) -> Partition:
    partition = Partition(draw_axes(r, devices))
    axes = list(partition.axes)
    free = list(axes)
    lines = partition.lines
    if model.has_experts and r.random() < 0.8:
        draw_experts(r, partition)
    if "layers" in model.dims and r.random() < 0.3:
        lines.append(draw_pipeline(r, free.pop(r.randrange(len(free))), partition))
    for axis in free:
        strategy = r.choices(STRATEGIES, WEIGHTS)[0]
        options = r.choice(OPTIONS.get(strategy, ("",)))
        lines.append(f"{strategy}({axis}{options})")
    dims = [name for name in model.dims if name not in ("head_dim", "rotary_dim", "pass_dim")]
    for _ in range(r.choices((0, 1, 2, 3), (5, 4, 2, 1))[0]):
        lines.append(draw_rule(r, model, axes, dims))
    r.shuffle(lines)
    return partition


def draw_axes(r: Random, devices: Sequence[int]) -> dict[str, int]:
    """Axes of sizes 1 to 4 on so many devices; by default on 8 or 16, seldom on 6 or 12."""
    while True:
        sizes = [r.choices((1, 2, 3, 4), (1, 8, 1, 4))[0] for _ in range(r.randint(1, 4))]
        if math.prod(sizes) in devices:
            return dict(zip(r.sample(NAMES, len(sizes)), sizes, strict=True))


STRATEGIES = ("data", "fsdp", "zero1", "zero2", "tensor", "ulysses", "ring", "gather_kv")
WEIGHTS = (4, 6, 2, 2, 6, 4, 3, 2)
OPTIONS = {"tensor": ("", ", sequence = true"), "fsdp": ("", "", "", ", gathered = kept")}


def draw_pipeline(r: Random, axis: str, partition: Partition) -> str:
    """Most often of as many layers as its stages ask for; of more samples, which microbatches cut."""
    stages = partition.axes[axis]
    microbatches = r.choice((2, 4, 4, 8))
    schedule, rounds = r.choice((("", 1), ("", 1), (', schedule = "gpipe"', 1), (', schedule = "interleaved"', 2)))
    options = f"microbatches = {microbatches}{schedule}" + (f", rounds = {rounds}" if rounds > 1 else "")
    if r.random() < 0.85:
        partition.dims["layers"] = str(stages * rounds * r.choice((1, 1, 2)))
        partition.dims["batch"] = r.choice(("32", "64"))
    if r.random() < 0.25:
        counts = [r.choice((1, 1, 2, 3)) for _ in range(stages * rounds)]
        partition.dims["layers"] = str(sum(counts) + (r.random() < 0.1))
        options += f", stages = {counts}"
    return f"pipeline({axis}, {options})"


def draw_experts(r: Random, partition: Partition) -> None:
    """Experts on an axis of the mesh, or on one of a view that factors some axes anew."""
    axes = partition.axes
    if r.random() < 0.3:
        partition.lines.append(f"expert({r.choice(list(axes))})")
        return
    group = [name for name in axes if r.random() < 0.7] or list(axes)
    size = math.prod(axes[name] for name in group)
    ep = r.choice([n for n in (2, 2, 4, 4, 8, 1) if size % n == 0])
    etp = r.choice([n for n in (1, 1, 2, 4) if size // ep % n == 0])
    factors = [("edp", size // ep // etp), ("epx", ep), ("etp", etp)]
    with_tensor = r.random() < 0.5
    if not with_tensor:
        factors = [("edp", size // ep), ("epx", ep)]
    entries = "\n".join(f"  {name} = {n}" for name, n in factors)
    partition.view = f"mesh experts = regroup({', '.join(group)}) {{\n{entries}\n}}"
    partition.lines.append("expert(epx, tensor = etp)" if with_tensor else "expert(epx)")


def draw_rule(r: Random, model: Drawn, axes: list[str], dims: list[str]) -> str:
    axis, dim = r.choice(axes), r.choice(dims)
    match r.randrange(12):
        case 0 | 1:
            return f"params {{ {dim} -> .., {axis} }}"
        case 2:
            return f"optimizer {{ {dim} -> .., {axis} }}"
        case 3:
            return f"grads, optimizer {{ {dim} -> .., {axis} }}"
        case 4 | 5:
            return f"vocab -> .., {axis}"
        case 6:
            return f"{dim} -> .., {axis} where free"
        case 7:
            return f"{dim} -> {r.choice(('none', axis, '.., ' + axis))}"
        case 8:
            place = r.choice(("attend", "softmax", "silu", "dropout", "Attention", "SwiGLU", "LayerNorm", "RMSNorm"))
            return f"within {place} {{ {dim} -> {r.choice(('none', axis, '.., ' + axis))} }}"
        case 9:
            weight = f"{model.name}.{r.choice(('table', 'head', 'norm.scale'))}"
            return f"params of {weight} {{ {dim} -> {r.choice(('none', axis))} }}"
        case 10:
            return f"kv_heads -> {axis} repeat"
        case _:
            heads = ", ".join(r.sample(axes, min(2, len(axes))))
            return f"within attend {{ heads, kv_heads -> {heads} }}"
