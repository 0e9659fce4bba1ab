"""The files that a command line means: those it names, and the specs in the directories that it names."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from meshc.diagnostics.model import Diagnostic
from meshc.diagnostics.run import no_specs_in
from meshc.load import decode, load
from meshc.source import SourceFile

STDIN = "-"
FOREIGN = ("pyvenv.cfg", "program.json")
"""What marks a directory whose specs are copies: an environment with packages, a program that meshc built."""


@dataclass(frozen=True)
class Subject:
    """A file to check by the name that messages print: its text, or why it cannot be had."""

    name: str
    text: SourceFile | Diagnostic
    stdin: bool = False


def subjects(paths: Sequence[str], stdin_name: str | None) -> list[Subject]:
    """Each file once, in the order of the command line; those of a directory by name."""
    found: dict[str, Subject] = {}
    for path in paths:
        for subject in _of(path, stdin_name):
            found.setdefault(STDIN if subject.stdin else os.path.realpath(subject.name), subject)
    return list(found.values())


def _of(path: str, stdin_name: str | None) -> Iterator[Subject]:
    if path == STDIN:
        name = stdin_name or "<stdin>"
        yield Subject(name, decode(sys.stdin.buffer.read(), name), stdin=True)
    elif os.path.isdir(path):  # noqa: PTH112 - whatever the name
        specs = list(_specs(Path(path)))
        if not specs:
            yield Subject(path, no_specs_in(path))
        yield from (Subject(str(spec), load(spec)) for spec in specs)
    else:
        yield Subject(path, load(path))


def _specs(directory: Path) -> Iterator[Path]:
    """All specs below a directory. Hidden directories and copies of others are left out, and links not followed."""
    for root, directories, files in os.walk(directory):
        if any(name in files for name in FOREIGN):
            directories[:] = []
            continue
        directories[:] = sorted(name for name in directories if not name.startswith(".") and name != "node_modules")
        yield from _meshes(Path(root), files)


def _meshes(root: Path, files: Iterable[str]) -> Iterator[Path]:
    yield from (root / name for name in sorted(files) if name.endswith(".mesh") and not name.startswith("."))
