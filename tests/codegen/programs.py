"""Specs through the compiler, for tests of what is generated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from meshc.driver import compile_program
from meshc.job.target import Request

SMALL = """batch = 8, seq = 8
  embed = 16, heads = 4, kv_heads = 2, head_dim = 4, mlp = 24
  vocab = 32, layers = 2
"""
LLAMA = """import "std/llama.mesh"

mesh {{ {mesh} }}

dims {{
  {dims}
}}

model Llama(tokens: [batch, seq] of vocab) {{
  param table: vocab -> embed
  x = table[tokens]
  repeat layers {{ x = LlamaBlock(x{block}) as block }}
  param head: embed -> vocab
  logits = RMSNorm(x) as norm @ head
  loss next_token(logits, tokens)
}}

partition {{
  {partition}
}}
"""
FEATURES = """import "std/llama.mesh"

mesh {{ {mesh} }}

dims {{
  {dims}
  lambda = 2
}}

primitive twice(x: [batch, seq, embed]) -> [batch, seq, embed] = "doubling:double" {{ whole embed }}

layer Mix(x: [batch, seq, embed]) {{
  param turn: embed -> embed'
  param eval: [embed] = ones
  state seen: [embed] = zeros
  y = x @ turn
  seen := 0.9 * seen + 0.1 * mean(mean(square(y), over = batch), over = seq)
  metric size = square(y)
  loss 0.01 * mean(square(y), over = embed)
  return twice(y * eval + seen * 0.1)
}}

model Llama(tokens: [batch, seq] of vocab) {{
  param table: vocab -> embed
  x = table[tokens]
  repeat lambda {{
    x = Mix(x) as class
    x = x + Attention(RMSNorm(x))
  }}
  x = Mix(x) as mix
  param head: embed -> vocab
  loss next_token(x @ head, tokens)
}}

partition {{
  {partition}
}}
"""
"""Everything at once: state, a metric and a loss inside a repeat, a primitive, names that Python does not take."""


def spec(mesh: Mapping[str, int], partition: str, text: str = LLAMA, block: str = "", **dims: str) -> str:
    """A small decoder; `dims` replace or add sizes."""
    sizes = dict(re.findall(r"(\w+) = (\w+)", SMALL)) | dims
    axes = ", ".join(f"{axis} = {size}" for axis, size in mesh.items())
    listed = "\n  ".join(f"{name} = {size}" for name, size in sizes.items())
    return text.format(mesh=axes, dims=listed, partition=partition.replace("; ", "\n  "), block=block)


def generated(directory: Path, text: str, *sets: str, job: str = "") -> Path:
    """Writes a spec and its program; `job` is the body of a job file. The path of `train.py`."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "small.mesh"
    path.write_text(text, encoding="utf-8")
    if job:
        path = directory / "job.yaml"
        path.write_text(f"spec: small.mesh\n{job}\n", encoding="utf-8")
    compiled, diagnostics = compile_program(Request(str(path), None, sets))
    assert compiled is not None, [f"{d.code} {d.message}" for d in diagnostics]
    for name in ("train.py", "ruff.toml"):
        (directory / name).write_text(compiled.files[name], encoding="utf-8")
    (directory / "doubling.py").write_text("def double(x):\n    return 2 * x\n", encoding="utf-8")
    return directory / "train.py"


def running(path: Path) -> Any:
    """The program of a `train.py`, on the first devices."""
    from meshc.prove import child

    return child.build(str(path))
