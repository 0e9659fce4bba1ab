"""What every command does with its diagnostics, and how it ends where they cannot be printed or there is a bug."""

from __future__ import annotations

import codecs
import contextlib
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from meshc import __version__
from meshc.diagnostics.arrange import has_errors
from meshc.diagnostics.model import Diagnostic

WIDEST = 1_000
BUG = 3
"""The exit code."""


def rewritten(path: Path, text: str) -> list[Diagnostic]:
    """Writes a file anew, whole or not at all. Its mode stays, and so does a byte order mark."""
    from meshc.diagnostics.run import cannot_write, read_only
    from meshc.load import reason

    path = path.resolve()
    staging = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        mode = path.stat().st_mode
        if not mode & 0o222:  # to put another file in its place would be possible all the same
            return [read_only(str(path))]
        with path.open("rb") as old:
            mark = codecs.BOM_UTF8 if old.read(3) == codecs.BOM_UTF8 else b""
        staging.write_bytes(mark + text.encode())
        staging.chmod(mode)
        staging.replace(path)
    except OSError as error:
        return [cannot_write(str(path), reason(error))]
    finally:
        with contextlib.suppress(OSError):
            staging.unlink(missing_ok=True)
    return []


def fail(*diagnostics: Diagnostic) -> int:
    show(diagnostics, "full", sys.stderr)
    return 1


def show(diagnostics: Iterable[Diagnostic], form: str, stream: Any) -> None:
    text = _rendered(diagnostics, form, stream)
    if text:
        stream.write(text)


def _rendered(diagnostics: Iterable[Diagnostic], form: str, stream: Any) -> str:
    match form:
        case "json":
            from meshc.diagnostics.render import json

            return json.render(diagnostics)
        case "sarif":
            from meshc.diagnostics.render import sarif

            return sarif.render(diagnostics)
        case "github":
            from meshc.diagnostics.render import github

            return github.render(diagnostics)
        case "concise":
            from meshc.diagnostics.render import concise

            return concise.render(diagnostics)
    from meshc.diagnostics.render import full

    text = full.render(diagnostics, _coloured(stream), _columns(stream))
    return text + "\n" if text else ""


def _coloured(stream: Any) -> bool:
    """https://no-color.org and https://force-color.org: what is set and not empty, the first before the second."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream.isatty() and os.environ.get("TERM") != "dumb")


def _columns(stream: Any) -> int:
    """How wide the terminal is; what is no terminal takes any width."""
    return shutil.get_terminal_size().columns if stream.isatty() else WIDEST


def exit_code(diagnostics: Sequence[Diagnostic], strict: bool) -> int:
    return 1 if has_errors(diagnostics) or (strict and diagnostics) else 0


def unwind_when_told_to_end() -> None:
    """SIGTERM and SIGHUP end us as Ctrl-C does: by way of all that has children to end and files to remove."""
    import signal

    def end(number: int, frame: object) -> NoReturn:
        sys.exit(128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # under nohup, no SIGHUP
            signal.signal(number, end)


def unprinted(error: OSError) -> int:
    """Output that a full disk did not take; the message neither, if it goes there, too."""
    from meshc.diagnostics import run as say
    from meshc.load import reason

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    with contextlib.suppress(OSError):
        fail(say.unprinted(reason(error)))
        sys.stderr.flush()
        return 1
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    return 1


def bug(error: Exception) -> int:
    if os.environ.get("MESHC_DEBUG"):
        import traceback

        traceback.print_exception(error)
    sys.stderr.write(
        f"meshc {__version__} has a bug: {type(error).__name__}: {error}\n"
        "please report it with the spec that shows it; MESHC_DEBUG=1 prints where it happened\n"
    )
    return BUG
