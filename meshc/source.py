"""Source text and places in it. Offsets inside; lines and columns only at the edge."""

from __future__ import annotations

import bisect
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import ClassVar


@dataclass(frozen=True, eq=False)
class SourceFile:
    """One text, by the name that messages print. Two files are the same only if they are the same object."""

    name: str
    text: str = field(repr=False)
    start: ClassVar[int] = 0

    @property
    def source(self) -> SourceFile:
        """A file is the whole part of itself."""
        return self

    @cached_property
    def line_starts(self) -> tuple[int, ...]:
        lines = self.text.split("\n")
        return tuple(accumulate((len(line) + 1 for line in lines[:-1]), initial=0))

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both counted from 1."""
        line = bisect.bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of a line, counted from 1, without its end."""
        start = self.line_starts[number - 1]
        end = self.line_starts[number] if number < len(self.line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")


@dataclass(eq=False, slots=True)
class Part:
    """A stretch of a file that an editor's session moves as a whole, to where it stands in the newest text.

    All else in the compiler is frozen. This is not, so that what was made of an item needs not be made anew when only
    the text above it has changed.
    """

    source: SourceFile
    start: int


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of a file, or of a part of one: `first` and `last` count from where `origin` starts.

    `start` and `end` are offsets into the file. Two spans are the same only if they are of the same origin.
    """

    origin: SourceFile | Part
    first: int
    last: int

    @property
    def source(self) -> SourceFile:
        return self.origin.source

    @property
    def start(self) -> int:
        return self.origin.start + self.first

    @property
    def end(self) -> int:
        return self.origin.start + self.last

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

    @property
    def line(self) -> int:
        return self.source.position(self.start)[0]

    def to(self, other: Span) -> Span:
        """The range from this one's start to the other's end."""
        if self.origin is other.origin:
            return Span(self.origin, self.first, other.last)
        return Span(self.source, self.start, other.end)

    @property
    def fixed(self) -> Span:
        """The same place, which stays where it is when its part moves."""
        return Span(self.source, self.start, self.end)

    def head(self, length: int) -> Span:
        """The first `length` letters."""
        return Span(self.origin, self.first, self.first + length)

    def __str__(self) -> str:
        line, column = self.source.position(self.start)
        return f"{self.source.name}:{line}:{column}"
