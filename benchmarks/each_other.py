"""Ways of partitioning against each other: one model, two generated programs, measured in one run on 8 devices."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.models import OPTIMIZER, write_spec
from benchmarks.rows import Row, ratio_row
from meshc.prove.process import environment

ROOT = Path(__file__).resolve().parents[1]
MIB, MB = 2**20, 1e6
DEVICES = 8

DENSE = {"layers": "{ x = LlamaBlock(x) as block }", "imports": ""}
ROUTED = {"layers": "{ x = MoeBlock(x, top_k = 2) as block }", "imports": 'import "std/moe.mesh"\n'}
CAPPED = {
    "layers": "{ x = CappedBlock(x) as block }",
    "imports": """
layer CappedMoe(x: [batch, seq, embed]) {
  param router: embed -> experts
  param gate, up: [experts] embed -> mlp
  param down: [experts] mlp -> embed
  routed = route(x, by = softmax(x @ router, over = experts), top_k = 2, capacity = 1.25)
  return combine((silu(routed @ gate) * (routed @ up)) @ down, routed)
}

layer CappedBlock(x: [batch, seq, embed]) {
  x = x + Attention(RMSNorm(x) as attention_norm) as attention
  return x + CappedMoe(RMSNorm(x) as mlp_norm) as moe
}
""",
}
LOOPED = {
    "layers": "{ x = DenselyMixedBlock(x) as block }",
    "imports": """
# Every expert works on every token, and all but the two best count for nothing.
layer DenselyMixed(x: [batch, seq, embed]) {
  param router: embed -> experts
  param gate, up: embed -> experts, mlp
  param down: experts, mlp -> embed
  share = softmax(x @ router, over = experts)
  return (silu(x @ gate) * (x @ up) * share) @ down
}

layer DenselyMixedBlock(x: [batch, seq, embed]) {
  x = x + Attention(RMSNorm(x) as attention_norm) as attention
  return x + DenselyMixed(RMSNorm(x) as mlp_norm) as mlp
}
""",
}
SIZES = {
    "batch": 8, "seq": 512, "embed": 128, "heads": 8, "kv_heads": 8, "head_dim": 16, "mlp": 256, "vocab": 512,
    "layers": 8,
}  # fmt: skip


@dataclass(frozen=True)
class Way:
    """One program: its mesh and partition as text, what differs from SIZES, its layers."""

    name: str
    mesh: str
    partition: str
    sizes: dict[str, int] = field(default_factory=dict)
    model: dict[str, str] = field(default_factory=lambda: DENSE)
    remat: str = "attention"

    @property
    def spec(self) -> str:
        dims = ", ".join(f"{name} = {size}" for name, size in (SIZES | self.sizes).items())
        return SPEC.format(mesh=self.mesh, dims=dims, partition=self.partition.replace("; ", "\n  "), **self.model)


SPEC = """import "std/llama.mesh"
{imports}
mesh {{
  {mesh}
}}

dims {{
  {dims}
}}

model Model(tokens: [batch, seq] of vocab) {{
  param table: vocab -> embed
  x = table[tokens]
  repeat layers {layers}
  param head: embed -> vocab
  loss next_token(RMSNorm(x) as norm @ head, tokens)
}}

