"""Diagnostics for people: headline, the source with its places underlined, help lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from meshc.diagnostics.arrange import plural
from meshc.diagnostics.model import Diagnostic, Label
from meshc.diagnostics.render.text import WINDOW, Line, clean, paint
from meshc.source import SourceFile

NARROWEST = 40
"""Columns of a line that are shown even where the terminal has to wrap them."""
MOST_LABELS, MOST_ALSO = 6, 2
"""Places that are shown; the others are counted."""


@dataclass(frozen=True, slots=True)
class _Mark:
    """A label on one line: characters `start` to `end` of it."""

    label: Label
    line: int
    start: int
    end: int
    primary: bool


@dataclass(frozen=True, slots=True)
class _Frame:
    """What all lines of one diagnostic share: the gutter's width, colours, and how much of a line is shown."""

    gutter: int
    severity: str
    colour: bool
    window: int

    def row(self, number: str = "", text: str = "") -> str:
        edge = paint(f"{number:>{self.gutter}} |", "frame", self.colour)
        return f"{edge} {text}" if text else edge

    def arrow(self, sign: str, place: str) -> str:
        return f"{' ' * self.gutter}{paint(sign, 'frame', self.colour)} {clean(place)}"

    def remark(self, kind: str, text: str) -> str:
        sign = paint("=", "frame", self.colour)
        return f"{' ' * self.gutter} {sign} {paint(kind, kind, self.colour)}: {clean(text)}"


def render(diagnostics: Iterable[Diagnostic], colour: bool = False, columns: int = 10 * WINDOW) -> str:
    """All of them, with an empty line between two; ends in a newline unless there is nothing.

    `columns` is the width of the terminal.
    """
    return "\n".join("\n".join(_diagnostic(d, colour, columns)) + "\n" for d in diagnostics)


def _diagnostic(diagnostic: Diagnostic, colour: bool, columns: int) -> Iterator[str]:
    head = paint(f"{diagnostic.severity}[{diagnostic.code}]", diagnostic.severity, colour)
    yield head + paint(f": {clean(diagnostic.message)}", "bold", colour)
    labels = [*diagnostic.labels[:MOST_LABELS], *(Label(span, "and here") for span in diagnostic.also[:MOST_ALSO])]
    more = len(diagnostic.labels) + len(diagnostic.also) - len(labels)
    marks = [_mark(label, i == 0) for i, label in enumerate(labels)]
    gutter = max((len(str(mark.line)) for mark in marks), default=1)
    frame = _Frame(gutter, diagnostic.severity, colour, max(NARROWEST, min(WINDOW, columns - gutter - 5)))
    for i, (source, places) in enumerate(_by_file(marks)):
        yield frame.arrow("-->" if i == 0 else ":::", str(places[0].label.span))
        yield frame.row()
        yield from _snippet(source, places, frame)
    if marks and (diagnostic.helps or more):
        yield frame.row()
    if more:
        yield frame.remark("note", f"and {plural(more, 'more place')}")
    for help_line in diagnostic.helps:
        yield frame.remark("help", help_line)


def _mark(label: Label, primary: bool) -> _Mark:
    """Where to underline. Of a span of several lines, the first; of an empty one, one character."""
    span = label.span
    line, column = span.source.position(span.start)
    text = span.source.line(line)
    start = min(column - 1, len(text))  # behind it are only the signs that end a line
    shown = len(text.rstrip())
    end = max(min(start + span.end - span.start, shown), start + 1)
    return _Mark(label, line, start, end, primary)


def _by_file(marks: list[_Mark]) -> list[tuple[SourceFile, list[_Mark]]]:
    """The file of the primary place first. Each file's places begin with the one that its arrow names."""
    # By the text too: each `--set` is a text of its own.
    files: dict[tuple[str, str], list[_Mark]] = {}
    for mark in marks:
        source = mark.label.span.source
        files.setdefault((source.name, source.text), []).append(mark)
    return [(places[0].label.span.source, places) for places in files.values()]


def _snippet(source: SourceFile, marks: list[_Mark], frame: _Frame) -> Iterator[str]:
    previous = None
    for number, places in groupby(sorted(marks, key=lambda m: (m.line, m.start, m.end)), key=lambda m: m.line):
        if previous is not None and number == previous + 2:
            yield frame.row(str(number - 1), Line.of(source.line(number - 1)).window(0, 0, frame.window)[0])
        elif previous is not None and number > previous + 2:
            yield paint("...", "frame", frame.colour)
        yield from _underlined(source, number, list(places), frame)
        previous = number


def _underlined(source: SourceFile, number: int, marks: list[_Mark], frame: _Frame) -> Iterator[str]:
    """A line and below it a row for each place in it; on a long line the line again for places far from each other."""
    text = source.line(number)
    if len(text) > 10 * WINDOW:
        for mark in marks:
            cut = max(0, mark.start - 2 * WINDOW)
            start, end = mark.start - cut, min(mark.end - cut, 4 * WINDOW)
            yield from _rows(number, text[cut : cut + 5 * WINDOW], [replace(mark, start=start, end=end)], frame)
    else:
        yield from _rows(number, text, marks, frame)


def _rows(number: int, text: str, marks: list[_Mark], frame: _Frame) -> Iterator[str]:
    line = Line.of(text + " ")  # a place may be just behind the end
    while marks:
        near = [m for m in marks if line.stops[m.end] - line.stops[marks[0].start] <= frame.window // 2] or marks[:1]
        shown, left = line.window(near[0].start, near[-1].end, frame.window)
        yield frame.row(str(number), shown.rstrip())
        for mark in near:
            yield frame.row("", _underline(mark, line, left, frame))
        marks = [m for m in marks if m not in near]


def _underline(mark: _Mark, line: Line, left: int, frame: _Frame) -> str:
    begin = line.stops[mark.start] - left
    width = max(1, min(line.stops[mark.end] - left, frame.window + 1) - begin)
    style = frame.severity if mark.primary else "note"
    text = clean(mark.label.text)
    sign = ("^" if mark.primary else "-") * width
    return " " * begin + paint(f"{sign} {text}" if text else sign, style, frame.colour)
