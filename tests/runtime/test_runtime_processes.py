"""Real processes that join: rows by what their devices hold, and one of them that writes."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

from meshc import runtime
from meshc.runtime import env
from meshc.runtime.canonical import layout
from meshc.runtime.checkpoint import Store
from meshc.runtime.data.batches import open_source
from tests.runtime import bigram

ROOT = Path(__file__).parents[2]


def together(axes, out, *extra, processes=2, devices=1):
    """Runs the processes to their end; their stdouts, in order."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        coordinator = f"127.0.0.1:{free.getsockname()[1]}"
    command = [sys.executable, "-m", "tests.runtime.two_processes", axes, str(out), *extra]
    running = []
    for process in range(processes):
        place = env.Environment(coordinator, processes, process, platform="cpu", cpu_devices=devices)
        variables = os.environ | place.variables()
        running.append(
            subprocess.Popen(
                command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
        )
    ended = [one.communicate(timeout=120) for one in running]
    assert [one.returncode for one in running] == [0] * processes, ended
    return [stdout for stdout, _ in ended]


def rows(stdout):
    return json.loads(next(line for line in stdout.splitlines() if line.startswith('{"process"')))["rows"]


def all_rows():
    program = bigram.build(runtime.make_mesh({"tp": 8}))
    samples = open_source(runtime.Synthetic(), program, 0)
    return [samples(i)["tokens"].tolist() for i in range(8)]


def test_two_processes_of_one_tensor_parallel_group_hold_the_same_rows(tmp_path):  # case C24
    stdouts = together("fsdp=1,tp=2", tmp_path)
    assert [rows(stdout) for stdout in stdouts] == [all_rows(), all_rows()]
    assert "step 3/3" in stdouts[0] and "step" not in stdouts[1]


@pytest.mark.slow
def test_two_data_parallel_processes_write_one_run_that_one_alone_can_read(tmp_path):  # case C33
    stdouts = together("fsdp=2,tp=1", tmp_path)
    assert [rows(stdout) for stdout in stdouts] == [all_rows()[:4], all_rows()[4:]]
    together("fsdp=2,tp=1", tmp_path, "resume")
    steps = [json.loads(line)["step"] for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert steps == [1, 2, 3, 4]
    alone = bigram.build(runtime.make_mesh({}, jax.devices()[:1]))
    state, position = Store(tmp_path / "checkpoints", 3).restore(layout(alone, 0), 4)
    assert position.samples == 32 and int(state.step) == 4
    assert np.isfinite(np.asarray(state.weights["Tiny.head"])).all()
