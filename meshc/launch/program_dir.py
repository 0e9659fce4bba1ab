"""The directory of a built program: written whole or not at all, and never over what meshc did not make."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, count
from pathlib import Path
from typing import Any

from meshc.diagnostics import run as say
from meshc.diagnostics.model import Diagnostic
from meshc.load import reason

MANIFEST = "program.json"
"""Says of a directory that meshc built it, and what: `files` maps each of its files to its SHA-256."""
PROGRAM = "train.py"


@dataclass(frozen=True, slots=True)
class Built:
    """An earlier build: what its manifest says."""

    files: dict[str, str]
    manifest: dict[str, Any]


def write_program(directory: Path, files: Mapping[str, str], manifest: Mapping[str, Any]) -> list[Diagnostic]:
    """Writes `files` and the manifest into `directory`, which is new, empty or an earlier build.

    All is written beside it first and then moved, so neither a full disk nor an interruption leaves half a program.
    """
    if problem := _refusal(directory):
        return [problem]
    data = {name: text.encode() for name, text in files.items()}
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in data.items()}
    data[MANIFEST] = (json.dumps({**manifest, "files": sums}, indent=2) + "\n").encode()
    made: list[Path] = []
    staging = None
    try:
        _make_parents(directory.parent, made)
        staging = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=directory.parent))
        staging.chmod(0o777 & ~_umask())
        for name, content in data.items():
            _write(staging / name, content)
        _move(staging, directory, list(data))
        made.clear()
    except OSError as error:
        return [say.cannot_write(str(directory), reason(error))]
    finally:
        if staging:
            shutil.rmtree(staging, ignore_errors=True)
        for parent in reversed(made):
            parent.rmdir()
    return []


def read_program(directory: Path) -> Built | Diagnostic:
    """The earlier build in a directory."""
    for name in (PROGRAM, MANIFEST):
        if not (directory / name).is_file():
            inside = directory / "program"  # where `meshc run SPEC` writes it
            if (inside / name).is_file():
                return say.program_of_a_run(str(directory), str(inside))
            return say.not_a_program(str(directory), name)
    found = _manifest(directory)
    return say.unreadable_program(str(directory / MANIFEST)) if found is None else found


def _manifest(directory: Path) -> Built | None:
    try:
        manifest = json.loads((directory / MANIFEST).read_text(encoding="utf-8"))
        files = manifest["files"]
        return Built({str(name): str(total) for name, total in files.items()}, manifest)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _refusal(directory: Path) -> Diagnostic | None:
    """Why a directory cannot be built into, if it cannot."""
    try:
        if not directory.exists():
            return say.not_a_directory(str(directory)) if directory.is_symlink() else None
        if not directory.is_dir():
            return say.not_a_directory(str(directory))
        entries = sorted(entry.name for entry in directory.iterdir())
        if not entries:
            return None
        before = _manifest(directory)
        if before is None:
            return say.foreign_directory(str(directory), entries[0])
        for name, total in before.files.items():
            file = directory / name
            if file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() != total:
                return say.edited_file(str(file))
    except OSError as error:
        return say.cannot_write(str(directory), reason(error))
    return None


def _make_parents(directory: Path, made: list[Path]) -> None:
    if directory.exists():
        return
    _make_parents(directory.parent, made)
    directory.mkdir()
    made.append(directory)


def _write(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("xb") as sink:
        sink.write(content)
        sink.flush()
        os.fsync(sink.fileno())


def _move(staging: Path, directory: Path, names: list[str]) -> None:
    """Puts the written files in place: at once where nothing is there, else one by one, the manifest last.

    What else lies in an earlier build's directory stays; what only the earlier build had goes.
    """
    if not directory.exists() or not any(directory.iterdir()):
        staging.replace(directory)
        return
    before = _manifest(directory)
    for name in names:
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (staging / name).replace(directory / name)
    for name in set(before.files if before else ()) - set(names):
        (directory / name).unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def run_directory(name: str, out: str | None) -> Path:
    """Where a run's results go: `out`, or a new directory below `runs`."""
    if out:
        return Path(out)
    first = Path("runs", f"{name}-{datetime.now():%Y%m%d-%H%M%S}")
    names = chain((first,), (first.with_name(f"{first.name}-{number}") for number in count(2)))
    return next(path for path in names if not path.exists())
