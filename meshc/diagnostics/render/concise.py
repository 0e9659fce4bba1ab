"""One line for each diagnostic: `file:line:column: error[E0201]: message`."""

from __future__ import annotations

from collections.abc import Iterable

from meshc.diagnostics.arrange import plural
from meshc.diagnostics.model import Diagnostic
from meshc.diagnostics.render.text import clean


def render(diagnostics: Iterable[Diagnostic]) -> str:
    return "".join(f"{_line(d)}\n" for d in diagnostics)


def _line(diagnostic: Diagnostic) -> str:
    place = f"{diagnostic.span}: " if diagnostic.span else ""
    more = f" (and {plural(len(diagnostic.also), 'more place')})" if diagnostic.also else ""
    return clean(f"{place}{diagnostic.severity}[{diagnostic.code}]: {diagnostic.message}{more}")
