"""Running a program here: its environment, its exit code, and that it ends when we do."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from meshc.diagnostics.model import Diagnostic
from meshc.job.catalogue import find_slice
from meshc.launch.local import environment, run_program
from meshc.runtime.env import Environment


def program(directory: Path, text: str) -> Path:
    (directory / "train.py").write_text(text)
    return directory


def slice_named(name: str):
    return find_slice(name)[0]


def test_without_a_slice_it_runs_on_virtual_devices():
    found = environment(None, 6)
    assert isinstance(found, Environment)
    assert found.variables() == {"JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": "6"}


@pytest.mark.parametrize(
    ("name", "variables"),
    [
        ("cpu-8", {"JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": "8"}),
        ("h100-8", {"JAX_PLATFORMS": "cuda"}),
        ("v3-8", {"JAX_PLATFORMS": "tpu"}),
    ],
)
def test_a_slice_says_the_platform(name: str, variables: dict[str, str]):
    found = environment(slice_named(name), 8)
    assert isinstance(found, Environment)
    assert found.variables() == variables


@pytest.mark.parametrize(("name", "backend"), [("v5e-256", "local"), ("cpu-2x4", "local"), ("cpu-8", "slurm")])
def test_another_machine_is_refused(name: str, backend: str):
    found = environment(slice_named(name), 8, backend)
    assert isinstance(found, Diagnostic)
    assert found.code == "E0604"


@pytest.mark.parametrize(
    ("ending", "code"), [("", 0), ("exit(7)", 7), ("exit('no')", 1), ("os.kill(os.getpid(), 9)", -9)]
)
def test_the_exit_code_is_passed_on(tmp_path: Path, ending: str, code: int):
    assert run_program(program(tmp_path, f"import os\n{ending}\n"), [], Environment()) == code


def test_arguments_and_environment_arrive(tmp_path: Path):
    text = "import os, sys, pathlib\nimport meshc.runtime.env\npathlib.Path(sys.argv[1]).write_text(os.environ['JAX_NUM_CPU_DEVICES'])\n"
    assert run_program(program(tmp_path, text), [str(tmp_path / "out")], Environment(cpu_devices=3)) == 0
    assert (tmp_path / "out").read_text() == "3"


SLEEPER = """
import os, pathlib, signal, sys, time
def told(number, frame):
    pathlib.Path(sys.argv[1] + ".told").write_text(str(number))
    sys.exit(9)
signal.signal(signal.SIGINT, told)
signal.signal(signal.SIGTERM, told)
pathlib.Path(sys.argv[1] + ".tmp").write_text(str(os.getpid()))
os.replace(sys.argv[1] + ".tmp", sys.argv[1])
time.sleep(60)
"""


OURS = """
import signal, sys; from pathlib import Path; from meshc.launch.local import run_program
from meshc.runtime.env import Environment
signal.signal(signal.SIGINT, signal.default_int_handler)  # a test runner may have us born deaf to it
sys.exit(run_program(Path(sys.argv[1]), [sys.argv[1] + '/pid'], Environment()))
"""


def started(directory: Path) -> tuple[subprocess.Popen[bytes], int]:
    """A process that runs a program which sleeps, and that program's process id."""
    program(directory, SLEEPER)
    ours = subprocess.Popen([sys.executable, "-c", OURS, str(directory)])
    wait_for((directory / "pid").exists)
    return ours, int((directory / "pid").read_text())


def wait_for(condition) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_are_forwarded_and_the_program_decides(tmp_path: Path, number: signal.Signals):
    ours, pid = started(tmp_path)
    ours.send_signal(number)
    assert ours.wait(60) == 9
    assert (tmp_path / "pid.told").read_text() == str(int(number))
    assert not runs(pid)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_before_a_program_can_decide_it_ends_with_a_word(tmp_path: Path, number: signal.Signals, code: int):
    """As while it imports jax: an exception could come up anywhere in there."""
    program(tmp_path, "import pathlib, sys, time\npathlib.Path(sys.argv[1]).touch()\ntime.sleep(60)\n")
    ours = subprocess.Popen([sys.executable, "-c", OURS, str(tmp_path)], stderr=subprocess.PIPE, text=True)
    wait_for((tmp_path / "pid").exists)
    ours.send_signal(number)
    _, err = ours.communicate(timeout=60)
    assert (ours.returncode, err) == (code, f"stopped by {number.name} before the first step\n")


def test_told_to_end_while_python_starts_it_ends_with_a_word(tmp_path: Path, monkeypatch, capfd):
    """The signal is there before Python is: it waits until somebody can answer it."""
    popen = subprocess.Popen

    def told_at_once(*arguments, **options):
        child = popen(*arguments, **options)
        child.send_signal(signal.SIGINT)
        return child

    monkeypatch.setattr(subprocess, "Popen", told_at_once)
    assert run_program(program(tmp_path, "import time\ntime.sleep(60)\n"), [], Environment()) == 130
    assert capfd.readouterr().err == "stopped by SIGINT before the first step\n"


def test_the_program_ends_when_we_are_killed(tmp_path: Path):
    ours, pid = started(tmp_path)
    ours.kill()
    ours.wait(60)
    wait_for(lambda: not runs(pid))
    assert (tmp_path / "pid.told").read_text() == str(int(signal.SIGTERM))
