"""Small programs compiled once, in a child process with eight devices of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).with_name("small_programs.py")


@pytest.fixture(scope="session")
def compiled() -> dict[str, str]:
    """Name -> optimised HLO text of each function of `small_programs.py`."""
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": "8"}
    environment.pop("XLA_FLAGS", None)
    done = subprocess.run([sys.executable, str(PROGRAMS)], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
