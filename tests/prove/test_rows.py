"""Rows of several specs: their order, how many at a time, and that an interrupt leaves no child."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from meshc.prove import process, proofs
from meshc.prove.model import Measure, Proof
from meshc.prove.process import PACKAGE_PARENT
from meshc.prove.rows import Subject, rows

NOTHING = Proof("", "parity", (Measure("loss", "step 1", 0, 1),))


def subjects(count: int) -> list[Subject]:
    return [Subject(str(n), lambda flags, on_slice: []) for n in range(count)]


def test_rows_come_in_order_however_long_each_takes(monkeypatch: pytest.MonkeyPatch):
    def run(name, build):
        time.sleep(0.05 if int(name) % 3 == 0 else 0)
        return [NOTHING]

    monkeypatch.setattr(proofs, "run", run)
    assert [row.subject.name for row in rows(subjects(9), 3)] == [str(n) for n in range(9)]


def test_as_many_at_a_time_as_are_asked_for(monkeypatch: pytest.MonkeyPatch):
    together, most = [], []
    meet = threading.Barrier(2, timeout=30)

    def run(name, build):
        together.append(name)
        meet.wait()  # two are here at once, or this is an error
        most.append(len(together))
        meet.wait()
        together.remove(name)
        return [NOTHING]

    monkeypatch.setattr(proofs, "run", run)
    assert all(row.holds for row in rows(subjects(6), 2))
    assert max(most) == 2


def test_who_wants_no_more_rows_ends_the_children(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    def run(name, build):
        while name == "0" and not process._running:
            time.sleep(0.01)
        if name == "0":
            return [NOTHING]
        process._wait([sys.executable, "-c", "import time; time.sleep(120)"], dict(os.environ), tmp_path / name)
        raise AssertionError("it was ended")

    monkeypatch.setattr(proofs, "run", run)
    start = time.monotonic()
    found = rows(subjects(5), 2)
    assert next(found).holds
    assert process._running
    found.close()
    assert not process._running
    assert time.monotonic() - start < 60


def test_a_full_disk_is_told_in_a_line(monkeypatch: pytest.MonkeyPatch):
    def run(name, build):
        raise OSError(errno.ENOSPC, "No space left on device", "/tmp/meshc-prove-1/train.py")

    monkeypatch.setattr(proofs, "run", run)
    (found,) = rows(subjects(1), 1)
    assert not found.holds
    assert found.bug == "cannot write `/tmp/meshc-prove-1/train.py`: no space left on device"


INTERRUPTED = """
import pathlib, sys, tempfile, time
from meshc.cli import main
from meshc.prove import process, proofs
directory = pathlib.Path(sys.argv[1])
program = "import os, pathlib, time; pathlib.Path('pid').write_text(str(os.getpid())); time.sleep(120)"
def run(name, build):
    with tempfile.TemporaryDirectory(dir=directory, prefix="proof"):
        process._wait([sys.executable, "-c", program], {"PATH": "/usr/bin"}, directory / "stderr")
proofs.run = run
main(["prove", str(directory / "spec.mesh"), "--jobs", "2"])
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_an_interrupt_ends_children_leaves_no_files_and_says_nothing(tmp_path: Path, number: int, code: int):
    (tmp_path / "spec.mesh").write_text(
        "mesh { dp = 2 }\ndims { batch = 4, embed = 4 }\n"
        "model M(x: [batch, embed]) { param w: embed -> embed'; loss mean(x @ w) }\npartition { data(dp) }\n"
    )
    env = {**os.environ, "PYTHONPATH": str(PACKAGE_PARENT)}
    parent = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path)], env=env, cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not ((tmp_path / "pid").exists() and (tmp_path / "pid").read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    parent.send_signal(number)
    _, errors = parent.communicate(timeout=30)
    assert (parent.returncode, errors.strip()) == (code, "")
    assert not list(tmp_path.glob("proof*"))
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
