"""Cuts a text into its top-level items, without reading them, so that each is parsed by itself."""

from __future__ import annotations

import re
from dataclasses import dataclass

ITEMS = ("import", "mesh", "dims", "layer", "model", "primitive", "strategy", "partition")

_WORDS = "|".join(ITEMS)
# A line that can only be the head of an item. Inside braces one in the first column says that a brace is missing.
_HEAD = rf'(?:{_WORDS})(?:[ \t]*["{{]|[ \t]+[A-Za-z_])'
_SCANNER = re.compile(
    r"""(?P<plain>[^"\#\n{}()\[\];\ \t\r\f\ufeff]+(?:[\ \t\r\f\ufeff]+[^"\#\n{}()\[\];\ \t\r\f\ufeff]+)*)
    |(?P<quiet>"(?:[^"\\\n]|\\[^\n])*"?|\#[^\n]*|[ \t\r\f\ufeff]+)
    |(?P<line>\n)
    |(?P<brace>[{}])
    |(?P<open>[(\[])|(?P<close>[)\]])
    |(?P<semicolon>;)""",
    re.VERBOSE,
)
_NEXT_HEAD = re.compile(_HEAD)
_BRACE_FOLLOWS = re.compile(r"(?:[ \t\r\f\n]|#[^\n]*\n)*\{")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the text that should be one item.

    `open_braces` are the offsets of those that it does not close; `stray` says that it is a `}` of no item.
    """

    start: int
    end: int
    open_braces: tuple[int, ...] = ()
    stray: bool = False


def cut(text: str) -> list[Piece]:
    """The pieces of a text, in order; between them lie only blanks and comments. Linear in the text."""
    pieces: list[Piece] = []
    start = -1  # of the piece that is being read
    end = 0  # of its last token
    braces: list[int] = []
    brackets = 0

    def close() -> None:
        nonlocal start, brackets
        if start >= 0:
            pieces.append(Piece(start, end, tuple(braces)))
        start, brackets = -1, 0
        braces.clear()

    for match in _SCANNER.finditer(text):
        kind, at = match.lastgroup, match.start()
        if kind == "quiet":
            if match.group()[0] != '"':
                continue
        elif kind == "line":
            if not braces and not brackets and start >= 0 and not _BRACE_FOLLOWS.match(text, at):
                close()
            continue
        elif kind == "semicolon" and not braces and not brackets:
            close()
            continue
        elif kind == "plain" and (at == 0 or text[at - 1] == "\n") and _NEXT_HEAD.match(text, at):
            close()
        elif kind == "open":
            brackets += 1
        elif kind == "close":
            brackets = max(brackets - 1, 0)
        elif kind == "brace" and match.group() == "{":
            braces.append(at)
            brackets = 0
        elif kind == "brace":
            brackets = 0
            if not braces:
                close()
                pieces.append(Piece(at, match.end(), stray=True))
                continue
            braces.pop()
            if not braces:
                start, end = (at if start < 0 else start), match.end()
                close()
                continue
        if start < 0:
            start = at
        end = match.end()
    close()
    return pieces
