"""Where the parser stopped, and what could stand there in the words of the language."""

from __future__ import annotations

import re
from dataclasses import dataclass

from meshc.source import SourceFile, Span

RESERVED = frozenset("as if return true false none and or not".split())
COMPARISONS = frozenset("== != < <= > >=".split())
OPERATORS = COMPARISONS | frozenset("or and not + - * / // % @ **".split())
_NO_MORE = re.compile(r"\s*\Z")
_LINE_END = frozenset(("_SEP", "$END"))


@dataclass(frozen=True, slots=True)
class Context:
    """Where the parser stopped: the token, its neighbours, and the terminals that could stand in its place.

    `opened` is the innermost bracket or brace that is open here, and `closes` whether it is closed further on.
    `continued` is true for the first token of a line inside a bracket; `item` is the word that the item begins with.
    """

    source: SourceFile
    kind: str
    span: Span
    previous_kind: str
    previous: Span | None
    next_kind: str
    expected: frozenset[str]
    opened: Span | None
    closes: bool
    continued: bool
    item: str

    @property
    def begins_statement(self) -> bool:
        """A statement of a layer or model could begin here."""
        return {"param", "return"} <= self.expected

    @property
    def begins_rule(self) -> bool:
        return {"exchange", "if"} <= self.expected

    @property
    def ends_line(self) -> bool:
        """Something is missing at the end of the line before, rather than wrong here."""
        if self.previous is None:
            return False
        between = self.source.text[self.previous.end : self.span.start]
        return self.kind in _LINE_END or not self.span.text or (self.kind == "}" and "\n" in between)

    @property
    def place(self) -> Span:
        """What to point at: the token, or where it is missing."""
        if self.ends_line and self.previous is not None:
            return Span(self.source, self.previous.end, self.previous.end)
        return self.span

    @property
    def found(self) -> str:
        if self.kind == "_SEP" and ";" in self.span.text:
            return "`;`"
        if self.ends_line:
            return "the end of the file" if _NO_MORE.match(self.source.text, self.place.end) else "the end of the line"
        return f"`{printable(self.span.text)}`"

    def adjacent(self, kind: str) -> bool:
        """The next token is of this kind and follows without a blank."""
        return self.next_kind == kind and self.source.text[self.span.end :].startswith(kind)


def printable(text: str, limit: int = 40) -> str:
    """Text of a user as a message can hold it: on one line, without backticks, not too long."""
    shown = "".join(c if c.isprintable() and c != "`" else f"\\u{ord(c):04x}" for c in text[:limit])
    return shown if len(text) <= limit else shown + "…"


def wanted(at: Context) -> str:
    """What could stand here, the likely of it: `a value`, "`,` or `)`"."""
    words = _kinds(at) + [f"`{word}`" for word in sorted(_symbols(at))]
    if _LINE_END & at.expected and "NUMBER" not in at.expected:
        words.append("the end of the line")
    if not words:
        return "nothing more"
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]


def _kinds(at: Context) -> list[str]:
    if at.begins_statement:
        return ["a statement"]
    if at.begins_rule:
        return ["a rule"]
    if "NUMBER" in at.expected:
        return ["a value"]
    if "NAME" in at.expected:
        return ["a dim" if "PRIMED" in at.expected else "a name"]
    if "STRING" in at.expected:
        return ["a text in double quotes"]
    if len(OPERATORS & at.expected) > 1:
        return ["an operator"]
    return []


def _symbols(at: Context) -> frozenset[str]:
    """The words and signs worth naming beside the kinds."""
    symbols = at.expected - _LINE_END - {"NAME", "PRIMED", "NUMBER", "STRING"}
    if at.begins_statement or at.begins_rule:
        return symbols & {"}"}
    if "NUMBER" in at.expected:
        return symbols & {")", "]"}
    if "NAME" in at.expected:
        return frozenset(symbol for symbol in symbols if not symbol.isidentifier() or symbol == "none")
    if len(OPERATORS & at.expected) > 1:
        symbols -= OPERATORS | {"(", "="}
    if _LINE_END & at.expected:
        symbols -= {"}"}
    likely = symbols - {".", "[", "as", "of"}
    if not symbols & {")", "]"}:
        likely -= {","}
    return likely if likely or _kinds(at) or _LINE_END & at.expected else symbols
