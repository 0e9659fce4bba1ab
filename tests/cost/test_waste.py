"""What warnings of waste promise and count, against the programs that they speak of."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from meshc.driver import check, compile_program
from meshc.job.target import Request
from meshc.semantics.collectives import sent

LLAMA = """import "std/llama.mesh"
mesh {{ {mesh} }}
dims {{
  batch = {batch}, seq = 2048, embed = 2048, heads = 16, kv_heads = 16, head_dim = 128, mlp = 8192, vocab = 32000
  layers = 16
}}
model Llama(tokens: [batch, seq] of vocab) {{
  param table: vocab -> embed
  x = table[tokens]
  repeat layers {{ x = LlamaBlock(x) as block }}
  param head: embed -> vocab
  loss next_token(RMSNorm(x) as norm @ head, tokens)
}}
partition {{
  {partition}
}}
"""


def written(path: Path, mesh: str, partition: str, batch: int = 64) -> Request:
    path.write_text(LLAMA.format(mesh=mesh, partition=partition, batch=batch))
    return Request(str(path), "h100-8")


def program(request: Request):
    compiled, problems = compile_program(request, emit=False)
    assert compiled is not None, problems
    return compiled


@pytest.mark.parametrize(
    ("mesh", "partition", "code"),
    [("dp = 8", "data(dp)", "W0322"), ("dp = 4, tp = 2", "data(dp); tensor(tp)", "W0323")],
)
def test_state_that_is_split_sends_no_more(tmp_path: Path, mesh: str, partition: str, code: str):
    """The rule of the help line, written into the spec, as it says: less state, the same bytes."""
    path = tmp_path / "spec.mesh"
    before = written(path, mesh, partition.replace("; ", "\n  "))
    [said] = [d for d in check(before).diagnostics if d.code == code]
    was = program(before)
    rule = re.search(r"optimizer \{ .* \}", said.helps[-1])
    assert rule
    now = program(written(path, mesh, f"{partition.replace('; ', chr(10) + '  ')}\n  {rule[0]}"))
    assert sum(sent(now.collectives).values()) <= sum(sent(was.collectives).values())
    shards = 8 if code == "W0322" else 4
    assert now.report.memory.optimizer == pytest.approx(was.report.memory.optimizer / shards, rel=0.01)


def test_state_at_rest_is_what_the_report_counts(tmp_path: Path):
    """E0401 adds up params, optimizer state and gradients as `meshc explain` does."""
    request = written(tmp_path / "spec.mesh", "dp = 8", "fsdp(dp)")
    held = program(request).report.memory
    whole = held.params + held.optimizer + held.gradients
    job = """spec: spec.mesh
slice: {{name: small-8, platform: gpu, chips: 8, chips_per_host: 8, hbm_bytes: {bytes}, hbm_bandwidth: 1.0e+12,
        matrix_rates: {{bfloat16: 1.0e+15}}, levels: [{{name: node, size: 8, bandwidth: 1.0e+13}}]}}
"""
    for room, fits in ((whole, True), (whole - 1, False)):
        (tmp_path / "job.yaml").write_text(job.format(bytes=room))
        codes = {d.code for d in check(Request(str(tmp_path / "job.yaml"))).diagnostics}
        assert ("E0401" in codes) == (not fits), codes


MLP = """mesh { fsdp = 8 }
dims { batch = %d, embed = 8192, mlp = 32768, layers = 4 }
model Mlp(x: [batch, embed]) {
  repeat layers {
    param up: embed -> mlp
    param down: mlp -> embed
    x = relu(x @ up) @ down
  }
  loss mean(square(x))
}
partition { fsdp(fsdp) }
"""
SLICE = """spec: spec.mesh
slice: {name: book-8, platform: gpu, chips: 8, chips_per_host: 8, hbm_bytes: 80000000000, hbm_bandwidth: 1.0e+12,
        matrix_rates: {bfloat16: 1.0e+15, float32: 5.0e+14}, levels: [{name: node, size: 8, bandwidth: 1.0e+12}]}
train: {remat: none}
"""


def test_the_condition_of_the_scaling_book(tmp_path: Path):
    """FSDP is bound by its link below C / W tokens a device, of bfloat16.

    Of float32 a weight is gathered in forward and backward and its gradient scattered: 3 * 4 bytes * 7/8 an element
    over W. It multiplies three times, 3 * 2 operations a row over C. So B < 2 * 7/8 * C / W = 875 rows a device.
    """
    (tmp_path / "job.yaml").write_text(SLICE)
    bound = 2 * 7 / 8 * 5e14 / 1e12
    for rows, said in ((800, True), (960, False)):
        (tmp_path / "spec.mesh").write_text(MLP % (rows * 8))
        found = [d for d in check(Request(str(tmp_path / "job.yaml"))).diagnostics if d.code == "W0330"]
        assert bool(found) == said
        if found:
            told = re.search(r"([\d,]+) rows a device would take as long", found[0].helps[0])
            assert told and float(told[1].replace(",", "")) == pytest.approx(bound, abs=1)
