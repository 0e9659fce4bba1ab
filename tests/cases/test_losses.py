"""Losses, targets and what they are divided by, whatever the sharding."""

from __future__ import annotations

import re

import jax
import numpy as np
import pytest
from jax.sharding import NamedSharding

from meshc.runtime import ops, put
from meshc.runtime.program import State

BIGRAM = """mesh { dp = 1, sp = 1, tp = 1 }
dims { batch = 8, seq = 8, embed = 4, vocab = 16 }
model Tiny(tokens: [batch, seq] of vocab) {
  param table: vocab -> embed
  loss next_token(table[tokens] @ table, tokens)
}
partition {
  data(dp)
  seq -> sp
  vocab -> tp
}
"""
ATTENTION = """import "std/llama.mesh"
mesh { dp = 1, sp = 1 }
dims { batch = 8, seq = 16, embed = 8, heads = 8, kv_heads = 8, head_dim = 2, vocab = 16 }
model Tiny(tokens: [batch, seq] of vocab) {
  param table: vocab -> embed
  x = table[tokens]
  x = x + Attention(x) as attention
  loss next_token(x @ table, tokens)
}
partition {
  fsdp(dp)
  ulysses(sp)
}
"""


def bigram_loss(table: np.ndarray, tokens: np.ndarray) -> float:
    """Mean over the targets of all rows, in float64, with nothing of the product."""
    table = table.astype(np.float64)
    logits = table[tokens[:, :-1]] @ table.T
    picked = np.take_along_axis(logits, tokens[:, 1:, None], -1)[..., 0]
    return float(np.mean(np.log(np.exp(logits).sum(-1)) - picked))


def drawn(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize(("dp", "sp"), [(8, 1), (4, 2), (2, 4), (1, 8)])
def test_a_loss_of_one_a_token_is_one(dp, sp, run):
    """ByteDance-Seed/VeOmni#338: with the sequence over 8 devices the loss was an eighth.

    Every logit is zero, so every token's loss is ln 16; 100 positions a device where sp is 8.
    """
    tokens = np.arange(8 * 800).reshape(8, 800) % 16
    loss, _ = run(BIGRAM, {"Tiny.table": np.zeros((16, 4))}, tokens, f"mesh.dp={dp}", f"mesh.sp={sp}", "seq=800")
    assert loss / np.log(16) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(("dp", "sp"), [(8, 1), (4, 2), (2, 4), (1, 8)])
def test_loss_and_gradients_are_those_of_one_device(dp, sp, run):
    """The same report: the loss of attention over a split sequence."""
    weights = {
        "Tiny.table": drawn(16, 8),
        **{f"Tiny.attention.{name}": drawn(8, 8, 2, seed=i) for i, name in enumerate(("wq", "wk", "wv"), 1)},
        "Tiny.attention.wo": drawn(8, 2, 8, seed=4),
    }
    tokens = np.random.default_rng(5).integers(0, 16, (8, 16))
    loss, grads = run(ATTENTION, weights, tokens, f"mesh.dp={dp}", f"mesh.sp={sp}")
    loss_one, grads_one = run(ATTENTION, weights, tokens)
    assert loss / loss_one == pytest.approx(1, abs=1e-5)
    for path, grad in grads.items():
        assert np.linalg.norm(grad) / np.linalg.norm(grads_one[path]) == pytest.approx(1, abs=1e-4), path
        np.testing.assert_allclose(grad, grads_one[path], rtol=1e-3, atol=1e-5, err_msg=path)


def test_the_last_token_of_a_shard_keeps_its_target(build):
    """huggingface/transformers#36607: labels shifted after the cut lose one target a shard."""
    program = build(BIGRAM, "mesh.sp=2", "batch=1")
    targets = put(program, {"tokens": np.arange(1, 9)[None]})["tokens_next"]
    assert [s.data.tolist() for s in targets.addressable_shards] == [[[2, 3, 4, 5]], [[6, 7, 8, -1]]]
    assert float(jax.jit(ops.count)(targets)) == 7


def test_the_mean_is_over_seven_targets_of_eight_tokens(run):
    """The same report, through the program: 7 losses, each another one, divided by 7."""
    table, tokens = drawn(16, 4), np.arange(1, 9)[None]
    loss, _ = run(BIGRAM, {"Tiny.table": table}, tokens, "mesh.sp=2", "batch=1")
    assert loss == pytest.approx(bigram_loss(table, tokens), rel=1e-5)


@pytest.mark.parametrize("multiple", [2, 128])
def test_padding_of_a_vocabulary_is_no_word(multiple, run):
    """NVIDIA/Megatron-LM#1754: with zero logits the loss is ln 50257 = 10.824905; unmasked padding to 50,304 makes it 10.825840."""
    spec = BIGRAM.replace("vocab = 16", f"vocab = pad(50257, {multiple})")
    rows = 50257 + -50257 % multiple
    tokens = np.arange(8)[None] * 7000
    loss, grads = run(spec, {"Tiny.table": np.zeros((rows, 4))}, tokens, "mesh.tp=2", "batch=1")
    assert loss == pytest.approx(10.824905, abs=2e-6)
    table = np.concatenate([drawn(50257, 4), np.zeros((rows - 50257, 4))])
    loss, grads = run(spec, {"Tiny.table": table}, tokens, "mesh.tp=2", "batch=1")
    assert loss == pytest.approx(bigram_loss(table[:50257], tokens), rel=1e-5)
    assert rows in (50258, 50304)
    assert not grads["Tiny.table"][50257:].any()
    assert grads["Tiny.table"][:50257].any(axis=1).all()


@pytest.mark.parametrize(("axis", "held"), [("tp", 127), ("dp", 1016)])
def test_no_device_holds_the_whole_of_a_split_vocabulary(axis, held, build):
    """areal-project/AReaL#664: logits were gathered on every device before the loss. 1,016 words over 8 devices are 127."""
    program = build(BIGRAM, f"mesh.{axis}=8", "vocab=1016")
    at_rest = NamedSharding(program.mesh, program.placement["Tiny.table"])
    weights = {"Tiny.table": jax.ShapeDtypeStruct((1016, 4), np.float32, sharding=at_rest)}
    batch = {
        name: jax.ShapeDtypeStruct(one.shape, np.int32, sharding=program.sharding(one))
        for name, one in program.inputs.items()
    }
    text = program.grads.lower(State(np.int32(0), weights, {}, ()), batch).compile().as_text()
    sizes = {int(n) for shape in re.findall(r"\[([\d,]+)\]", text) for n in shape.split(",")}
    assert sizes & {127, 1016} == {held}
