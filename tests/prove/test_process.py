"""Children of a proof: their environment, what becomes of one that fails, and that none outlives its parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from meshc.prove import process
from meshc.prove.process import PACKAGE_PARENT, Task, environment

SLEEPS = """
import os, pathlib, time
pathlib.Path(__file__).with_name("pid").write_text(str(os.getpid()))
time.sleep(120)
"""
PARENT = """
import sys
from pathlib import Path
from meshc.prove import process
directory = Path(sys.argv[1])
process.run([process.Task("parity", "traffic", {"mesh": str(directory / "train.py"), "text": ""})], 1, False, directory)
"""


def test_the_environment_has_devices_and_nothing_that_changes_numbers(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=3")
    monkeypatch.setenv("JAX_DEFAULT_MATMUL_PRECISION", "bfloat16")
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "/cache")
    exact, single = environment(16, True), environment(16, False)
    assert (exact["JAX_PLATFORMS"], exact["JAX_NUM_CPU_DEVICES"], exact["JAX_ENABLE_X64"]) == ("cpu", "16", "1")
    assert single["JAX_ENABLE_X64"] == "0"
    assert "JAX_DEFAULT_MATMUL_PRECISION" not in exact
    assert "device_count" not in exact["XLA_FLAGS"]
    assert exact["JAX_COMPILATION_CACHE_DIR"] == "/cache"
    assert "JAX_COMPILATION_CACHE_DIR" not in single


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("raise RuntimeError('out of luck')", "traffic: RuntimeError: out of luck"),
        ("two words", "traffic: SyntaxError: invalid syntax"),
        ("import os; os._exit(7)", "the program ended with code 7"),
    ],
)
def test_a_program_that_fails_is_a_problem_of_its_proof(tmp_path: Path, text: str, problem: str):
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    task = Task("parity", "traffic", {"mesh": str(tmp_path / "train.py"), "text": ""})
    found = process.run([task], 1, False, tmp_path)
    assert found.problems["parity"].startswith(problem)


def test_a_child_that_ends_is_the_problem_of_what_it_had_not_done(tmp_path: Path):
    tasks = [Task("one", "fine", {}), Task("two", "ends", {}), Task("three", "fine", {})]
    found = process.run(tasks, 1, False, tmp_path, "tests.prove.ending_child")
    assert [measure.claim for measure in found.measures["one"]] == ["a claim"]
    assert found.problems == dict.fromkeys(("two", "three"), "the program ended with code 7")


def test_of_a_proof_of_several_tasks_all_must_be_done(tmp_path: Path):
    tasks = [Task("one", "fine", {}), Task("one", "ends", {})]
    found = process.run(tasks, 1, False, tmp_path, "tests.prove.ending_child")
    assert "one" in found.problems


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_child_outlives_its_parent(tmp_path: Path, ending: signal.Signals):
    (tmp_path / "train.py").write_text(SLEEPS, encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": str(PACKAGE_PARENT)}
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path)], env=env, stderr=subprocess.DEVNULL)
    child = int(_eventually(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text()))
    parent.send_signal(ending)
    parent.wait(30)
    assert _eventually(lambda: not _alive(child))


def _eventually(condition):
    for _ in range(600):
        if found := condition():
            return found
        time.sleep(0.05)
    raise AssertionError("not within half a minute")


def _alive(pid: int) -> bool:
    """Whether a process runs; one that ended and waits to be reaped does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
