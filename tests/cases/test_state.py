"""State is carried from step to step, whatever the microsteps and the mesh."""

from __future__ import annotations

import numpy as np
import pytest

from meshc.runtime import put

SPEC = """mesh { dp = 1, tp = 1 }
dims { batch = 8, seq = 4, embed = 8, vocab = 16 }
model Tiny(tokens: [batch, seq] of vocab) {
  param table: vocab -> embed
  state seen: [embed] = zeros
  state steps: [] = zeros
  x = table[tokens]
  seen := 0.5 * seen + 0.5 * mean(x, over = [batch, seq])
  steps := steps + 1
  loss next_token(x @ table, tokens)
}
partition {
  data(dp)
  vocab -> tp
}
"""


@pytest.mark.parametrize(
    "sets", [(), ("train.microsteps=2",), ("mesh.dp=2", "mesh.tp=2", "train.microsteps=4"), ("mesh.dp=8",)]
)
def test_two_steps(build, sets: tuple[str, ...]):
    program = build(SPEC, *sets)
    state = program.init(0)
    expected = np.zeros(8)
    tokens = np.random.default_rng(0).integers(0, 16, (2, 8, 4))
    for rows in tokens:
        table = np.asarray(state.weights["Tiny.table"])
        expected = 0.5 * expected + 0.5 * table[rows].mean((0, 1))
        state, _ = program.step(state, put(program, {"tokens": rows}))
    np.testing.assert_allclose(np.asarray(state.carried["Tiny.seen"]), expected, rtol=1e-5, atol=1e-7)
    assert float(state.carried["Tiny.steps"]) == 2
