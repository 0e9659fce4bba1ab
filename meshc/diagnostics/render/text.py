"""Source text as a terminal shows it: tabs, wide and invisible characters, colours, a window on a long line."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

TAB = 4
WINDOW = 110
"""Columns of a line that are shown at once, at most."""

_STYLES = {"error": "1;31", "warning": "1;33", "bold": "1", "frame": "1;34", "note": "1;34", "help": "1;36"}
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def paint(text: str, style: str, colour: bool) -> str:
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if colour and text else text


def clean(text: str) -> str:
    """Without characters that would steer the terminal, and on one line."""
    if text.isprintable():
        return text
    return "".join(_visible(char) for char in text.replace("\t", " ").replace("\n", " "))


def _visible(char: str) -> str:
    # Directional marks can make a line read otherwise than it is.
    return "\N{REPLACEMENT CHARACTER}" if unicodedata.category(char) in ("Cc", "Zl", "Zp") or char in _BIDI else char


def _columns(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


@dataclass(frozen=True, slots=True)
class Line:
    """A line of source made visible.

    `stops[i]` is the column where character i begins; the last one is the line's width.
    """

    cells: tuple[str, ...]
    stops: tuple[int, ...]

    @staticmethod
    def of(text: str) -> Line:
        if text.isascii() and text.isprintable():
            return Line(tuple(text), tuple(range(len(text) + 1)))
        cells, stops = [], [0]
        for char in text:
            cell = " " * (TAB - stops[-1] % TAB) if char == "\t" else _visible(char)
            cells.append(cell)
            stops.append(stops[-1] + (len(cell) if char == "\t" else _columns(cell)))
        return Line(tuple(cells), tuple(stops))

    def window(self, start: int, end: int, width: int = WINDOW) -> tuple[str, int]:
        """The part shown when characters `start` to `end` are pointed at, and the column that became its first.

        A whole line where it fits; else with an ellipsis where text is left out.
        """
        if self.stops[-1] <= width:
            return "".join(self.cells), 0
        middle = (self.stops[start] + min(self.stops[end], self.stops[start] + width)) // 2
        left = max(0, min(middle - width // 2, self.stops[-1] - width))
        inside = [i for i in range(len(self.cells)) if left <= self.stops[i] and self.stops[i + 1] <= left + width]
        first, last = inside[0], inside[-1]
        before, after = "…" if first else "", "…" if last + 1 < len(self.cells) else ""
        return before + "".join(self.cells[first : last + 1]) + after, self.stops[first] - len(before)
