"""The expert's program moves what is published of it: the reader of HLO and the bounds are calibrated on that."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.models import STATED
from meshc.prove.process import environment

ROOT = Path(__file__).resolve().parents[2]
MEASURE = """
import json, sys
from benchmarks.child import Expert, figures
expert = Expert(sys.argv[1:])
print(json.dumps(figures(expert, expert.compile())))
"""


@functools.cache
def figures(fsdp: int, tp: int, remat: str) -> dict[str, float]:
    command = [sys.executable, "-c", MEASURE, *STATED.expert({"fsdp": fsdp, "tp": tp}, remat)]
    done = subprocess.run(command, cwd=ROOT, env=environment(8, False), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("fsdp", "tp", "remat", "megabytes"),
    [
        (8, 1, "attn", 195),
        pytest.param(8, 1, "full", 277, marks=pytest.mark.slow),
        pytest.param(4, 2, "attn", 205, marks=pytest.mark.slow),
    ],
)  # docs: a hand-written Llama of 27.8 M parameters, wire MB a device and step on XLA:CPU, ring model
def test_published_traffic(fsdp: int, tp: int, remat: str, megabytes: int):
    found = figures(fsdp, tp, remat)
    assert round(found["wire_bytes"] / 1e6) == megabytes
    if remat == "full":
        assert round(found["peak_bytes"] / 2**20) == 126


def test_flops_of_products_are_those_of_the_model():
    """A multiplication and an addition for each weight and token, thrice (forward, backward twice); and attention."""
    flops = figures(8, 1, "attn")["flops"]
    m = STATED
    block = m.embed * m.head_dim * (2 * m.heads + 2 * m.kv_heads) + 3 * m.embed * m.mlp
    weights = m.layers * block + m.embed * m.vocab
    # Per device one sample. Scores and values are a product each of seq x seq: forward, twice backward, scores again.
    attention = 2 * m.layers * m.heads * m.seq * m.seq * m.head_dim * (2 + 4 + 1)
    assert flops == 6 * weights * m.seq + attention
