"""One cause, one report: diagnostics that say the same of several places are one that knows all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from meshc.diagnostics.model import Diagnostic, Edit, Label
from meshc.source import Span


def folded(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Each report once, in the order of the first places."""
    groups: dict[object, list[Diagnostic]] = {}
    for i, diagnostic in enumerate(diagnostics):
        groups.setdefault(_cause(diagnostic) or i, []).append(diagnostic)
    return [_one(group) for group in groups.values()]


def _cause(diagnostic: Diagnostic) -> tuple[str, str] | None:
    """What two reports of one mistake have in common; None for one that stands for itself.

    Where a name is wrong, it is wrong at each of its places. Syntax errors and warnings are about their own place: two
    open braces are two mistakes, and each warning can be allowed where it stands.
    """
    if diagnostic.cause:
        return ("", diagnostic.cause)
    if diagnostic.code.startswith("E02") and "`" in diagnostic.message:
        return (diagnostic.code, diagnostic.message)
    return None


def _one(group: Sequence[Diagnostic]) -> Diagnostic:
    """The first of them, with the places of the others."""
    first = group[0]
    if len(group) == 1:
        return first
    also: dict[Span, None] = {}
    notes: dict[str, Label] = {}
    for other in group[1:]:
        if other.span is None:
            continue
        if other.message == first.message or other.message in notes:
            also[other.span] = None
        else:
            notes[other.message] = Label(other.span, other.message)
    edits: dict[Edit, None] = {edit: None for one in group for edit in one.edits}
    whole = all(one.edits for one in group)  # half a cure is none
    return replace(
        first,
        labels=(*first.labels, *notes.values()),
        edits=tuple(edits) if whole else (),
        also=tuple(also),
    )
