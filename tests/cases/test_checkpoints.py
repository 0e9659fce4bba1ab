"""A checkpoint knows no mesh: it is read on another one, and a run goes on with another accumulation."""

from __future__ import annotations

import json
from pathlib import Path

import jax
import numpy as np
import pytest

from meshc import runtime
from meshc.driver import check
from meshc.job.target import Request
from meshc.runtime.canonical import layout
from meshc.runtime.checkpoint import Position, Store
from meshc.runtime.program import Program

SPEC = """import "std/llama.mesh"
mesh { dp = 1, tp = 1 }
dims { batch = 16, seq = 8, embed = 8, heads = 8, kv_heads = 8, head_dim = 2, mlp = 16, vocab = pad(63, 8), layers = 2 }
model Llama(tokens: [batch, seq] of vocab) {
  param table: vocab -> embed
  x = table[tokens]
  repeat layers { x = LlamaBlock(x) as block }
  loss next_token(x @ table, tokens)
}
partition {
  data(dp)
  tensor(tp)
}
"""
BIGRAM = """mesh { dp = 4 }
dims { batch = 16, seq = 8, embed = 8, vocab = 32 }
model Tiny(tokens: [batch, seq] of vocab) {
  param table: vocab -> embed
  param head: embed -> vocab
  loss next_token(table[tokens] @ head, tokens)
}
partition { fsdp(dp) }
"""


@pytest.mark.parametrize("tp", [2, 1])
def test_what_8_devices_saved_is_read_on_fewer(tp, build, tmp_path: Path):
    """google/orbax#648: restoring failed, for the mesh that had saved was built again. Bit for bit, moments too."""
    saved, read = build(SPEC, "mesh.tp=8"), build(SPEC, f"mesh.tp={tp}")
    before = saved.init(3)
    store = Store(tmp_path, keep=1)
    store.save(layout(saved, 3), before, Position(step=0, seed=3))
    store.finish()
    after, position = store.restore(layout(read, 3), 0)
    store.close()
    assert position.seed == 3
    assert checked(tmp_path, f"mesh.tp={tp}") == []
    assert checked(tmp_path, "mesh.tp=3")[:1] == ["E0301"]  # 8 heads on 3 devices
    assert checked(tmp_path, "embed=16") == ["E0530"]
    for one, other in zip(jax.tree.leaves(before), jax.tree.leaves(after), strict=True):
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other))
    heads = {s.data.shape for s in after.weights["Llama.block.attention.wq"].addressable_shards}
    assert heads == {(2, 8, 8 // tp, 2)}


def checked(directory: Path, *sets: str) -> list[str]:
    """What the compiler says of beginning with the checkpoints in a directory."""
    (directory / "spec.mesh").write_text(SPEC)
    flags = (f"checkpoint.init_from={directory}", *sets)
    return [d.code for d in check(Request(str(directory / "spec.mesh"), sets=flags)).diagnostics]


def losses(program: Program, out: Path, steps: int, resume: bool = False) -> list[float]:
    runtime.train(program, steps=steps, data=runtime.Synthetic(), out=out, resume=resume)
    return [json.loads(line)["loss"] for line in (out / "metrics.jsonl").read_text().splitlines()]


def test_twice_the_devices_and_half_the_accumulation(build, tmp_path: Path):
    """NVIDIA/Megatron-LM#2829, on half as many devices: 16 rows a step, saved at step 50, so 800 samples are read."""
    narrow = build(BIGRAM, "train.microsteps=2", "train.steps=60")
    wide = build(BIGRAM, "mesh.dp=8", "train.steps=60")
    whole = losses(narrow, tmp_path / "whole", 53)
    losses(narrow, tmp_path / "cut", 50)
    meta = json.loads((tmp_path / "cut" / "checkpoints" / "50" / "meta" / "metadata").read_text())
    assert (meta["step"], meta["samples"]) == (50, 800)
    resumed = losses(wide, tmp_path / "cut", 53, resume=True)
    assert len(resumed) == len(whole) == 53
    np.testing.assert_allclose(resumed[50:], whole[50:], rtol=1e-5)
    assert len({round(loss, 4) for loss in whole[50:]}) == 3  # each batch its own loss: another sample would show
    meta = json.loads((tmp_path / "cut" / "checkpoints" / "53" / "meta" / "metadata").read_text())
    assert meta["samples"] == 848


@pytest.mark.parametrize("setting", ["dir", "init_from"])
def test_a_bucket_is_no_directory_called_gs(build, setting: str, tmp_path: Path):
    """Several hosts may share one, and programs do not write there yet: said, and nothing is left behind."""
    bucket = "gs://bucket/run"
    kept = runtime.Checkpoint(dir=bucket) if setting == "dir" else runtime.Checkpoint()
    begun = {"init_from": bucket} if setting == "init_from" else {}
    with pytest.raises(runtime.UserError, match="`gs://bucket/run` is no path of this machine"):
        runtime.train(build(BIGRAM), steps=1, data=runtime.Synthetic(), out=tmp_path, checkpoint=kept, **begun)
    assert not list(tmp_path.iterdir())
