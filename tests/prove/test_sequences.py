"""Every proof of programs whose sequence is split through attention, with all that attention's masks are made of."""

from __future__ import annotations

from pathlib import Path

import pytest

from meshc.prove import proofs
from tests.prove.test_generated import builder

SPEC = """import "std/llama.mesh"

mesh {{ {mesh} }}

dims {{
  batch = 8, seq = 32
  embed = 32, heads = 8, kv_heads = 4, head_dim = 4, mlp = 64
  vocab = 64, layers = 2
}}

layer Packed(x: [batch, seq, embed], of: [batch, seq] of seq, window = none) {{
  param wq: embed -> heads, head_dim
  param wk, wv: embed -> kv_heads, head_dim
  param wo: heads, head_dim -> embed
  param sinks: [heads] = normal(0.5)
  q = rope(x @ wq)
  k = rope(x @ wk)
  return attend(q, k, x @ wv, window = window, cap = 5.0, scale = 0.4, sinks = sinks, segments = of) @ wo
}}

layer Block(x: [batch, seq, embed], of: [batch, seq] of seq) {{
  x = x + dropout(Packed(RMSNorm(x) as near_norm, of, window = 10) as near, 0.1)
  x = x + dropout(Packed(RMSNorm(x) as far_norm, of) as far, 0.1)
  return x + SwiGLU(RMSNorm(x) as mlp_norm) as mlp
}}

model Tiny(tokens: [batch, seq] of vocab, of: [batch, seq] of seq) {{
  param table: vocab -> embed
  param where: [seq, embed] = normal(0.1)
  x = table[tokens] + where
  repeat layers {{ x = Block(x, of) as block }}
  loss next_token(RMSNorm(x) as norm @ table, tokens, segments = of)
}}

partition {{
  {partition}
}}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mesh", "partition", "flags"),
    [
        ("dp = 2, cp = 2, tp = 2", "fsdp(dp); ring(cp); tensor(tp)", ("train.microsteps=2",)),
        ("dp = 2, cp = 4", "fsdp(dp); gather_kv(cp)", ("train.remat=full",)),
        ("dp = 2, a = 2, b = 2", "data(dp); ring(a); gather_kv(b)", ("train.remat=dots", "train.microsteps=2")),
        ("cp = 2, sp = 4", "ring(cp); ulysses(sp)", ("train.remat=full",)),
        ("cp = 2, tp = 4", "ring(cp); heads, mlp, vocab -> tp", ()),  # kv heads are whole
        ("sp = 8", "seq -> .., sp where free; within attend { heads -> sp; kv_heads -> sp repeat }", ()),
        ("a = 2, b = 3", "ring(a); ring(b)", ("seq=36", "heads=12", "train.microsteps=4")),
    ],
)
def test_every_proof_holds(tmp_path: Path, mesh: str, partition: str, flags: tuple[str, ...]):
    path = tmp_path / "tiny.mesh"
    path.write_text(SPEC.format(mesh=mesh, partition=partition.replace("; ", "\n  ")), encoding="utf-8")
    found = list(proofs.run("tiny.mesh", builder(path, str, flags)))
    assert {p.name for p in found} == set(proofs.ALL)
    assert [(p.name, p.problem, p.failures) for p in found if not p.holds] == []
