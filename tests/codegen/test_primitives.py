"""What published models are made of, on a mesh and on one device: gradients, and what comes out."""

from pathlib import Path

import jax
import numpy as np
import pytest

from meshc import runtime
from tests.codegen.programs import generated, running, spec
from tests.codegen.test_programs import largest

PARTS = """import "std/gemma.mesh"
import "std/deepseek.mesh"
import "std/gpt_oss.mesh"

mesh {{ {mesh} }}

dims {{
  {dims}
  q_lora = 12, kv_lora = 8, nope_dim = 4, rope_dim = 8, qk_dim = nope_dim + rope_dim, v_dim = 6, dense_mlp = 24
}}

layer Parts(x: [batch, seq, embed]) {{
  x = x + SinkAttention(RMSNorm(x) as a, window = 5) as sunk
  x = x + LatentAttention(RMSNorm(x) as b, factor = 3.0, original = 16) as latent
  h = Gemma2Attention(GemmaNorm(x) as c, window = 3, cap = 0.5) as capped
  x = x + h
  x = x + Gemma3Attention(GemmaNorm(x) as d, scaling = "linear", factor = 2.0) as normed
  return x + GeGLU(GemmaNorm(x) as e) as mlp
}}

model Parts(tokens: [batch, seq] of vocab) {{
  param table: vocab -> embed
  x = table[tokens] * embed ** 0.5
  repeat layers {{ x = Parts(x) as parts }}
  logits = 3 * tanh((GemmaNorm(x) as norm @ table) / 3)
  loss next_token(logits, tokens)
  return logits
}}

partition {{
  {partition}
}}
"""
MESHES = [
    ({"f": 2, "t": 2}, "fsdp(f); tensor(t, sequence = true)", "attention"),
    ({"d": 2, "t": 2}, "data(d); tensor(t)", "dots"),
    ({"f": 2, "s": 2}, "fsdp(f); ulysses(s)", "attention"),
    ({"f": 2, "s": 2}, "fsdp(f); ring(s)", "attention"),
]


TOKENS = np.random.default_rng(0).integers(0, 32, (8, 8), dtype=np.int32)


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


@pytest.mark.slow
@pytest.mark.parametrize(("mesh", "partition", "remat"), MESHES, ids=[partition for _, partition, _ in MESHES])
def test_gradients_and_outputs(tmp_path: Path, mesh: dict[str, int], partition: str, remat: str):
    sets = ("train.precision={params: float64, compute: float64}", f"train.remat={remat}")
    made = []
    for name, axes in (("mesh", mesh), ("one", dict.fromkeys(mesh, 1))):
        program = running(generated(tmp_path / name, spec(axes, partition, PARTS), *sets))
        state, batch = program.init(0), runtime.put(program, {"tokens": TOKENS})
        made.append((*program.grads(state, batch), program.predict(state, batch)["logits"]))
    (loss, grads, logits), (loss_one, grads_one, logits_one) = made
    np.testing.assert_allclose(loss, loss_one, rtol=1e-12)
    assert largest(grads, grads_one) < 1e-9
    np.testing.assert_allclose(logits, logits_one, rtol=0, atol=1e-11)
    assert all(np.asarray(g).any() for g in grads_one.values())
