"""The messages of syntax errors: what was found, what could stand there, in the words of the language."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from meshc.diagnostics.model import Diagnostic, Edit, Label
from meshc.source import SourceFile, Span

ITEMS = ("import", "mesh", "dims", "layer", "model", "primitive", "strategy", "partition")
RESERVED = frozenset("as if return true false none and or not".split())
PLACES = ("params", "grads", "optimizer")


@dataclass(frozen=True, slots=True)
class Context:
    """Where the parser stopped: the token there, its neighbours, what could stand in its place, the innermost open bracket.

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
    continued: bool
    item: str


def _clean(text: str, limit: int = 40) -> str:
    """Text of a user as a message can hold it."""
    shown = "".join(c if c.isprintable() and c != "`" else f"\\u{ord(c):04x}" for c in text[: limit + 1])
    return shown if len(text) <= limit else shown[:limit] + "…"


def _error(
    code: str,
    message: str,
    span: Span,
    label: str = "",
    *more: Label,
    helps: tuple[str, ...] = (),
    edits: tuple[Edit, ...] = (),
) -> Diagnostic:
    return Diagnostic(code, message, (Label(span, label), *more), helps, edits)


# ---------------------------------------------------------------- a token that cannot stand where it stands


def unexpected(at: Context) -> Diagnostic:
    """The most telling message for the place where the parser stopped."""
    for special in (_bad_token, _reserved, _bracket_not_closed, _near_miss):
        if diagnostic := special(at):
            return diagnostic
    return _error("E0101", f"expected {wanted(at.expected)}, found {_found(at)}", _place(at))


def _place(at: Context) -> Span:
    if at.kind in ("$END", "_SEP") and at.previous is not None:
        return Span(at.source, at.previous.end, at.previous.end)
    return at.span


def _found(at: Context) -> str:
    if at.kind == "$END":
        return "the end of the item"
    if at.kind == "_SEP":
        return "`;`" if ";" in at.span.text else "the end of the line"
    return f"`{_clean(at.span.text)}`"


_OPERATORS = frozenset("or and not == != < <= > >= + - * / // % @ **".split())


def wanted(expected: frozenset[str]) -> str:
    """A set of terminals in the user's words."""
    words: list[str] = []
    names, values = "NAME" in expected, "NUMBER" in expected
    if {"param", "return"} <= expected and "=" not in expected:
        words.append("a statement")
    elif "exchange" in expected and "if" in expected:
        words.append("a rule")
    elif values:
        words.append("a value")
    elif names:
        words.append("a name" if "PRIMED" not in expected else "a dim")
    elif "STRING" in expected:
        words.append("a text in double quotes")
    elif "import" in expected:
        words.append("an item (" + ", ".join(f"`{w}`" for w in ITEMS) + ")")
    if not values and len(_OPERATORS & expected) > 1:
        words.append("an operator")
    covered = _OPERATORS | {"_SEP", "$END"} if values or len(_OPERATORS & expected) > 1 else {"_SEP", "$END"}
    if names or values or "import" in expected:
        covered = covered | {word for word in expected if word.isidentifier()} | {"NAME", "PRIMED"}
    if values:
        covered = covered | {"(", "["}
    words += sorted(f"`{w}`" for w in expected - covered if w not in ("NAME", "PRIMED", "NUMBER", "STRING"))
    if "_SEP" in expected:
        words.append("the end of the line")
    elif "$END" in expected:
        words.append("the end of the item")
    words = list(dict.fromkeys(words)) or ["nothing more"]
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]


def _bad_token(at: Context) -> Diagnostic | None:
    return None


def _reserved(at: Context) -> Diagnostic | None:
    if at.kind in RESERVED and "NAME" in at.expected:
        return _error("E0109", f"`{at.kind}` is a word of the language and cannot be a name", at.span)
    return None


def _bracket_not_closed(at: Context) -> Diagnostic | None:
    return None


def _near_miss(at: Context) -> Diagnostic | None:
    return None


# ---------------------------------------------------------------- mistakes that the grammar lets pass


def number_too_large(span: Span) -> Diagnostic:
    return _error("E0107", f"`{_clean(span.text)}` is larger than any number", span)


def unknown_escape(span: Span) -> Diagnostic:
    return _error(
        "E0119",
        f"`{_clean(span.text)}` means nothing in a text",
        span,
        helps=(r"write \\ for a backslash; there are \" \\ \n \t",),
    )


def positional_after_keyword(span: Span, keyword: Span) -> Diagnostic:
    return _error(
        "E0114",
        "an argument without a name stands after one with a name",
        span,
        "",
        Label(keyword, "this one has a name"),
        helps=("write the arguments without names first",),
    )


def said_twice(span: Span, first: Span) -> Diagnostic:
    return _error("E0113", f"`{_clean(span.text)}` is said twice", span, "", Label(first, "first here"))


def flag_without_axes(span: Span) -> Diagnostic:
    return _error("E0113", f"`{_clean(span.text)}` says how axes are used, and `none` clears them", span)


def too_deep(span: Span, limit: int) -> Diagnostic:
    start = Span(span.source, span.start, min(span.end, span.start + 40))
    return _error(
        "E0110", f"this is nested more than {limit} levels deep", start, helps=("give a part of it a name of its own",)
    )


def unknown_place(kind: object) -> Diagnostic:
    text, span = kind.text, kind.span  # type: ignore[attr-defined]
    near = difflib.get_close_matches(text, PLACES, 1, 0.5)
    helps = (f"did you mean `{near[0]}`?",) if near else ("places are `within …`, `params`, `grads` and `optimizer`",)
    return _error("E0112", f"`{_clean(text)}` is no place for rules", span, helps=helps)


# ---------------------------------------------------------------- items and files


def brace_not_closed(opened: Span, end: Span) -> Diagnostic:
    return _error("E0102", "this `{` is never closed", opened, "opened here", Label(end, "the item ends here"))


def stray_brace(span: Span) -> Diagnostic:
    return _error("E0103", "this `}` closes nothing", span)


def no_item(span: Span, word: str) -> Diagnostic:
    near = difflib.get_close_matches(word, ITEMS, 1, 0.6)
    helps = (f"did you mean `{near[0]}`?",) if near else ("an item begins with " + ", ".join(f"`{w}`" for w in ITEMS),)
    return _error("E0108", f"`{_clean(word)}` begins no item", span, helps=helps)


def file_too_large(source: SourceFile, limit: int) -> Diagnostic:
    size = len(source.text)
    return _error(
        "E0111", f"the file has {size:,} characters, more than the {limit:,} that a spec may have", Span(source, 0, 0)
    )
