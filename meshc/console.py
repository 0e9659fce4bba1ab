"""What every command does with its diagnostics, and how it ends where they cannot be printed or there is a bug."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from meshc import __version__
from meshc.diagnostics.arrange import has_errors
from meshc.diagnostics.model import Diagnostic

BUG = 3
"""The exit code."""


def rewritten(path: Path, text: str) -> list[Diagnostic]:
    """Writes a file anew, whole or not at all."""
    from meshc.diagnostics.run import cannot_write
    from meshc.load import reason

    path = path.resolve()
    staging = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        staging.write_bytes(text.encode())
        staging.chmod(path.stat().st_mode)
        staging.replace(path)
    except OSError as error:
        return [cannot_write(str(path), reason(error))]
    finally:
        staging.unlink(missing_ok=True)
    return []


def fail(*diagnostics: Diagnostic) -> int:
    show(diagnostics, "full", sys.stderr)
    return 1


def show(diagnostics: Iterable[Diagnostic], form: str, stream: Any) -> None:
    from meshc.diagnostics.render import concise, full

    if form == "json":
        from meshc.diagnostics.render import json

        text = json.render(diagnostics)
    elif form == "concise":
        text = concise.render(diagnostics)
    else:
        colour = stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        text = full.render(diagnostics, colour)
        text += "\n" if text else ""
    if text:
        stream.write(text)


def exit_code(diagnostics: Sequence[Diagnostic], strict: bool) -> int:
    return 1 if has_errors(diagnostics) or (strict and diagnostics) else 0


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
