"""Reading a spec, job or slice from disk: text, or a diagnostic that says why not."""

from __future__ import annotations

import codecs
import errno
from dataclasses import replace
from pathlib import Path

from meshc.diagnostics.model import Diagnostic, Edit, Label
from meshc.source import SourceFile, Span

MAX_BYTES = 16 * 2**20
"""A spec of this size has some 400,000 lines; more than that is another kind of file given by mistake."""


def load(path: Path | str, name: str | None = None, asked: Span | None = None) -> SourceFile | Diagnostic:
    """The text of `path`, called `name` in messages (default: the path as given).

    `asked` is the import or the key that names the file, where there is one.
    """
    path = Path(path)
    name = name or str(path)
    try:
        if path.is_dir():
            return _problem("E0131", f"`{name}` is a directory", asked, "name a file in it")
        if path.is_symlink() and not path.exists():
            return _problem("E0130", f"`{name}` is a link that leads to no file", asked)
        if not path.exists():
            return _no_such_file(path, name, asked)
        if not path.is_file():
            return _problem("E0132", f"`{name}` is not a regular file", asked)
        if (size := path.stat().st_size) > MAX_BYTES:
            return _problem("E0135", f"`{name}` has {size / 2**20:.0f} MiB, of at most {MAX_BYTES // 2**20}", asked)
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        return _problem("E0132", f"`{name}` cannot be read: {reason(error)}", asked)
    return decode(data, name, asked)


def decode(data: bytes, name: str, asked: Span | None = None) -> SourceFile | Diagnostic:
    """Bytes of a file as text. A byte order mark is dropped; CRLF stays, offsets count it."""
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        good = SourceFile(name, data[: error.start].decode())
        where = Span(good, len(good.text), len(good.text))
        message = f"`{name}` is not UTF-8 text: byte {data[error.start]:#04x} at offset {error.start}"
        return _problem("E0133", message, where, "save it as UTF-8")
    if (nul := text.find("\0")) >= 0:
        source = SourceFile(name, text)
        return _problem("E0134", f"`{name}` holds a NUL byte", Span(source, nul, nul + 1), "save it as UTF-8 text")
    return SourceFile(name, text)


def reason(error: Exception) -> str:
    """An operating system's error in its own words, lower case, without the number."""
    text = getattr(error, "strerror", None) or str(error)
    full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT)
    return text[:1].lower() + text[1:] + (" (the disk is full)" if full and "space" not in text else "")


def _problem(code: str, message: str, asked: Span | None, *helps: str) -> Diagnostic:
    return Diagnostic(code, message, (Label(asked),) if asked else (), helps)


def _no_such_file(path: Path, name: str, asked: Span | None) -> Diagnostic:
    """With the nearest name in the same directory, as the import or key would write it."""
    found = _problem("E0130", f"no such file: `{name}`", asked)
    near = _neighbour(path)
    if near is None:
        return found
    written = asked.text.strip("\"'") if asked else name
    instead = str(Path(written).parent / near)
    edits = (Edit(asked, asked.text.replace(written, instead)),) if asked else ()
    return replace(found, helps=(f"did you mean `{instead}`?",), edits=edits)


def _neighbour(path: Path) -> str | None:
    from meshc.diagnostics.suggest import nearest

    try:
        return nearest(path.name, [entry.name for entry in path.parent.iterdir()])
    except OSError:
        return None
