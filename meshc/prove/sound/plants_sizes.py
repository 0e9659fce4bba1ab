"""Mistakes in sizes: none at all, a mesh that is not the slice, parts that do not come out even."""

from __future__ import annotations

import math
import re
from random import Random

from meshc.prove.sound.sketch import Planted, Sketch


def no_size(r: Random, s: Sketch) -> Planted | None:
    dim = r.choice(list(s.dims))
    if any(re.search(rf"\b{dim}\b", size) for size in s.dims.values()):
        return None
    s.dims[dim] = r.choice(("0", "7 / 2", "-4", "2.5", "4 - 4", f"{dim} + 1", "3 // 0", "pad(8, 0)"))
    return Planted("size", f"{dim} = {s.dims[dim]}")


def no_axis(r: Random, s: Sketch) -> Planted | None:
    axis = r.choice(list(s.axes))
    s.written[axis] = r.choice(("0", "2.5", "-2"))
    return Planted("size", f"an axis of the size {s.written[axis]}", s.written[axis] == "0")


def cycle(r: Random, s: Sketch) -> Planted | None:
    s.dims |= {"one_dim": "other_dim * 2", "other_dim": "one_dim // 2"}
    return Planted("size", "two sizes that depend on each other")


SIZES = (no_size, no_size, no_axis, cycle)

# ---------------------------------------------------------------- the mesh and the slice


def other_slice(r: Random, s: Sketch) -> Planted | None:
    if "*" in s.written.values():
        return None
    product = math.prod(s.axes.values())
    s.devices = r.choice([n for n in (product * 2, product + 1, product // 2, product - 1) if n not in (0, product)])
    return Planted("world", f"{product} devices on a slice of {s.devices}")


def stars(r: Random, s: Sketch) -> Planted | None:
    """Two, or one that no slice fills, or that what the slice leaves does not fill."""
    axis, *others = r.sample(list(s.axes), len(s.axes))
    s.written = {axis: "*"}
    if others and r.random() < 0.4:
        s.written[others[0]] = "*"
        return Planted("world", "two axes of the size `*`")
    rest = math.prod(s.axes[name] for name in others)
    if rest > 1 and r.random() < 0.6:
        s.devices = rest * r.randint(1, 3) + 1
        return Planted("world", f"`*` of {s.devices} devices beside {rest}")
    s.devices = None
    return Planted("world", "`*` without a slice")


WORLDS = (other_slice, stars)

# ---------------------------------------------------------------- what does not divide


def uneven(r: Random, s: Sketch) -> Planted | None:
    """A dim of `x` on one axis by a direct rule, one more than a multiple of it."""
    dims = ("batch", "embed", "seq") if s.has_sequence else ("batch",)
    dim = r.choice(dims)
    if not s.large or s.speaks_of(dim) or any(re.search(rf"\b{dim}\b", size) for size in s.dims.values()):
        return None
    axis = r.choice(s.large)
    s.lines.append(f"{dim} -> {axis}")
    s.dims[dim] = str(s.axes[axis] * r.choice((4, 6, 8)) + 1)
    return Planted("divide", f"{dim} = {s.dims[dim]} on `{axis}` = {s.axes[axis]}")


def near_miss(r: Random, s: Sketch) -> Planted | None:
    """Some dim a little smaller, wherever it lies."""
    dim = r.choice(
        [d for d in ("heads", "kv_heads", "mlp", "vocab", "experts", "seq", "batch", "embed") if d in s.dims]
    )
    if not s.dims[dim].isdecimal() or int(s.dims[dim]) < 3:
        return None
    s.dims[dim] = str(int(s.dims[dim]) - r.choice((1, 2)))
    return Planted("divide", f"{dim} = {s.dims[dim]}", False)


def microsteps(r: Random, s: Sketch) -> Planted | None:
    if not s.dims["batch"].isdecimal():
        return None
    steps = r.choice([n for n in (3, 5, 7) if int(s.dims["batch"]) % n] or [11])
    s.train("microsteps", steps)
    return Planted("divide", f"{steps} microsteps of {s.dims['batch']} rows")


def microbatches(r: Random, s: Sketch) -> Planted | None:
    at = next((i for i, line in enumerate(s.lines) if line.startswith("pipeline(")), None)
    if at is None or not s.dims["batch"].isdecimal():
        return None
    wrong = r.choice([n for n in (3, 5, 7) if int(s.dims["batch"]) % n] or [11])
    s.lines[at] = re.sub(r"microbatches = \d+", f"microbatches = {wrong}", s.lines[at])
    return Planted("divide", f"{wrong} microbatches of {s.dims['batch']} rows")


def stages(r: Random, s: Sketch) -> Planted | None:
    """Stages of other layers than there are, or of none."""
    at = next((i for i, line in enumerate(s.lines) if line.startswith("pipeline(")), None)
    if at is None or s.axes[s.stages or ""] == 1:
        return None
    counts = [1] * s.axes[s.stages or ""]
    counts[0] = r.choice((0, 9, 17))
    s.lines[at] = f"pipeline({s.stages}, microbatches = 2, stages = {counts})"
    return Planted("divide", f"stages of {counts} layers")


def zigzag(r: Random, s: Sketch) -> Planted | None:
    """A sequence that divides by its shards and not by twice as many."""
    rings = [m[1] for line in s.lines if (m := re.match(r"(?:ring|gather_kv)\((\w+)\)", line))]
    if not rings or s.axes.get(rings[0], 1) == 1 or s.speaks_of("seq"):
        return None
    s.dims["seq"] = str(s.axes[rings[0]] * r.choice((3, 5)))
    return Planted("divide", f"{s.dims['seq']} positions in zigzag order over {s.axes[rings[0]]}")


DIVISIONS = (uneven, uneven, near_miss, near_miss, near_miss, microsteps, microbatches, stages, zigzag, zigzag)