partition {{
  {partition}
}}
"""

LONG = {"batch": 2, "seq": 2048}
RING = Way("ring", "cp = 8", "ring(cp)", LONG)
GATHERED = Way("all-gather", "cp = 8", "gather_kv(cp)", LONG)
ULYSSES = Way("Ulysses", "sp = 8", "ulysses(sp)", LONG)
MIXTURE = {"experts": 8, "layers": 2}
EXPERTS = Way("routed", "dp = 8", "data(dp); expert(dp)", MIXTURE, ROUTED)
BOUNDED = Way("routed with capacity", "dp = 8", "data(dp); expert(dp)", MIXTURE, CAPPED)
LOOP = Way("loop over experts", "dp = 8", "data(dp)", MIXTURE, LOOPED)


def pipelined(schedule: str, microbatches: int) -> Way:
    name = f"{schedule}, {microbatches} microbatches"
    partition = f'pipeline(pp, microbatches = {microbatches}, schedule = "{schedule}"); data(dp)'
    sizes = {"batch": 4 * microbatches, "seq": 128}
    return Way(name, "pp = 4, dp = 2", partition, sizes)


def rows(directory: Path) -> Iterator[Row]:
    yield from _sequences(directory)
    yield from _pipelines(directory)
    yield from _experts(directory)


def _sequences(directory: Path) -> Iterator[Row]:
    """A ring sends what a gather does, forward and again backward, and the gradients back as a scatter does; it never
    holds more than its own keys and its neighbour's.
    """
    found = _figures(directory, [RING, GATHERED, ULYSSES])
    ring, gathered, ulysses = found
    section = "ring attention against all-gather, 8 devices, 2,048 tokens"
    yield _ratio(section, "wire bytes", "wire_bytes", ring, gathered, 1.0)
    yield _ratio(section, "memory besides arguments", "temp_bytes", ring, gathered, 1.0)
    section = "Ulysses against ring attention"
    yield _ratio(section, "wire bytes", "wire_bytes", ulysses, ring, 1.0)
    yield _ratio(section, "memory besides arguments", "temp_bytes", ulysses, ring, None)


def _pipelines(directory: Path) -> Iterator[Row]:
    """Four stages. What a stage holds grows with the microbatches in gpipe, and in 1f1b only up to the stages'."""
    counts = (4, 8, 16, 32)
    ways = [pipelined(schedule, m) for schedule in ("1f1b", "gpipe") for m in counts]
    found = _figures(directory, ways)
    held = {way.name: figures for way, figures in zip(ways, found, strict=True)}
    section = "1f1b against gpipe, 4 stages, rows a microbatch as they are"
    for m in counts:
        ours, theirs = (held[f"{schedule}, {m} microbatches"] for schedule in ("1f1b", "gpipe"))
        yield _ratio(section, f"memory besides arguments, {m} microbatches", "temp_bytes", ours, theirs, 1.05)
    growth = {s: held[f"{s}, 32 microbatches"]["temp_bytes"] - held[f"{s}, 8 microbatches"]["temp_bytes"]
              for s in ("1f1b", "gpipe")}  # fmt: skip
    note = f"{growth['1f1b'] / MIB:.2f} against {growth['gpipe'] / MIB:.2f} MiB"
    yield Row(section, "growth from 8 to 32 microbatches", growth["1f1b"] / growth["gpipe"], 0.1, note=note)


def _experts(directory: Path) -> Iterator[Row]:
    """Without a capacity a device has room for all tokens of all devices, and XLA:CPU multiplies empty rows as well: no
    less than the loop does. With one it multiplies what it has room for.
    """
    free, capped, loop = _figures(directory, [EXPERTS, BOUNDED, LOOP], steps=True)
    section = "2 of 8 experts on 8 devices against a dense loop over all"
    yield _ratio(section, "memory of weights and their moments", "argument_bytes", free, loop, 0.5)
    for name, ours, bound in (("dropless", free, 1.05), ("capacity 1.25", capped, 0.6)):
        yield Row(section, f"flops of products, {name}", ours["flops"] / loop["flops"], bound)
        yield ratio_row(section, f"step time, {name}", ours["seconds"], loop["seconds"], None)


def _ratio(section: str, name: str, key: str, ours: dict[str, Any], theirs: dict[str, Any], bound: float | None) -> Row:
    scale, unit = (MB, "MB") if key == "wire_bytes" else (MIB, "MiB")
    note = f"{ours[key] / scale:.4g} against {theirs[key] / scale:.4g} {unit}"
    return Row(section, name, ours[key] / theirs[key], bound, note=note)


def _figures(directory: Path, ways: Sequence[Way], steps: bool = False) -> list[dict[str, Any]]:
    """What XLA says of each program, measured in one process, and the seconds of interleaved steps."""
    paths = [
        write_spec(way.spec, directory / f"each_other_{way.name}".replace(" ", "_").replace(",", ""),
                   [f"train.optimizer={OPTIMIZER}", f"train.remat={way.remat}", "data.source=synthetic"])
        for way in ways
    ]  # fmt: skip
    command = [sys.executable, "-m", "benchmarks.child", "alone-steps" if steps else "alone", *map(str, paths)]
    done = subprocess.run(command, cwd=ROOT, env=environment(DEVICES, False), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[-4000:])
    return json.loads(done.stdout.splitlines()[-1])
