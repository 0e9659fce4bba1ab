"""Eight virtual devices for every test that uses jax. Set before anything imports it; imports nothing of it itself."""

import os
from pathlib import Path

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["JAX_NUM_CPU_DEVICES"] = "8"
os.environ["JAX_ENABLE_X64"] = "0"
os.environ["NPROC"] = "32"  # threads enough that no collective waits for one (see runtime/env.py)
os.environ["JAX_COMPILATION_CACHE_DIR"] = str(Path(__file__).parents[1] / ".cache" / "jax")
os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0.5"
