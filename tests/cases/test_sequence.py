"""A sequence split through attention: masks, targets and losses are by position, wherever the tokens lie."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from meshc.runtime import ops, put

SPEC = """import "std/llama.mesh"
mesh {{ dp = 1, cp = 1 }}
dims {{ batch = 8, seq = 16, embed = 8, heads = 4, kv_heads = 2, head_dim = 2, vocab = 16 }}
layer Chunked(x: [batch, seq, embed]) {{
  param wq: embed -> heads, head_dim
  param wk, wv: embed -> kv_heads, head_dim
  param wo: heads, head_dim -> embed
  return attend(rope(x @ wq), rope(x @ wk), x @ wv, chunk = 4) @ wo
}}
model Tiny(tokens: [batch, seq] of vocab) {{
  param table: vocab -> embed
  x = table[tokens]
  x = x + Attention(x, window = 3) as near
  x = x + Chunked(x) as chunked
  x = x + Attention(x) as far
  loss next_token(x @ table, tokens)
}}
partition {{
  fsdp(dp)
  {exchange}(cp)
}}
"""
RING, GATHER = (SPEC.format(exchange=exchange) for exchange in ("ring", "gather_kv"))
LAYERS = ("near", "chunked", "far")


def weights() -> dict[str, np.ndarray]:
    source = np.random.default_rng(0)
    shapes = {"wq": (8, 4, 2), "wk": (8, 2, 2), "wv": (8, 2, 2), "wo": (4, 2, 8)}
    drawn = {f"Tiny.{layer}.{name}": 0.3 * source.standard_normal(s) for layer in LAYERS for name, s in shapes.items()}
    return {"Tiny.table": 0.3 * source.standard_normal((16, 8)), **drawn}


@pytest.mark.parametrize(
    ("spec", "dp", "cp"),
    [
        pytest.param(RING, 2, 4, id="ring-2-4"),
        pytest.param(RING, 1, 8, id="ring-1-8", marks=pytest.mark.slow),
        pytest.param(RING, 4, 2, id="ring-4-2", marks=pytest.mark.slow),
        pytest.param(GATHER, 2, 4, id="gather-2-4", marks=pytest.mark.slow),
        pytest.param(GATHER, 1, 8, id="gather-1-8", marks=pytest.mark.slow),
    ],
)
def test_loss_and_gradients_are_those_of_one_device(spec, dp, cp, run):
    """ByteDance-Seed/VeOmni#338 (an eighth of the loss), huggingface/accelerate#4177 (a window lost under context
    parallel) and AI-Hypercomputer/maxtext#4364 (a chunk's mask built from where tokens lie): ratios of 1.0."""
    tokens = np.random.default_rng(5).integers(0, 16, (8, 16))
    loss, grads = run(spec, weights(), tokens, f"mesh.dp={dp}", f"mesh.cp={cp}")
    loss_one, grads_one = run(spec, weights(), tokens)
    assert loss / loss_one == pytest.approx(1, abs=1e-5)
    for path, grad in grads.items():
        assert np.linalg.norm(grad) / np.linalg.norm(grads_one[path]) == pytest.approx(1, abs=1e-4), path
        assert np.linalg.norm(grad - grads_one[path]) < 1e-4 * np.linalg.norm(grad), path


def test_targets_are_shifted_before_the_sequence_is_cut_and_put_in_order(build):
    """huggingface/transformers#36607, in zigzag order: 7 targets of 8 tokens, each the token's own."""
    program = build(RING, "mesh.cp=2", "batch=1", "seq=8")
    batch = put(program, {"tokens": np.arange(1, 9)[None]})
    held = {name: [s.data.tolist()[0] for s in batch[name].addressable_shards] for name in batch}
    assert held["tokens"] == [[1, 2, 7, 8], [3, 4, 5, 6]]  # the rank order of AI-Hypercomputer/maxtext#4364
    assert held["tokens_next"] == [[2, 3, 8, -1], [4, 5, 6, 7]]
    assert float(jax.jit(ops.count)(batch["tokens_next"])) == 7


@pytest.mark.parametrize("masks", ["causal = true", "causal = false, window = 3"])
@pytest.mark.parametrize(
    "exchange", [pytest.param(RING, id="ring"), pytest.param(GATHER, id="gather", marks=pytest.mark.slow)]
)
def test_a_sequence_that_does_not_divide_is_padded(exchange, masks, build, run):
    """jzhang38/EasyContext#47: 2999 tokens on 4 devices; here 9, padded to 16, whose 7 are in no loss and no mask.

    The window is narrower than the padding: the last queries see no key at all.
    """
    spec = exchange.replace("chunk = 4", masks)
    padded = spec.replace("seq = 16", "seq = pad(9, 8)")
    tokens = np.random.default_rng(5).integers(0, 16, (8, 9))
    held = put(build(padded, "mesh.cp=4"), {"tokens": tokens})["tokens_next"]
    assert {s.data.shape for s in held.addressable_shards} == {(8, 4)}
    assert int((held >= 0).sum()) == 8 * 8
    loss, grads = run(padded, weights(), tokens, "mesh.cp=4")
    loss_one, grads_one = run(spec, weights(), tokens, "seq=9")
    assert loss / loss_one == pytest.approx(1, abs=1e-5)
    for path, grad in grads.items():
        assert np.linalg.norm(grad - grads_one[path]) < 1e-4 * np.linalg.norm(grad), path
