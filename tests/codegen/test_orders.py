"""What depends on where a token is in the sequence, where the sequence lies in zigzag order: as on one device."""

from pathlib import Path

import jax
import numpy as np
import pytest

from meshc.prove import child
from tests.codegen.programs import generated, running, spec
from tests.codegen.test_programs import largest

POSITIONS = """import "std/llama.mesh"

mesh {{ {mesh} }}

dims {{
  {dims}
  early = 3, late = 5
}}

primitive running(x: [batch, seq, embed]) -> [batch, seq, embed] = "running:total" {{ whole seq }}

model Llama(tokens: [batch, seq] of vocab) {{
  param table: vocab -> embed
  param where: [seq, embed] = normal(0.5)
  x = table[tokens] + where
  a, b = split(x, along = seq, into = [early, late])
  x = x + concat(b, a, along = seq)
  x = x + 0.1 * running(x)
  repeat layers {{ x = LlamaBlock(x, rate = 0.1, window = 3) as block }}
  x = x + Attention(x) as last
  param head: embed -> vocab
  logits = x @ head
  loss next_token(logits, tokens)
  return logits
}}

partition {{
  {partition}
}}
"""
"""Learned positions, parts of a sequence, a user's function of all of it, rotary positions, masks, dropout."""

TOTAL = "import jax.numpy as jnp\n\n\ndef total(x):\n    return jnp.cumsum(x, axis=1)\n"


def program(directory: Path, partition: str, sizes: dict[str, int]):
    sets = ("train.precision={params: float64, compute: float64}",)
    text = spec(sizes, partition, POSITIONS)
    (directory / "running.py").parent.mkdir(parents=True, exist_ok=True)
    (directory / "running.py").write_text(TOTAL)
    return running(generated(directory, text, *sets))


@pytest.mark.parametrize(
    ("partition", "mesh"),
    [
        ("fsdp(d); ring(c)", {"d": 2, "c": 2}),
        pytest.param("ring(c)", {"d": 1, "c": 4}, marks=pytest.mark.slow),
        pytest.param("gather_kv(c); ulysses(d)", {"c": 2, "d": 2}, marks=pytest.mark.slow),
    ],
)
def test_a_sequence_in_zigzag_order_is_as_on_one_device(tmp_path: Path, partition: str, mesh: dict[str, int]):
    with jax.enable_x64(True):
        many = program(tmp_path / "mesh", partition, mesh)
        one = program(tmp_path / "one", partition, dict.fromkeys(mesh, 1))
        assert many.orders and not one.orders
        states = many.init(0), one.init(0)
        batches = child.batch(many, 0), child.batch(one, 0)
        (loss, grads), (expected, grads_one) = (
            p.grads(s, b) for p, s, b in zip((many, one), states, batches, strict=True)
        )
        assert float(loss) == pytest.approx(float(expected), rel=1e-12)
        weights, weights_one = child.on_host(many, states[0].weights), child.on_host(one, states[1].weights)
        assert largest(weights, weights_one) == 0
        assert not np.array_equal(states[0].weights["Llama.where"], states[1].weights["Llama.where"])
        assert largest(child.on_host(many, grads), child.on_host(one, grads_one)) < 1e-10
        made = [p.predict(s, b)["logits"] for p, s, b in zip((many, one), states, batches, strict=True)]
        np.testing.assert_allclose(made[0], made[1], rtol=1e-9, atol=1e-11)
