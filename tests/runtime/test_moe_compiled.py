"""Tokens go to experts by ragged collectives where XLA has them: what its TPU and GPU compilers make of a routed layer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMPILERS = ROOT / ".cache" / "aot"
"""Where `make prove` installs them: the extras tpu-aot and cuda-aot."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["tpu", "gpu"])
def test_tokens_travel_ragged(kind: str):
    """On dp 2 x a 2 x b 2 with experts over a and b: rows there and back, forward and backward; a weight with each row
    in blocks.
    """
    assert (COMPILERS / "libtpu").is_dir(), "`make prove` installs the compilers first"
    flags = {"XLA_FLAGS": "--xla_gpu_autotune_level=0"} if kind == "gpu" else {}
    environment = {
        "TPU_SKIP_MDS_QUERY": "1",
        "JAX_PLATFORMS": "cpu",
        "PYTHONPATH": os.pathsep.join(map(str, (COMPILERS, ROOT))),
    }
    child = [sys.executable, str(Path(__file__).with_name("compile_moe.py")), kind]
    done = subprocess.run(child, env=os.environ | environment | flags, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["counts"]["ragged-all-to-all"] == 4
    assert found["counts"]["all-to-all"] == 2
    assert found["groups"] == ["{{0,1,2,3},{4,5,6,7}}"]
