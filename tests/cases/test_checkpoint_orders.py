"""What lies on devices in another order than in files, or there several times, is canonical on disk and read anywhere.

Positions in zigzag order, stages of unlike length, repeated kv heads: each saved after some steps on one mesh, compared
bit for bit with what it was on another one, moments too, and trained on there.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from meshc import runtime
from meshc.runtime.canonical import layout
from meshc.runtime.checkpoint import Position, Store
from meshc.runtime.program import Program, State

GPT = """import "std/gpt.mesh"
mesh { cp = 1 }
dims { batch = 4, seq = 16, embed = 8, heads = 4, head_dim = 2, mlp = 16, vocab = 32 }
model Gpt(tokens: [batch, seq] of vocab) {
  param table: vocab -> embed
  param positions: [seq, embed]
  x = GptBlock(table[tokens] + positions) as block
  loss next_token(x @ table, tokens)
}
partition { ring(cp) }
"""
CONTIGUOUS = GPT.replace("ring(cp)", "ulysses(cp)")
STAGES = """import "std/llama.mesh"
mesh { pp = 1 }
dims { batch = 4, seq = 8, embed = 8, heads = 2, kv_heads = 2, head_dim = 4, mlp = 16, vocab = 36, layers = 8 }
model Llama(tokens: [batch, seq] of vocab) {
  param table: vocab -> embed
  x = table[tokens]
  repeat layers { x = LlamaBlock(x) as block }
  loss next_token(x @ table, tokens)
}
partition { CUT }
"""
UNEVEN = STAGES.replace(
    "CUT", 'pipeline(pp, microbatches = 2, schedule = "gpipe", stages = [3, 3, 2])\n  vocab -> .., pp'
)
OTHER_CUT = STAGES.replace("CUT", "pipeline(pp, microbatches = 4, stages = [3, 5])\n  vocab -> .., pp")
ROUNDS = STAGES.replace(
    "CUT", 'pipeline(pp, microbatches = 2, schedule = "interleaved", rounds = 2, stages = [1, 3, 2, 2])'
)
UNCUT = STAGES.replace("CUT", "vocab -> pp")
REPEATED = (
    STAGES.replace("layers = 8", "layers = 2")
    .replace("heads = 2, kv_heads = 2", "heads = 8, kv_heads = 2")
    .replace("mesh { pp = 1 }", "mesh { tp = 1 }")
    .replace("CUT", "heads -> tp\n  kv_heads -> tp repeat")
)
PART = 3
WHOLE = 6
FAST = "train.optimizer.lr=3.0e-3"


def trained(program: Program, out: Path, steps: int, resume: bool = False) -> list[float]:
    runtime.train(program, steps=steps, data=runtime.Synthetic(), out=out, resume=resume)
    return [json.loads(line)["loss"] for line in (out / "metrics.jsonl").read_text().splitlines()]


def restored(program: Program, out: Path) -> State:
    store = Store(out / "checkpoints", keep=3)
    state, _ = store.restore(layout(program, 0), PART)
    store.close()
    return state


def stored(program: Program, state: State) -> dict[str, np.ndarray]:
    return {name: np.asarray(array) for name, array in layout(program, 0).stored(state).items()}


LONG = pytest.mark.slow
CASES = [
    pytest.param(GPT, ("mesh.cp=4",), GPT, ("mesh.cp=2",), id="cp4-cp2"),
    pytest.param(GPT, ("mesh.cp=4",), GPT, (), id="cp4-cp1", marks=LONG),
    pytest.param(GPT, ("mesh.cp=4",), CONTIGUOUS, ("mesh.cp=4",), id="zigzag-contiguous", marks=LONG),
    pytest.param(CONTIGUOUS, ("mesh.cp=2",), GPT, ("mesh.cp=4",), id="contiguous-zigzag", marks=LONG),
    pytest.param(UNEVEN, ("mesh.pp=3",), UNCUT, (), id="stages-one", marks=LONG),
    pytest.param(UNEVEN, ("mesh.pp=3",), OTHER_CUT, ("mesh.pp=2",), id="stages-other", marks=LONG),
    pytest.param(OTHER_CUT, ("mesh.pp=2",), ROUNDS, ("mesh.pp=2",), id="stages-rounds", marks=LONG),
    pytest.param(REPEATED, ("mesh.tp=8",), REPEATED, ("mesh.tp=2",), id="repeat-no-repeat", marks=LONG),
    pytest.param(REPEATED, ("mesh.tp=4",), REPEATED, ("mesh.tp=8",), id="repeat-more", marks=LONG),
]


@pytest.mark.parametrize(("first", "sets", "second", "other_sets"), CASES)
def test_a_run_goes_on_in_another_order(first, sets, second, other_sets, build, tmp_path: Path):
    saved, read = build(first, *sets, FAST), build(second, *other_sets, FAST)
    whole = trained(saved, tmp_path / "whole", WHOLE)
    assert trained(saved, tmp_path / "cut", PART) == whole[:PART]
    before, after = (stored(program, restored(program, tmp_path / "cut")) for program in (saved, read))
    assert before.keys() == after.keys() and any("mu" in name for name in before)
    for name, array in before.items():
        np.testing.assert_array_equal(after[name], array, name)
    np.testing.assert_allclose(trained(read, tmp_path / "cut", WHOLE, resume=True), whole, rtol=1e-5)


def on_disk(program: Program, out: Path) -> tuple[State, dict[str, np.ndarray]]:
    """A state as drawn, and its weights as files have them, read without any layout."""
    import orbax.checkpoint as ocp

    state, store = program.init(0), Store(out, keep=1)
    store.save(layout(program, 0), state, Position())
    store.finish()
    store.close()
    with ocp.StandardCheckpointer() as reader:
        read = reader.restore(out / "0" / "weights")
    return state, {path: np.asarray(array) for path, array in read.items()}


def test_files_have_positions_in_natural_order(build, tmp_path: Path):
    """16 positions in zigzag order on 4 devices: device i has chunks i and 7 - i of 2 positions each."""
    state, files = on_disk(build(GPT, "mesh.cp=4", FAST), tmp_path)
    held = sorted(state.weights["Gpt.positions"].addressable_shards, key=lambda shard: shard.index[0].start)
    natural = files["Gpt.positions"]
    for i, shard in enumerate(held):
        first, last = 2 * i, 2 * (7 - i)
        chunks = np.concatenate([natural[first : first + 2], natural[last : last + 2]])
        np.testing.assert_array_equal(np.asarray(shard.data), chunks)


def test_files_have_layers_in_order_and_no_room_that_a_stage_does_not_need(build, tmp_path: Path):
    """Stages of 3, 3 and 2 layers rest in 9 places, of which the last holds nothing."""
    state, files = on_disk(build(UNEVEN, "mesh.pp=3", FAST), tmp_path)
    held = np.asarray(state.weights["Llama.block.attention.wq"])
    assert (len(held), len(files["Llama.block.attention.wq"])) == (9, 8)
    np.testing.assert_array_equal(held[:8], files["Llama.block.attention.wq"])


def test_files_have_each_kv_head_once(build, tmp_path: Path):
    """2 kv heads on 8 devices: four hold the same one."""
    state, files = on_disk(build(REPEATED, "mesh.tp=8", FAST), tmp_path)
    wk = files["Llama.block.attention.wk"]
    assert wk.shape == (2, 8, 2, 4)
    shards = sorted(state.weights["Llama.block.attention.wk"].addressable_shards, key=lambda s: s.device.id)
    for number, shard in enumerate(shards):
        np.testing.assert_array_equal(np.asarray(shard.data), wk[:, :, number // 4 : number // 4 + 1])
