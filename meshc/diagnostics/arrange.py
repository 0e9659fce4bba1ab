"""Diagnostics as a list for people: each once, in the order of the text, and counted."""

from __future__ import annotations

from collections.abc import Iterable

from meshc.diagnostics.model import Diagnostic


def arranged(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Each problem once, sorted by file and place; those without a place come first."""
    unique = {_identity(d): d for d in reversed(list(diagnostics))}
    return tuple(sorted(unique.values(), key=_order))


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    return any(d.severity == "error" for d in diagnostics)


def counted(diagnostics: Iterable[Diagnostic]) -> str:
    """`2 errors and 1 warning`; empty where there is none."""
    severities = [d.severity for d in diagnostics]
    numbers = [(severities.count(word), word) for word in ("error", "warning")]
    return " and ".join(plural(number, word) for number, word in numbers if number)


def plural(number: int, word: str) -> str:
    """`1 host`, `2 hosts`, `2 processes`."""
    return f"{number} {word}" if number == 1 else f"{number} {word}{'es' if word.endswith('s') else 's'}"


def _place(diagnostic: Diagnostic) -> tuple[str, int, int]:
    span = diagnostic.span
    return (span.source.name, span.start, span.end) if span else ("", 0, 0)


def _identity(diagnostic: Diagnostic) -> tuple[object, ...]:
    # By the file's name: a file that two specs import is read twice.
    return (diagnostic.code, diagnostic.message, _place(diagnostic))


def _order(diagnostic: Diagnostic) -> tuple[object, ...]:
    return (*_place(diagnostic), diagnostic.code, diagnostic.message)
