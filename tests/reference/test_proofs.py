"""Small ones of the specs that are most unlike the zoo's hold all proofs on the mesh of their own partition."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.reference.test_models import GROUPED, PLAIN, ROOT, SPECS

MESH = "mesh.fsdp=4 mesh.tp=2"
SIZES = {
    # Two turns of each repeat at least: a loop of one turn is none to XLA, which then gathers weights only once.
    "gemma3_27b": f"{GROUPED} batch=8 seq=16 groups=2 near=2 last=2 window=5 {MESH}",
    "gpt_oss_20b": f"{GROUPED} batch=8 seq=16 pairs=2 window=5 experts=8 active=3 mesh.fsdp=8 mesh.ep=8",
    "deepseek_v3": (
        f"{PLAIN} batch=8 seq=16 q_lora=12 kv_lora=8 nope_dim=8 rope_dim=16 v_dim=6 dense_mlp=24 mlp=12 dense_layers=2 "
        f"layers=2 experts=16 active=3 expert_groups=4 active_groups=2 {MESH} mesh.edp=2 mesh.ep=4"
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SIZES)
def test_a_small_one_is_proven(name: str):
    last = {setting.partition("=")[0]: setting for setting in SIZES[name].split()}
    sets = [word for setting in last.values() for word in ("--set", setting)]
    command = "from meshc.cli import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", command, "prove", str(SPECS[name]), "--slice", "cpu-8", *sets],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
