"""Checkpoint directories on a disk that may be full, read-only or damaged: one message, and nothing half-written."""

from __future__ import annotations

import logging
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .distributed import is_first
from .errors import UserError

UNFINISHED = ".orbax-checkpoint-tmp"


def complete_steps(directory: Path) -> list[int]:
    """Steps of the checkpoints that were written to their end."""
    try:
        entries = list(directory.iterdir()) if directory.is_dir() else []
        return [int(entry.name) for entry in entries if entry.name.isdecimal() and (entry / "meta").is_dir()]
    except OSError as problem:
        raise UserError(f"cannot read `{directory}`: {problem.strerror}") from None


def local_path(text: str) -> Path:
    """A path of this machine. Of a bucket pathlib would make a directory called `gs:`."""
    text = text.removeprefix("file://")
    if "://" in text:
        raise UserError(f"`{text}` is no path of this machine", "name a directory: buckets are not read or written yet")
    return Path(text).expanduser()


@contextmanager
def writing(directory: Path) -> Iterator[None]:
    """What the disk refuses is the user's to put right. What was half written goes away."""
    try:
        yield
    except Exception as problem:
        reason = disk_reason(problem)
        if reason is None:
            raise
        if is_first():
            clear_unfinished(directory)
        raise UserError(f"cannot save a checkpoint in `{directory}`: {reason}", _after(directory)) from None


def _after(directory: Path) -> str:
    steps = complete_steps(directory)
    goes_on = f"--resume goes on from step {max(steps)}" if steps else "no checkpoint of this run is complete yet"
    return f"make room or choose another directory; {goes_on}"


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    try:
        yield
    except Exception as problem:
        first = (str(problem).splitlines() or [type(problem).__name__])[0]
        raise UserError(
            f"cannot read the checkpoint `{folder}`: {first}",
            "remove it, and --resume takes the one before it",
        ) from None


def disk_reason(problem: BaseException) -> str | None:
    """What the system said: of an OSError, or of tensorstore, which writes its code into a text."""
    if isinstance(problem, OSError):
        return problem.strerror or str(problem)
    code = re.search(r"os_error_code='(\d+)'", str(problem))
    return os.strerror(int(code[1])) if code else None


def clear_unfinished(directory: Path) -> None:
    if directory.is_dir():
        for entry in directory.iterdir():
            if UNFINISHED in entry.name:
                shutil.rmtree(entry, ignore_errors=True)


def quiet_orbax() -> None:
    """A save that fails is told once, by us: orbax logs each thread's traceback, and leaves some to the interpreter."""
    logger = logging.getLogger("absl")
    if _not_orbax in logger.filters:
        return
    logger.addFilter(_not_orbax)
    logging.getLogger("asyncio").addFilter(lambda record: "orbax" not in record.getMessage())
    before = sys.unraisablehook
    closed = "Event loop is closed"
    sys.unraisablehook = lambda args: None if closed in str(args.exc_value) else before(args)


def _not_orbax(record: logging.LogRecord) -> bool:
    return "orbax" not in record.pathname
