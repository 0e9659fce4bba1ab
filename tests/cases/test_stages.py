"""Layers cut into stages: none is lost, and loss and gradients are those of one device."""

from __future__ import annotations

import math

import numpy as np
import pytest

from meshc.runtime import put
from meshc.runtime.canonical import layout
from meshc.runtime.order import canonical

SPEC = """import "std/llama.mesh"
mesh {{ pp = 1 }}
dims {{
  batch = 8, seq = 8, embed = 8, heads = 4, kv_heads = 2, head_dim = 2, mlp = 16, vocab = 60, layers = {layers}
}}
model Llama(tokens: [batch, seq] of vocab) {{
  param table: vocab -> embed
  x = table[tokens]
  repeat layers {{ x = LlamaBlock(x) as block }}
  loss next_token(x @ table, tokens)
}}
partition {{
  pipeline(pp, microbatches = {microbatches})
  vocab -> .., pp
}}
"""
UNEVEN = SPEC.format(layers=30, microbatches="8, stages = [8, 8, 7, 7]")
THREE = SPEC.format(layers=6, microbatches=4)


def test_no_layer_vanishes(build):
    """NVIDIA/Megatron-LM#1304: of 30 layers over 4 stages 28 were built. A stage of 7 has room for an eighth."""
    program = build(UNEVEN, "mesh.pp=4")
    wq = layout(program, 0).weights()["Llama.block.attention.wq"]
    assert (wq.shape[0], wq.real_shape[0]) == (32, 30)
    assert wq.sharding.shard_shape(wq.shape)[0] == 8
    assert parameters(program) == parameters(build(UNEVEN))


def parameters(program) -> int:
    return sum(math.prod(leaf.real_shape) for leaf in layout(program, 0).weights().values())


@pytest.mark.slow
@pytest.mark.parametrize(("spec", "stages"), [(UNEVEN, 4), (THREE, 3)])
def test_loss_and_gradients_are_those_of_one_device(build, spec: str, stages: int):
    """The same report; and pytorch/pytorch#126600: a batch of 8 in 3 stages, cut into 4 microbatches where 3 broke."""
    tokens = np.random.default_rng(0).integers(0, 60, (8, 8))
    loss, grads = losses(build(spec, f"mesh.pp={stages}"), tokens)
    loss_one, grads_one = losses(build(spec), tokens)
    assert loss / loss_one == pytest.approx(1, abs=1e-6)
    for path, grad in grads.items():
        assert grad.shape == grads_one[path].shape
        assert np.linalg.norm(grad) / np.linalg.norm(grads_one[path]) == pytest.approx(1, abs=1e-4), path
        assert np.linalg.norm(grad - grads_one[path]) < 1e-4 * np.linalg.norm(grad), path


def losses(program, tokens: np.ndarray) -> tuple[float, dict[str, np.ndarray]]:
    """Loss and gradients at first, layers in order."""
    loss, grads = program.grads(program.init(0), put(program, {"tokens": tokens}))
    return float(loss), {path: canonical(np.asarray(g), program.orders.get(path, {})) for path, g in grads.items()}
