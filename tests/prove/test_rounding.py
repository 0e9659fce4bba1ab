"""What is zero in theory is rounding on every mesh: it is measured how large that is, and no defect hides in it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from meshc.prove import parity, proofs
from meshc.prove.model import ProofName
from tests.prove.test_generated import Edit, builder, failing, swap

KEYS = """mesh { dp = 2, tp = 2 }
dims { batch = 8, seq = 8, heads = 4, head_dim = 4 }
layer Keys(q: [batch, seq, heads, head_dim]) {
  param bias: [heads, head_dim] = normal(0.5)
  return attend(q, q + bias, q, causal = false)
}
model Zero(x: [batch, seq, heads, head_dim]) {
  loss mean(square(Keys(x) as keys))
}
partition { data(dp); heads -> tp }
"""
"""A bias of all keys changes no softmax: its gradient, the only one there is, is zero."""

SUMS = """mesh { dp = 2, tp = 2 }
dims { batch = 8, seq = 8, embed = 16, experts = 4 }
model Zero(x: [batch, seq, embed]) {
  param w: embed -> experts
  loss mean(log(sum(softmax(x @ w, over = experts), over = experts)))
}
partition { data(dp); embed -> tp }
"""
"""A softmax's sum is one, its logarithm zero: the loss and its gradient are."""

TINY = (
    r"    return loss, grads\n\n\n",
    '    return loss, grads | {"Zero.keys.bias": grads["Zero.keys.bias"] + 1e-12}\n\n\n',
)


def proven(directory: Path, spec: str, names: Sequence[ProofName], edit: Edit = str) -> list:
    path = directory / "zero.mesh"
    path.write_text(spec, encoding="utf-8")
    return list(proofs.run("zero.mesh", builder(path, edit, ()), names))


@pytest.mark.slow
@pytest.mark.parametrize("spec", [KEYS, SUMS], ids=["gradients", "losses"])
def test_what_is_zero_in_theory_holds(tmp_path: Path, spec: str):
    found = proven(tmp_path, spec, proofs.ALL)
    assert [(p.name, p.problem, p.failures) for p in found if not p.holds] == []


@pytest.mark.slow
def test_what_is_larger_than_rounding_does_not(tmp_path: Path):
    """A gradient of 1e-12 where all others are 1e-17: relative to them it is large, in itself less than any bound."""
    (proof,) = proven(tmp_path, KEYS, ["parity"], swap(TINY))
    assert "gradient" in failing(proof)


def test_rounding_is_no_excuse_for_more():
    zeros = {"w": np.full(4, 1e-17)}
    for away, holds in ((1e-16, True), (1e-14, False)):
        moved = {"w": zeros["w"] + away / 2}  # by norm: `away`
        found = parity.arrays("gradient", moved, zeros, parity.GRADIENT, lambda: 2e-17)
        assert all(m.holds for m in found) == holds
    assert not parity.losses("loss", [1e-12], [1e-17], parity.LOSS, lambda: 1e-17)[0].holds


def test_a_choice_that_flips_is_no_rounding():
    """Where neighbours of numbers send a token to another expert, what that changes excuses nothing."""
    grads = {"w": np.ones(4)}
    wrong = {"w": grads["w"] * (1 + 1e-7)}
    assert not parity.arrays("gradient", wrong, grads, parity.GRADIENT, lambda: 1e-3)[0].holds
    assert parity.arrays("gradient", wrong, grads, 1e-6, lambda: 1e-3)[0].holds


def test_it_is_measured_only_where_something_fails():
    def never() -> float:
        raise AssertionError

    assert parity.arrays("gradient", {"w": np.ones(4)}, {"w": np.ones(4)}, parity.GRADIENT, never)[0].holds
