"""A small mixture of experts with everything that routing has, for tests of its programs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tests.codegen.programs import generated, running

MODEL = """import "std/llama.mesh"

mesh {{ {mesh} }}
{views}
dims {{
  batch = 8, seq = 16
  embed = 8, mlp = 16
  vocab = 32, layers = 2, experts = 8
}}

layer Experts(x: [batch, seq, embed]) {{
  param router: embed -> experts
  param gate, up: [experts] embed -> mlp
  param down: [experts] mlp -> embed
  param gate_bias: [experts, mlp] = normal(0.5)
  param down_bias: [experts, embed] = normal(0.5)
  param slope: [mlp] = ones
  state bias: [experts] = normal(0.1)
  scores = {scores}
  routed = route(x, by = scores, bias = bias, {options})
  bias := bias + 0.01 * sign(1 / experts - load(routed))
  h = silu(routed @ gate + gate_bias) * (routed @ up) * slope
  h = h @ down{down_bias}
  loss 0.1 * load_balance(routed)
  loss 0.01 * mean(square(logsumexp(x @ router, over = experts)))
  return combine(h, routed) + SwiGLU(x) as shared
}}

model Mixture(tokens: [batch, seq] of vocab) {{
  param table: vocab -> embed
  x = table[tokens]
  repeat layers {{ x = x + Experts(RMSNorm(x) as norm) as experts }}
  loss next_token(x @ table, tokens)
}}

partition {{
  {partition}
}}
"""
SOFTMAX = "softmax(x @ router, over = experts)"
SIGMOID = "sigmoid(x @ router)"

Mesh = dict[str, int]


def text(mesh: Mesh, partition: str, view: tuple[str, Mesh] | None = None, **parts: str) -> str:
    """`view` is what is regrouped, and into what."""
    views = ""
    if view:
        views = f"mesh experts = regroup({view[0]}) {{ {_axes(view[1])} }}"
    parts = {"scores": SOFTMAX, "options": "top_k = 2", "down_bias": " + down_bias", **parts}
    if "down_bias" not in parts["down_bias"]:
        parts["down_bias"] = ""
    spec = MODEL.format(mesh=_axes(mesh), views=views, partition=partition.replace("; ", "\n  "), **parts)
    return spec if parts["down_bias"] else spec.replace("  param down_bias: [experts, embed] = normal(0.5)\n", "")


def _axes(axes: Mesh) -> str:
    return ", ".join(f"{name} = {size}" for name, size in axes.items())


def pair(directory: Path, spec: str, *sets: str) -> tuple[Any, Any]:
    """The program of a spec, and the same with every axis of size 1."""
    sets = (*sets, "train.precision={params: float64, compute: float64}")
    head, dims, rest = spec.partition("dims {")
    one = re.sub(r"= \d+", "= 1", head) + dims + rest
    return running(generated(directory / "mesh", spec, *sets)), running(generated(directory / "one", one, *sets))
