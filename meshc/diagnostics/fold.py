"""One cause, one report: diagnostics that say the same of several places are one that knows all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from meshc.diagnostics.edits import together
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
    """The first of them with the places of the others; of those that say different things, the simplest."""
    first = group[0]
    if len(group) == 1:
        return first
    if any(other.message != first.message for other in group):
        first = min(group, key=lambda d: len(d.labels))
    also: dict[Span, None] = {}
    notes: dict[str, Label] = {}
    for other in group:
        if other is first or other.span is None:
            continue
        if other.message == first.message or other.message in notes:
            also[other.span] = None
        else:
            notes[other.message] = Label(other.span, other.message)
    same = [one for one in group if one.message == first.message]
    return replace(first, labels=(*first.labels, *notes.values()), edits=_cure(same), also=tuple(also))


def _cure(same: Sequence[Diagnostic]) -> tuple[Edit, ...]:
    """What mends all places; nothing where some have no cure, for half of one is none, or where two would meet."""
    if not all(one.edits for one in same):
        return ()
    chosen, edits = together(same)
    return tuple(edits) if len(chosen) == len(same) else ()
