"""The programs that a proof compares: one spec generated several times, by settings that a user could give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from meshc.diagnostics.model import Diagnostic
from meshc.job.model import Job
from meshc.semantics.collectives import Collective
from meshc.semantics.placed import PlacedProgram

EXACT = ("train.precision.params=float64", "train.precision.compute=float64")
SINGLE = ("train.precision.params=float32", "train.precision.compute=float32")
SGD = ("train.optimizer={name: sgd, lr: 0.1, schedule: constant, clip: 1.0}",)
ADAMW = ("train.optimizer={name: adamw, lr: 3.0e-4, schedule: constant, clip: 1.0}",)


@dataclass(frozen=True)
class Built:
    """A spec taken through the compiler: its job as set, what was derived, the files to write."""

    job: Job
    placed: PlacedProgram
    collectives: tuple[Collective, ...]
    files: Mapping[str, str]


class Builder(Protocol):
    """Takes one spec through the compiler with more `--set` flags, which win over those that the user gave.

    `on_slice` is false for the one-device program: then the user's slice does not count. Yields what stops it, if
    anything does, in place of a program.
    """

    def __call__(self, flags: Sequence[str], on_slice: bool) -> Built | Sequence[Diagnostic]: ...


class CannotBuild(Exception):
    """A variant of the spec has errors; `str()` is the first."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__(f"{diagnostics[0].message} ({diagnostics[0].code})")
        self.diagnostics = diagnostics


@dataclass(frozen=True)
class Pair:
    """A program on its mesh and the one-device program of the same spec: what was built, and the paths of both."""

    built: Built
    mesh: Path
    one: Path

    @property
    def num_devices(self) -> int:
        return self.built.placed.devices

    @property
    def paths(self) -> dict[str, str]:
        return {"mesh": str(self.mesh), "one": str(self.one)}


def write_pair(build: Builder, flags: Sequence[str], directory: Path) -> Pair:
    """Generates both programs under `directory`. Raises CannotBuild."""
    built = _built(build(flags, True))
    program = built.placed.program
    ones = tuple(f"mesh.{axis.name}=1" for view in (program, *program.views) for axis in view.axes)
    ones += (f"train.microsteps={built.placed.microsteps}",)  # a pipeline's microbatches are microsteps there
    one = _built(build((*flags, *ones), False))
    return Pair(built, _write(built, directory / "mesh"), _write(one, directory / "one"))


def _built(found: Built | Sequence[Diagnostic]) -> Built:
    if isinstance(found, Built):
        return found
    raise CannotBuild(found)


def _write(built: Built, directory: Path) -> Path:
    for name, text in built.files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return directory / "train.py"
