"""Pipelines whose layers do all that layers may do train what one device trains; what is derived is what XLA compiled."""

from __future__ import annotations

from pathlib import Path

import pytest

from meshc.prove import proofs
from tests.prove.test_generated import builder

MESH = """import "std/llama.mesh"

mesh { pp = 2, dp = 2, tp = 2 }

dims {
  batch = 16, seq = 8
  embed = 16, heads = 4, kv_heads = 2, head_dim = 4, mlp = 32
  vocab = 64, first = 1, layers = 5
}
"""

EVERYTHING = (
    MESH
    + """
layer Noisy(x: [batch, seq, embed]) {
  state seen: [embed] = zeros
  h = RMSNorm(x)
  seen := 0.9 * seen + 0.1 * mean(mean(h, over = seq), over = batch)
  loss 0.01 * mean(square(h), over = embed)
  metric size = square(h)
  return x + dropout(SwiGLU(h), rate = 0.1)
}

model Llama(tokens: [batch, seq] of vocab) {
  param table: vocab -> embed
  param gain: [embed] = ones
  param gains: [layers] = ones
  state usual: [embed] = ones
  x = table[tokens] * gain
  usual := 0.9 * usual + mean(mean(x, over = seq), over = batch)
  bias = 0.1 * x
  repeat first { x = Noisy(x) as dense }
  repeat layers {
    x = LlamaBlock(x) as block
    x = Noisy(x) as noisy
    x = x + 0.01 * bias * gain * usual * mean(gains)
  }
  loss next_token(RMSNorm(x + bias) @ table, tokens)
}

partition {
  pipeline(pp, microbatches = 2, stages = [4, 2])
  fsdp(dp)
  tensor(tp)
  vocab -> .., pp
}
"""
)
"""Two repeats in a row, padded stacks, state, losses and metrics in layers, dropout, weights and a state that all layers
share, one of them as long as their stacks, and a tensor that goes through all stages."""

PLAIN = (
    MESH.replace("first = 1, layers = 5", "layers = 4").replace("batch = 16", "batch = 24")
    + """
model Llama(tokens: [batch, seq] of vocab) {
  param table: vocab -> embed
  x = table[tokens]
  repeat layers { x = LlamaBlock(x) as block }
  loss next_token(RMSNorm(x) @ table, tokens)
}

partition {
  pipeline(pp, microbatches = 3, OPTIONS)
  fsdp(dp)
  tensor(tp)
  vocab -> .., pp
}
"""
)


def ringed(text: str) -> str:
    """With a ring in place of tensor parallelism: collective-permutes in stages."""
    return text.replace("tp = 2", "cp = 2").replace("tensor(tp)", "ring(cp)")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "flags"),
    [
        (EVERYTHING, ()),
        (EVERYTHING, ("train.microsteps=2",)),
        (PLAIN.replace("OPTIONS", 'schedule = "interleaved", rounds = 2'), ()),  # one turn a stage
        (PLAIN.replace("OPTIONS", 'schedule = "gpipe"'), ("train.remat=full",)),
        (PLAIN.replace("3, OPTIONS", '1, schedule = "gpipe"'), ("train.remat=dots",)),
        (PLAIN.replace("OPTIONS", "stages = [3, 1]").replace("fsdp(dp)", "fsdp(dp, gathered = kept)"), ()),
        (ringed(EVERYTHING), ("train.microsteps=2",)),
        (ringed(PLAIN).replace("OPTIONS", 'schedule = "interleaved", rounds = 2'), ("train.remat=full",)),
        (ringed(PLAIN).replace("OPTIONS", 'schedule = "gpipe", stages = [3, 1]'), ()),
    ],
)
def test_every_proof_holds(tmp_path: Path, text: str, flags: tuple[str, ...]):
    path = tmp_path / "pipeline.mesh"
    path.write_text(text, encoding="utf-8")
    found = list(proofs.run("pipeline.mesh", builder(path, str, flags)))
    assert {p.name for p in found} == set(proofs.ALL)
    assert [(p.name, p.problem, p.failures) for p in found if not p.holds] == []
