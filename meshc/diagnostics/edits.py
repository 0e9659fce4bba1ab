"""Edits carried out on a text: which of them go together, and what comes out."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence

from meshc.diagnostics.model import Diagnostic, Edit
from meshc.source import SourceFile, Span


def is_safe(diagnostic: Diagnostic) -> bool:
    """Whether it has a cure that nobody need look at."""
    return bool(diagnostic.edits) and all(edit.safe for edit in diagnostic.edits)


def lies_in(diagnostic: Diagnostic, source: SourceFile) -> bool:
    """Whether its cure changes this text and no other."""
    return bool(diagnostic.edits) and all(edit.span.source.name == source.name for edit in diagnostic.edits)


def together(diagnostics: Iterable[Diagnostic]) -> tuple[list[Diagnostic], list[Edit]]:
    """Those cures that can be carried out at once, the earlier before the later, and their edits by rising offset.

    Cures that ask for the same edit are one.
    """
    chosen: list[Diagnostic] = []
    edits: list[Edit] = []  # by their places: none of them meet
    for diagnostic in diagnostics:
        new = [edit for edit in diagnostic.edits if not _there(edit, edits)]
        if any(_meets(edit, edits) for edit in new):
            continue
        chosen.append(diagnostic)
        for edit in new:
            bisect.insort(edits, edit, key=_place)
    return chosen, edits


def _place(edit: Edit) -> tuple[str, int]:
    return edit.span.source.name, edit.span.start


def _there(edit: Edit, edits: Sequence[Edit]) -> bool:
    at = bisect.bisect_left(edits, _place(edit), key=_place)
    same = edits[at] if at < len(edits) else None
    return same is not None and (_place(same), same.span.end, same.text) == (_place(edit), edit.span.end, edit.text)


def _meets(edit: Edit, edits: Sequence[Edit]) -> bool:
    """Whether it changes text that another one changes, or inserts where another one does."""
    at = bisect.bisect_left(edits, _place(edit), key=_place)
    return any(
        _place(other) == _place(edit)
        or (
            other.span.source.name == edit.span.source.name
            and edit.span.start < other.span.end
            and other.span.start < edit.span.end
        )
        for other in edits[max(at - 1, 0) : at + 1]
    )


def edited(text: str, edits: Sequence[Edit]) -> str:
    """The text with edits carried out that do not meet, by rising offset. New lines end as those of the text do."""
    crlf = "\r\n" in text
    parts, done = [], 0
    for edit in edits:
        new = edit.text.replace("\r\n", "\n").replace("\n", "\r\n") if crlf else edit.text
        parts += [text[done : edit.span.start], new]
        done = edit.span.end
    return "".join([*parts, text[done:]])


# ---------------------------------------------------------------- edits to make


def line_after(span: Span, text: str) -> Edit:
    """A line of its own behind the line in which something ends, or behind it where more than a comment follows."""
    source = span.source
    end = source.text.find("\n", span.end)
    end = len(source.text) if end < 0 else end
    rest = source.text[span.end : end].strip()
    if rest and not rest.startswith("#"):
        end = span.end
    line = source.line(source.position(span.start)[0])
    indent = line[: len(line) - len(line.lstrip())] or "  "
    return Edit(Span(source, end, end), f"\n{indent}{text}")


def removed(span: Span, safe: bool = False) -> Edit:
    """Without what stands there: without its lines where nothing else stands on them, else without a separator."""
    text = span.source.text
    begin = text.rfind("\n", 0, span.start) + 1
    end = text.find("\n", span.end)
    end = len(text) if end < 0 else end + 1
    before, after = text[begin : span.start], text[span.end : end]
    rest = after.strip().removeprefix(",").removeprefix(";").strip()
    if not before.strip() and (not rest or rest.startswith("#")):
        return Edit(Span(span.source, begin, end), "", safe)
    stop = span.end + len(after) - len(after.lstrip(" \t"))
    if text[stop : stop + 1] in (",", ";"):
        stop += 1
        stop += len(text[stop:end]) - len(text[stop:end].lstrip(" \t"))
        return Edit(Span(span.source, span.start, stop), "", safe)
    start = begin + len(before.rstrip())
    if text[start - 1 : start] in (",", ";"):
        return Edit(Span(span.source, start - 1, span.end), "", safe)
    return Edit(span, "", safe)
