"""Many files of ids as one long sequence of tokens, and its windows by index."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..errors import UserError

CHECKED_AT_START = 1 << 28  # ids; a longer stream is checked window by window, not read from end to end before step 1


@dataclass(frozen=True)
class Part:
    """The ids of one file, and its name for messages. Memory-mapped where the file is one of tokens."""

    name: str
    ids: np.ndarray  # 1-d, integers


@dataclass(frozen=True, eq=False)
class Stream:
    """The parts end to end. Each is a document, or several: an id `separator` ends one, too."""

    parts: Sequence[Part]
    separator: int | None = None

    @cached_property
    def starts(self) -> np.ndarray:
        """Where each part begins, and where the last one ends."""
        return np.cumsum([0, *(len(part.ids) for part in self.parts)])

    def __len__(self) -> int:
        return int(self.starts[-1])

    def read(self, start: int, count: int) -> np.ndarray:
        """`count` ids from `start` on, as int64, across as many parts as it takes."""
        pieces = []
        part = bisect_right(self.starts, start) - 1
        while count > 0:
            offset = start - int(self.starts[part])
            piece = self.parts[part].ids[offset : offset + count]
            pieces.append(piece)
            start, count, part = start + len(piece), count - len(piece), part + 1
        return np.concatenate(pieces).astype(np.int64)

    def segments(self, start: int, ids: np.ndarray) -> np.ndarray:
        """Of each of these ids, read from `start` on, the document it is of: int64, counted from 0."""
        begins = np.zeros(len(ids), np.int64)
        first, last = (bisect_right(self.starts, position) for position in (start, start + len(ids) - 1))
        begins[np.unique(self.starts[first:last]) - start] = 1
        if self.separator is not None:
            begins[1:] |= ids[:-1] == self.separator
        return np.cumsum(begins)

    def place(self, position: int) -> tuple[str, int]:
        """File and offset in it of one id."""
        part = bisect_right(self.starts, position) - 1
        return self.parts[part].name, position - int(self.starts[part])

    def check(self, high: int, input_name: str) -> None:
        """Raises `UserError` where an id is not in [0, high)."""
        if len(self) > CHECKED_AT_START:
            return
        for part, start in zip(self.parts, self.starts, strict=False):
            if len(part.ids) and (int(part.ids.max()) >= high or int(part.ids.min()) < 0):
                self.check_ids(part.ids, int(start), high, input_name)

    def check_ids(self, ids: np.ndarray, start: int, high: int, input_name: str) -> None:
        """The same for ids read from `start` on."""
        wrong = np.flatnonzero((ids < 0) | (ids >= high))
        if len(wrong):
            name, offset = self.place(start + int(wrong[0]))
            raise UserError(
                f"`{name}` holds id {int(ids[wrong[0]])} at token {offset}; `{input_name}` takes 0 to {high - 1}",
                "enlarge the vocabulary of the spec, or use the tokenizer that the model is for",
            )


@dataclass(frozen=True, eq=False)
class Windows:
    """Window i of a stream: ids [i * length, (i + 1) * length). What is left at the end is less than one window.

    segments: names of inputs that take the document of each id
    """

    stream: Stream
    length: int
    high: int
    input_name: str
    segments: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.stream) // self.length

    def __getitem__(self, index: int) -> dict[str, np.ndarray]:
        start = int(index) * self.length
        ids = self.stream.read(start, self.length)
        self.stream.check_ids(ids, start, self.high, self.input_name)
        return {self.input_name: ids, **dict.fromkeys(self.segments, self.stream.segments(start, ids))}
