"""Lays out one statement: on its line if it fits, else with brackets broken, an entry a line, outermost first."""

from __future__ import annotations

from dataclasses import dataclass, field

WIDTH = 100
INDENT = "  "


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a bracket, with the comments on the lines before it and the one behind it."""

    doc: Doc
    before: tuple[str, ...] = ()
    behind: str = ""


@dataclass(frozen=True, slots=True)
class Bracket:
    """Entries between brackets. `last` are the comments between the last entry and the closing bracket."""

    opening: str
    entries: tuple[Entry, ...]
    closing: str
    last: tuple[str, ...] = ()

    @property
    def commented(self) -> bool:
        return bool(self.last) or any(entry.before or entry.behind for entry in self.entries)


Doc = str | Bracket | tuple["Doc", ...]


def flat(doc: Doc) -> str | None:
    """The whole on one line; None where a comment forbids it."""
    if isinstance(doc, str):
        return doc
    if isinstance(doc, tuple):
        parts = [flat(part) for part in doc]
        return None if None in parts else "".join(part or "" for part in parts)
    entries = None if doc.commented else flat(tuple(_separated(doc.entries)))
    return None if entries is None else doc.opening + entries + doc.closing


def _separated(entries: tuple[Entry, ...]) -> list[Doc]:
    docs: list[Doc] = []
    for entry in entries:
        docs += [", ", entry.doc] if docs else [entry.doc]
    return docs


@dataclass(slots=True)
class _Writer:
    lines: list[str] = field(default_factory=lambda: [""])

    def put(self, text: str) -> None:
        self.lines[-1] += text

    def write(self, doc: Doc, indent: str, rest: int) -> None:
        """`rest` is the width of what must follow on the last line."""
        if isinstance(doc, str):
            self.put(doc)
        elif isinstance(doc, tuple):
            for number, part in enumerate(doc):
                self.write(part, indent, _head(doc[number + 1 :]) + rest)
        else:
            text = flat(doc)
            if text is not None and (len(self.lines[-1]) + len(text) + rest <= WIDTH or not doc.entries):
                self.put(text)
            else:
                self.write_broken(doc, indent)

    def write_broken(self, doc: Bracket, indent: str) -> None:
        inner = indent + INDENT
        self.put(doc.opening)
        for entry in doc.entries:
            self.lines += [inner + comment for comment in entry.before] + [inner]
            self.write(entry.doc, inner, 1)
            self.put("," + (f"  {entry.behind}" if entry.behind else ""))
        self.lines += [inner + comment for comment in doc.last] + [indent]
        self.put(doc.closing)


def _head(docs: tuple[Doc, ...]) -> int:
    """The width of docs up to the first place where a line can be broken."""
    width = 0
    for doc in docs:
        if isinstance(doc, str):
            width += len(doc)
        elif isinstance(doc, tuple):
            return width + _head(doc)
        else:
            return width + len(doc.opening)
    return width


def lay_out(doc: Doc, indent: str) -> list[str]:
    """The lines of a statement, each with its indentation."""
    writer = _Writer([indent])
    writer.write(doc, indent, 0)
    return writer.lines
