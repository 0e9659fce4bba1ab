"""Edits carried out on a text: which of them go together, and what comes out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from meshc.diagnostics.model import Diagnostic, Edit
from meshc.source import SourceFile


def is_safe(diagnostic: Diagnostic) -> bool:
    """Whether it has a cure that nobody need look at."""
    return bool(diagnostic.edits) and all(edit.safe for edit in diagnostic.edits)


def lies_in(diagnostic: Diagnostic, source: SourceFile) -> bool:
    """Whether its cure changes this text and no other."""
    return bool(diagnostic.edits) and all(edit.span.source.name == source.name for edit in diagnostic.edits)


def together(diagnostics: Iterable[Diagnostic]) -> tuple[list[Diagnostic], list[Edit]]:
    """Of cures for one text those that can be carried out at once, the earlier before the later, and their edits.

    Cures that ask for the same edit are one.
    """
    chosen: list[Diagnostic] = []
    edits: dict[tuple[int, int, str], Edit] = {}
    for diagnostic in diagnostics:
        new = {(e.span.start, e.span.end, e.text): e for e in diagnostic.edits}
        if any(_meet(one, other) for one in new for other in edits if one != other):
            continue
        chosen.append(diagnostic)
        edits |= new
    return chosen, sorted(edits.values(), key=lambda edit: edit.span.start)


def _meet(one: tuple[int, int, str], other: tuple[int, int, str]) -> bool:
    """Whether two edits change the same text, or insert at the same place."""
    (start, end, _), (begin, stop, _) = one, other
    return start == begin or (start < stop and begin < end)


def edited(text: str, edits: Sequence[Edit]) -> str:
    """The text with edits carried out that do not meet, by rising offset. New lines end as those of the text do."""
    crlf = "\r\n" in text
    parts, done = [], 0
    for edit in edits:
        new = edit.text.replace("\r\n", "\n").replace("\n", "\r\n") if crlf else edit.text
        parts += [text[done : edit.span.start], new]
        done = edit.span.end
    return "".join([*parts, text[done:]])
