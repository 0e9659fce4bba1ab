"""Running a built program on this machine: one child, which gets its signals from here and never outlives us."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Protocol

from meshc.children import end
from meshc.diagnostics import run as say
from meshc.diagnostics.model import Diagnostic
from meshc.job.slices import Platform
from meshc.launch.program_dir import PROGRAM
from meshc.runtime.env import PATIENT, THREADS, XLA_FLAGS, Environment, threads

FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)
SECONDS_TO_END = 30
"""A program may save a checkpoint when it is told to end; after this time it is killed."""
_PLATFORMS: dict[Platform, str] = {"cpu": "cpu", "tpu": "tpu", "gpu": "cuda"}


class Machine(Protocol):
    """A slice, as far as a program that is built for it knows it."""

    @property
    def name(self) -> str: ...
    @property
    def chips(self) -> int: ...
    @property
    def hosts(self) -> int: ...
    @property
    def platform(self) -> Platform: ...


def environment(
    slice: Machine | None, devices: int, backend: str = "local", program: str | None = None
) -> Environment | Diagnostic:
    """How the program stands on this machine. Without a slice: on as many virtual CPU devices as its mesh has.

    `program` is the directory of one that is built already, whose backend no flag changes.
    """
    if backend != "local":
        return say.other_backend(backend, program, slice is None or slice.hosts == 1)
    if slice is None:
        return Environment(platform="cpu", cpu_devices=devices)
    if slice.hosts > 1:
        return say.several_hosts(slice.name, slice.hosts, slice.chips)
    return Environment(platform=_PLATFORMS[slice.platform], cpu_devices=slice.chips if slice.platform == "cpu" else 0)


def run_program(directory: Path, arguments: Sequence[str], env: Environment) -> int:
    """Runs the program to its end and yields its exit code; minus the signal where one ended it."""
    start = [sys.executable, "-P", "-m", "meshc.runtime.start", str(os.getpid())]
    with _held_back():
        # A group of its own: Ctrl-C reaches it once, through us.
        child = subprocess.Popen([*start, str(directory / PROGRAM), *arguments], env=_variables(env), process_group=0)
    try:
        with _forwarding(child):
            code = child.wait()
    finally:
        end(child, SECONDS_TO_END)
    return code


def _variables(env: Environment) -> dict[str, str]:
    """Our environment, the program's place, and where to find `meshc.runtime` when meshc is not installed."""
    variables = {**os.environ, **env.variables()}
    if env.cpu_devices > 1:
        variables.setdefault(THREADS, threads(env.cpu_devices))
        variables[XLA_FLAGS] = f"{PATIENT} {variables.get(XLA_FLAGS, '')}".strip()
    root = Path(__file__).parent.parent.parent
    if root.name not in ("site-packages", "dist-packages"):
        variables["PYTHONPATH"] = os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), str(root))))
    return variables


@contextmanager
def _held_back() -> Iterator[None]:
    """Signals wait: a child that starts now inherits that, and `start` lets them through when it can answer them.

    Python itself, while it starts, would answer with a traceback.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _forwarding(child: subprocess.Popen[bytes]) -> Iterator[None]:
    def forward(number: int, _frame: FrameType | None) -> None:
        if child.poll() is None:
            child.send_signal(number)

    before = {number: signal.signal(number, forward) for number in FORWARDED}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
