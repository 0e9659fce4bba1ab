"""The comments of a text, which the tree does not hold: the formatter takes each from here once, by its place."""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass

_SCANNER = re.compile(r'"(?:[^"\\\n]|\\[^\n])*"|(\#[^\n]*)|(\{)')


@dataclass(frozen=True, slots=True)
class Comment:
    text: str
    start: int
    end: int


class Comments:
    """All comments of a text, in order, and which of them are taken."""

    def __init__(self, text: str) -> None:
        self.text = text
        found = (m for m in _SCANNER.finditer(text) if m.group(1))
        self._all = [Comment(m.group().rstrip(), m.start(), m.start() + len(m.group().rstrip())) for m in found]
        self._starts = [comment.start for comment in self._all]
        self._taken: set[int] = set()

    def between(self, start: int, end: int) -> list[Comment]:
        """Those that begin in a range and are not taken."""
        first, last = bisect.bisect_left(self._starts, start), bisect.bisect_left(self._starts, end)
        return [comment for comment in self._all[first:last] if comment.start not in self._taken]

    def take(self, start: int, end: int) -> list[Comment]:
        comments = self.between(start, end)
        self._taken.update(comment.start for comment in comments)
        return comments

    def same_line(self, start: int, end: int) -> bool:
        return self.text.find("\n", start, end) < 0

    def blank_between(self, start: int, end: int) -> bool:
        """There is an empty line between two places, which no other code or comment separates."""
        return self.text[start:end].translate(_BLANKS).count("\n\n") > 0

    def opening_brace(self, start: int) -> int:
        """The first `{` at or after a place that is in no text and no comment."""
        while match := _SCANNER.search(self.text, start):
            if match.group(2):
                return match.start()
            start = match.end()
        return len(self.text)


_BLANKS = {ord(char): None for char in " \t\r\f,;"}
