"""Eight virtual devices for every test that uses jax. Set before anything imports it; imports nothing of it itself."""

import os
import sys
from pathlib import Path

import pytest

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["JAX_NUM_CPU_DEVICES"] = "8"
os.environ["JAX_ENABLE_X64"] = "0"
os.environ["NPROC"] = "32"  # threads enough that no collective waits for one (see runtime/env.py)
os.environ["JAX_COMPILATION_CACHE_DIR"] = str(Path(__file__).parents[1] / ".cache" / "jax")
os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0.5"

MOST_MAPS = 20_000
"""Stretches of memory of one process. Linux allows 65,530; each program that XLA compiled for the CPU holds some 20."""


@pytest.fixture(autouse=True)
def few_programs():
    """Lets go of compiled programs before there are so many that the process may map no more memory and is ended."""
    yield
    maps = Path("/proc/self/maps")
    if "jax" in sys.modules and maps.exists() and maps.read_bytes().count(b"\n") > MOST_MAPS:
        sys.modules["jax"].clear_caches()
