"""Experts that fill up a dim are sent nothing: a padded mixture computes on a mesh what the unpadded one does alone."""

from __future__ import annotations

from pathlib import Path

import jax
import numpy as np
import pytest

from meshc.prove import child
from tests.codegen.experts import SIGMOID, text
from tests.codegen.programs import generated, running

EXACT = "train.precision={params: float64, compute: float64}"
BALANCED = "top_k = 2, groups = 3, top_groups = 2, capacity = 0.75"


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


def program(directory: Path, spec: str, experts: str):
    return running(generated(directory, spec.replace("experts = 8", f"experts = {experts}"), EXACT))


@pytest.mark.slow
@pytest.mark.parametrize(
    "parts", [{}, {"scores": SIGMOID, "options": BALANCED}], ids=["softmax", "sigmoid, groups, a capacity"]
)
def test_six_experts_on_four_devices(tmp_path: Path, parts: dict[str, str]):
    """Two steps: the state that balances is 0.01 in the padding after the first, and 0.5 is a sigmoid's score there."""
    many = program(
        tmp_path / "many", text({"dp": 2, "ep": 4}, "fsdp(dp); data(ep); expert(ep)", None, **parts), "pad(6, 4)"
    )
    one = program(tmp_path / "one", text({"ep": 1}, "data(ep); expert(ep)", None, **parts), "6")
    states = [p.init(0) for p in (many, one)]
    assert states[0].weights["Mixture.experts.gate"].shape[1] == 8
    for step in range(2):
        grads = [
            child.on_host(p, p.grads(s, child.batch(p, step))[1]) for p, s in zip((many, one), states, strict=True)
        ]
        for path, grad in grads[1].items():
            np.testing.assert_allclose(grads[0][path], grad, rtol=1e-7, atol=1e-12, err_msg=path)
        told = [p.step(s, child.batch(p, step)) for p, s in zip((many, one), states, strict=True)]
        states = [state for state, _ in told]
        for name, value in told[1][1].items():
            assert float(told[0][1][name]) == pytest.approx(float(value), rel=1e-9), name
        carried = [child.on_host(p, s.carried) for p, s in zip((many, one), states, strict=True)]
        assert carried[0].keys() == carried[1].keys() != set()
        for path, array in carried[1].items():
            np.testing.assert_allclose(carried[0][path], array, rtol=1e-12)
    for path in ("Mixture.experts.gate", "Mixture.experts.router"):  # zero at first, and trained to nothing else
        array = np.asarray(states[0].weights[path])
        assert not array[:, 6:].any() if path.endswith("gate") else not array[..., 6:].any()
