"""Child processes of a proof: an environment with virtual devices, a request, a result, and an end in every case."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from meshc.children import end
from meshc.prove.model import Measure
from meshc.runtime.env import PATIENT, THREADS, threads

PACKAGE_PARENT = Path(__file__).resolve().parents[2]
SECONDS_TO_END = 5
QUICK = "--xla_backend_optimization_level=0"
"""Machine code as it comes: half the time to compile. The optimised HLO and its collectives stay as they are."""
STOOD_STILL = "Exiting to ensure a consistent program state"
"""What XLA says when it ends a process whose devices did not meet in a collective."""
COMPILATION_CACHE = ("JAX_COMPILATION_CACHE_", "JAX_PERSISTENT_CACHE_")


class Stopped(Exception):
    """Children are no longer wanted."""


_running: set[subprocess.Popen[bytes]] = set()
_stopping = threading.Event()


@contextlib.contextmanager
def ended_with(pool: ThreadPoolExecutor) -> Iterator[None]:
    """However the block ends, the children that threads of the pool wait for are ended, and the pool is."""
    try:
        yield
    finally:
        _stopping.set()
        for child in list(_running):
            child.terminate()
        pool.shutdown(cancel_futures=True)
        _stopping.clear()


@dataclass(frozen=True)
class Task:
    """A function of child.py, its arguments, and the proof that its measures belong to."""

    proof: str
    task: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What a child found: measures and problems by proof, and what it wrote to stderr."""

    measures: dict[str, list[Measure]]
    problems: dict[str, str]
    stderr: str


CHILD = "meshc.prove.child"


def run(
    tasks: list[Task],
    num_devices: int,
    float64: bool,
    directory: Path,
    module: str = CHILD,
    patience: str = PATIENT,
) -> Outcome:
    """Runs tasks one after another in a child with that many virtual CPU devices; `directory` takes its files.

    patience: flags of XLA, how long devices wait for each other until it ends the process
    module: the child, which knows the tasks. Where it ends by itself, that is the problem of all that were not done.
    """
    name = "exact" if float64 else "single"
    request, result = directory / f"{name}.request.json", directory / f"{name}.result.json"
    request.write_text(json.dumps([vars(t) for t in tasks]), encoding="utf-8")
    env = environment(num_devices, float64) | {"XLA_FLAGS": f"{patience} {QUICK}"}
    command = [sys.executable, "-P", "-m", module, str(request), str(result)]
    code, stderr = _wait(command, env, directory / f"{name}.stderr")
    if code and STOOD_STILL in stderr:  # a program that cannot meet does so again; a busy machine does not
        code, stderr = _wait(command, env, directory / f"{name}.stderr")
    found = json.loads(result.read_text(encoding="utf-8")) if result.exists() else {}
    measures = {proof: [Measure(**m) for m in one["measures"]] for proof, one in found.items()}
    problems = {proof: one["problem"] for proof, one in found.items() if one["problem"]}
    if code:
        ended, asked = _last_words(code, stderr), Counter(task.proof for task in tasks)
        undone = [proof for proof, count in asked.items() if found.get(proof, {"done": 0})["done"] < count]
        problems = dict.fromkeys(undone or asked, ended) | problems
    return Outcome(measures, problems, stderr)


def environment(num_devices: int, float64: bool) -> dict[str, str]:
    """This process's environment with virtual CPU devices; what would change the numbers of a run is taken out.

    Programs in float32 are always compiled anew: what XLA says while it compiles is part of the traffic proof.
    """
    cache = {k: v for k, v in os.environ.items() if float64 and k.startswith(COMPILATION_CACHE)}
    kept = {k: v for k, v in os.environ.items() if not k.startswith("JAX_") and k not in ("XLA_FLAGS", "PYTHONPATH")}
    path = [str(PACKAGE_PARENT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **kept,
        **cache,
        "PYTHONPATH": os.pathsep.join(path),
        "JAX_PLATFORMS": "cpu",
        "JAX_NUM_CPU_DEVICES": str(num_devices),
        "JAX_ENABLE_X64": str(int(float64)),
        "XLA_FLAGS": PATIENT,
        THREADS: threads(num_devices),
    }


def _wait(command: list[str], env: dict[str, str], stderr: Path) -> tuple[int, str]:
    """Exit code and stderr of a command. It is ended when this process is interrupted, and ends when this one dies."""
    if _stopping.is_set():
        raise Stopped
    with stderr.open("wb") as sink:
        child = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=sink, stderr=sink)
        _running.add(child)
        try:
            if _stopping.is_set():
                child.terminate()
            code = child.wait()
        finally:
            end(child, SECONDS_TO_END)
            _running.discard(child)
    if _stopping.is_set():
        raise Stopped
    return code, stderr.read_text(encoding="utf-8", errors="replace")


def _last_words(code: int, stderr: str) -> str:
    """The line that says most about why a process ended: XLA's fatal one, else the last error, else the last line."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    fatal = [line for line in lines if FATAL.match(line)]
    errors = [line for line in lines if ERROR.match(line)]
    return (fatal[:1] or errors[-1:] or lines[-1:] or [f"the program ended with code {code}"])[0]


FATAL = re.compile(r"F\d{4} ")  # F1129 14:08:21.1 12345 rendezvous.cc:123] ...
ERROR = re.compile(r"[\w.]*(Error|Exception|Interrupt): ")
