"""The generated program against an expert's, on the same model: what XLA says of both, compile time, step time."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.models import COMPILED, TIMED, Case, write_spec
from benchmarks.rows import Row, ratio_row
from meshc.prove.process import environment

ROOT = Path(__file__).resolve().parents[1]
MIB, MB = 2**20, 1e6
STATED_WIRE = {"fsdp 8, kept": 195.0, "fsdp 8, again, full remat": 278.0, "fsdp 4 x tp 2, kept": 155.0}
"""MB a device and step, ring model."""
STATED_MEMORY = {"fsdp 8, again, full remat": 126.0}
"""MiB a device: arguments and temporaries."""


def compiled(directory: Path) -> Iterator[Row]:
    """Flops, wire bytes, peak memory and compile time of each case, and the stated traffic."""
    for case in COMPILED:
        found = _child("compile", case, directory)
        ours, theirs = found["generated"], found["expert"]
        for name, key in (("flops of products", "flops"), ("flops as XLA counts", "xla_flops"),
                          ("wire bytes", "wire_bytes"), ("peak memory", "peak_bytes")):  # fmt: skip
            if theirs[key]:
                yield Row(
                    f"against the expert: {case.name}",
                    name,
                    ours[key] / theirs[key],
                    1.0,
                    note=_both(key, ours, theirs),
                )
        yield ratio_row(f"against the expert: {case.name}", "compile time", ours["seconds"], theirs["seconds"], 1.2)
        yield from _stated(case, ours)


def _stated(case: Case, ours: dict[str, Any]) -> Iterator[Row]:
    section = f"against the expert: {case.name}"
    if case.name in STATED_WIRE:
        yield Row(section, "wire, a device and step", ours["wire_bytes"] / MB, STATED_WIRE[case.name], "MB", decimals=0)
    if case.name in STATED_MEMORY:
        yield Row(section, "memory, a device", ours["peak_bytes"] / MIB, STATED_MEMORY[case.name], "MiB", decimals=0)


def timed(directory: Path) -> Iterator[Row]:
    """Step time and compilations, on a smaller model."""
    for case in TIMED:
        found = _child("steps", case, directory)
        section = f"steps of a small model: {case.name}"
        yield ratio_row(section, "step time", found["generated"]["seconds"], found["expert"]["seconds"], 1.03)
        yield Row(section, "compilations of the step", found["compilations"], 1, "", decimals=0)


def _both(key: str, ours: dict[str, float], theirs: dict[str, float]) -> str:
    scale, unit = (1e9, "GF") if "flops" in key else (MB, "MB") if key == "wire_bytes" else (MIB, "MiB")
    return f"{ours[key] / scale:.4g} against {theirs[key] / scale:.4g} {unit}"


def _child(what: str, case: Case, directory: Path) -> dict[str, Any]:
    train = write_program(case, directory / f"{case.name} {what}".replace(" ", "_").replace(",", ""))
    expert = case.model.expert(case.mesh, case.expert_remat)
    command = [sys.executable, "-m", "benchmarks.child", what, str(train), "--", *expert]
    env = environment(case.devices, False)
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{case.name}: {done.stderr[-4000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def write_program(case: Case, directory: Path) -> Path:
    """Generates a case's program under `directory`."""
    return write_spec(case.model.spec(case.mesh, case.gathered), directory, case.flags)
