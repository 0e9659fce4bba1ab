"""Workflow commands: GitHub shows each at its line of a pull request. Columns are in code points, the end exclusive.

`::error file=a.mesh,line=2,col=3,endColumn=5,title=E0204::message`; see "Workflow commands for GitHub Actions".
"""

from __future__ import annotations

from collections.abc import Iterable

from meshc.diagnostics.model import Diagnostic
from meshc.diagnostics.render.places import in_repository, main_label, several_lines
from meshc.diagnostics.render.text import clean
from meshc.source import Span

MOST = 10
"""Places of one mistake that its message lists."""


def render(diagnostics: Iterable[Diagnostic]) -> str:
    return "".join(f"{_command(d)}\n" for d in diagnostics)


def _command(diagnostic: Diagnostic) -> str:
    main = main_label(diagnostic)
    place = _place(main.span) if main else []
    properties = ",".join(f"{name}={_property(value)}" for name, value in [*place, ("title", diagnostic.code)])
    return f"::{diagnostic.severity} {properties}::{_data(_message(diagnostic))}"


def _place(span: Span) -> list[tuple[str, str]]:
    (line, column), (last, end) = span.source.position(span.start), span.source.position(span.end)
    place = [("file", in_repository(span.source.name) or span.source.name), ("line", str(line))]
    if several_lines(span):  # columns are refused then
        return [*place, ("endLine", str(last))]
    return [*place, ("col", str(column)), ("endColumn", str(end))]


def _message(diagnostic: Diagnostic) -> str:
    """The headline, what labels say, and the cures: an annotation shows no source to point at."""
    shown = main_label(diagnostic)
    lines = [diagnostic.message]
    for label in diagnostic.labels:
        where = "" if label is shown else f"{label.span}: "
        if label.text or (where and shown is None):
            lines.append(f"{where}{label.text}".removesuffix(": "))
    if diagnostic.also:
        rest = ["…"] if diagnostic.also[MOST:] else []
        lines.append(f"and in {', '.join([*map(str, diagnostic.also[:MOST]), *rest])}")
    lines += [f"help: {cure}" for cure in diagnostic.helps]
    return "\n".join(clean(line) for line in lines)


def _data(text: str) -> str:
    """As the runner undoes it, in this order."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
