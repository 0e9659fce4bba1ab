"""Text into tokens. A line's end and `;` are a `_SEP` token where they can end a statement, and nothing elsewhere."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field

from meshc.syntax.generate import Table, load

SEPARATOR, END, BAD = "_SEP", "$END", "BAD"
MAX_NUMBER = 100  # characters; the interpreter itself refuses integers of more than 4300 digits


@dataclass(slots=True)
class Tokens:
    """Parallel lists, one entry a token: its terminal, its offsets. The last one is `$END`.

    `continued` holds the tokens that are the first of a line, where the line goes on inside a bracket.
    """

    missing_braces: int = 0
    kinds: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    continued: set[int] = field(default_factory=set)

    def add(self, kind: str, start: int, end: int) -> None:
        self.kinds.append(kind)
        self.starts.append(start)
        self.ends.append(end)

    def insert_separator(self) -> None:
        """Begin with a separator, which is nowhere in the text."""
        self.kinds.insert(0, SEPARATOR)
        self.starts.insert(0, self.starts[0])
        self.ends.insert(0, self.starts[1])
        self.continued = {number + 1 for number in self.continued}


@functools.cache
def table() -> Table:
    return load()


@functools.cache
def _scanner() -> re.Pattern[str]:
    patterns = table().patterns
    symbols = sorted((w for w in table().words if not w.isidentifier()), key=len, reverse=True)
    return re.compile(
        "|".join(
            (
                r"(?P<space>[ \t\r\f\ufeff]+|\#[^\n]*)",
                r"(?P<line>\n)",
                f"(?P<PRIMED>{patterns['PRIMED']})",
                f"(?P<NAME>{patterns['NAME']})",
                # A number that runs into a name, or is absurdly long, is one bad token and not several good ones.
                f"(?P<NUMBER>{patterns['NUMBER']})(?![A-Za-z0-9_])",
                r"(?P<digits>[0-9][A-Za-z0-9_]*)",
                f"(?P<STRING>{patterns['STRING']})",
                f"(?P<symbol>{'|'.join(map(re.escape, symbols))})",
                r"(?P<semicolon>;)",
                r'(?P<open>"[^\n]*)',
                r"(?P<other>.)",
            )
        ),
        re.DOTALL,
    )


def lex(text: str, start: int, end: int, missing_braces: int = 0) -> Tokens:
    """The tokens of a part of a text, with offsets into the whole. Never fails: what is none is a `BAD` token.

    `missing_braces` are added at the end, so that an item whose last braces were forgotten can be read all the same.
    """
    tokens = Tokens(missing_braces)
    kinds, words = tokens.kinds, table().words
    brackets = 0
    new_line = False
    for match in _scanner().finditer(text, start, end):
        kind = match.lastgroup
        if kind == "space":
            continue
        if kind == "line":
            new_line = True
            if brackets or not kinds or kinds[-1] in (SEPARATOR, "{"):
                continue
            tokens.add(SEPARATOR, match.start(), match.end())
            continue
        if kind == "semicolon":
            if not kinds or kinds[-1] not in (SEPARATOR, "{"):
                tokens.add(SEPARATOR, match.start(), match.end())
            continue
        word = match.group()
        inside = brackets
        if kind == "symbol":
            kind = word
            if word in "([":
                brackets += 1
            elif word in ")]":
                brackets = max(brackets - 1, 0)
            elif word in "{}":
                brackets = 0
                _drop_separator(tokens)
        elif kind == "NAME":
            if word in words:
                kind = word
        elif kind not in ("PRIMED", "STRING") and (kind != "NUMBER" or len(word) > MAX_NUMBER):
            kind = BAD
        if new_line and inside and kind not in ("{", "}"):
            tokens.continued.add(len(kinds))
        new_line = False
        tokens.add(str(kind), match.start(), match.end())
    _drop_separator(tokens)
    for _ in range(missing_braces):
        tokens.add("}", end, end)
    tokens.add(END, end, end)
    return tokens


def _drop_separator(tokens: Tokens) -> None:
    if tokens.kinds and tokens.kinds[-1] == SEPARATOR:
        tokens.kinds.pop()
        tokens.starts.pop()
        tokens.ends.pop()
