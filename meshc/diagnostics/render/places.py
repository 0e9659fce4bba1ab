"""Places for programs that read the output: which file a text is, as its repository calls it, and UTF-16 columns."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from meshc.diagnostics.model import Diagnostic, Label
from meshc.source import SourceFile, Span


def is_file(source: SourceFile) -> bool:
    """Whether a text lies in a file of the user's: not a flag, nor what ships with the compiler."""
    return not source.name.startswith("--") and (not source.name.startswith("std/") or Path(source.name).is_file())


def main_label(diagnostic: Diagnostic) -> Label | None:
    """The label to show it at: the first one that lies in a file, since nothing else can be opened."""
    return next((label for label in diagnostic.labels if is_file(label.span.source)), None)


def in_repository(name: str) -> str | None:
    """The path of a file from the root of its repository, with `/`; None where it lies in none.

    What reads annotations and SARIF knows paths from there only, wherever meshc was called.
    """
    path = _path(name)
    root = _root(path.parent)
    return path.relative_to(root).as_posix() if root else None


def _path(name: str) -> Path:
    """By its directory's real path; the file's own name stays, should it be a link."""
    path = Path(name).absolute()
    return Path(os.path.realpath(path.parent)) / path.name


@lru_cache(maxsize=256)
def _root(directory: Path) -> Path | None:
    """The nearest directory that has a `.git` (a file in a worktree); else that of the workflow that runs us."""
    for parent in (directory, *directory.parents):
        if (parent / ".git").exists():
            return parent
    workspace = os.environ.get("GITHUB_WORKSPACE")
    root = Path(os.path.realpath(workspace)) if workspace else None
    return root if root and directory.is_relative_to(root) else None


def uri(name: str) -> tuple[str, bool]:
    """A file's URI, and whether it is relative: to its repository, else to the current directory if it lies below."""
    relative = in_repository(name)
    if relative is None and not Path(name).is_absolute() and ".." not in PurePosixPath(name).parts:
        relative = PurePosixPath(name).as_posix()
    if relative is not None:
        return quote(relative), True
    return _path(name).as_uri(), False


def utf16(source: SourceFile, offset: int) -> tuple[int, int]:
    """Line and column of an offset, both from 1; the column in UTF-16 code units."""
    line, column = source.position(offset)
    before = source.text[offset - column + 1 : offset]
    return line, column if before.isascii() else len(before.encode("utf-16-le", "surrogatepass")) // 2 + 1


def several_lines(span: Span) -> bool:
    return span.source.position(span.start)[0] != span.source.position(span.end)[0]
