"""Programs that can be started: built now, or before."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from meshc.diagnostics.model import Diagnostic
from meshc.job.slices import Platform
from meshc.launch.local import environment
from meshc.launch.program_dir import read_program, run_directory
from meshc.runtime.env import Environment


@dataclass(frozen=True)
class Ready:
    """Where a program is, where its results go, and on what it runs."""

    program: Path
    run_dir: Path
    environment: Environment


@dataclass(frozen=True)
class Machine:
    """The slice that a program was built for."""

    name: str
    chips: int
    hosts: int
    platform: Platform


def built(directory: Path, out: str | None) -> Ready | Diagnostic:
    """A program that was built before, on what it was built for."""
    found = read_program(directory)
    if isinstance(found, Diagnostic):
        return found
    devices, launch = (found.manifest.get(key) for key in ("devices", "launch"))
    backend = str(launch["backend"]) if isinstance(launch, dict) and "backend" in launch else "local"
    env = environment(
        _machine(found.manifest.get("slice")), devices if isinstance(devices, int) else 1, backend, str(directory)
    )
    return env if isinstance(env, Diagnostic) else Ready(directory, run_directory(directory.resolve().name, out), env)


def _machine(told: object) -> Machine | None:
    """What a manifest tells of it, if anything."""
    match told:
        case {"name": str(name), "chips": int(chips), "hosts": int(hosts), "platform": "cpu" | "gpu" | "tpu" as kind}:
            return Machine(name, chips, hosts, kind)
        case _:
            return None
