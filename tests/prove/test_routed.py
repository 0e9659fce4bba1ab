"""Every proof of programs with routed experts, with all that routing has: biases, a state, loads and losses."""

from __future__ import annotations

from pathlib import Path

import pytest

from meshc.prove import proofs
from tests.codegen.experts import text
from tests.codegen.test_experts import MESHES
from tests.prove.test_generated import builder


@pytest.mark.slow
@pytest.mark.parametrize("options", ["top_k = 2", "top_k = 2, capacity = 0.75"])
def test_every_proof_holds(tmp_path: Path, options: str):
    """What is dropped is among the metrics, which are compared, too."""
    path = tmp_path / "mixture.mesh"
    path.write_text(text(*MESHES["a part of each token to a device"], options=options), encoding="utf-8")
    found = list(proofs.run("mixture.mesh", builder(path, str, ())))
    assert {p.name for p in found} == set(proofs.ALL)
    assert [(p.name, p.problem, p.failures) for p in found if not p.holds] == []
