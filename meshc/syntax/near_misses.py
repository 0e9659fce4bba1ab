"""Finds the most telling message for the place where the parser stopped."""

from __future__ import annotations

import unicodedata

from meshc.diagnostics.model import Diagnostic
from meshc.source import Span
from meshc.syntax import errors
from meshc.syntax.context import COMPARISONS, RESERVED, Context
from meshc.syntax.cut import ITEMS
from meshc.syntax.lexer import BAD, END, MAX_NUMBER, SEPARATOR

# Characters that look like, or in other languages mean, what the language writes otherwise.
_LOOKALIKES = "→⇒−–—×·÷…≤≥≠＝“”‘’'^&|!，；：（）"
_WRITTEN = '-> -> - - - * * / .. <= >= != = " " " " " ** and or not , ; : ( )'
_INSTEAD = dict(zip(_LOOKALIKES, _WRITTEN.split(), strict=True)) | {"\u00a0": " ", "\u3000": " "}


def explain(at: Context) -> Diagnostic:
    """The diagnostic for a token that cannot stand where it stands."""
    for rule in (_bad_token, _bracket, _operator, _wrong_block, _word):
        if diagnostic := rule(at):
            return diagnostic
    return errors.unexpected(at, _help(at))


def _bad_token(at: Context) -> Diagnostic | None:
    if at.kind != BAD:
        return None
    text = at.span.text
    if text[0] == '"':
        return errors.text_not_closed(at.span)
    if text[0].isdigit():
        return errors.number_too_large(at.span) if len(text) > MAX_NUMBER else errors.no_number(at.span)
    return errors.no_character(at.span, _character(text), _INSTEAD.get(text, ""))


def _character(text: str) -> str:
    if text.isascii() and text.isprintable():
        return f"`{text}`" if text != "`" else "a backtick"
    name = unicodedata.name(text, "").lower()
    code = f"U+{ord(text):04X}" + (f", {name}" if name else "")
    return f"`{text}` ({code})" if text.isprintable() else f"the character {code}"


def _bracket(at: Context) -> Diagnostic | None:
    """A bracket that is not closed, or closed by another one, or closes nothing."""
    opened = at.opened.text if at.opened else ""
    if at.kind in (")", "]"):
        if opened in ("(", "[") and {"(": ")", "[": "]"}[opened] != at.kind:
            return errors.bracket_mismatch(at.opened, at.span) if at.opened else None
        return None if opened in ("(", "[") else errors.bracket_closes_nothing(at.span)
    ends_statement = at.continued or at.kind in (SEPARATOR, END, "{", "}")
    if at.opened and opened in ("(", "[") and ends_statement and not at.closes:
        return errors.bracket_not_closed(at.opened, at.place)
    return None


def _operator(at: Context) -> Diagnostic | None:
    """An operator that another language would have here."""
    two = Span(at.source, at.span.start, at.span.end + 1)
    if at.kind == "=" and at.adjacent(">"):
        return errors.written_otherwise(two, "->", "")
    if at.kind == ">" and at.previous_kind == "=" and at.previous and at.previous.end == at.span.start:
        return errors.written_otherwise(at.previous.to(at.span), "->", "")
    if at.kind in ("+", "-", "*", "/") and at.adjacent("="):
        return errors.no_operator(two, f"write the whole expression: `x = x {at.kind} …`")
    if at.kind == "//":
        return errors.written_otherwise(at.span, "#", "a comment begins with `#`")
    if at.kind in ("=", ":", ":=", "==") and "=" in at.expected:
        why = {":=": "`:=` updates a `state`", "==": "`==` compares"}.get(at.kind, "")
        return errors.written_otherwise(at.span, "=", why, sure=at.item in ("mesh", "dims"))
    if at.kind in ("=", ":", ":=") and "->" in at.expected and "exchange" not in at.expected:
        return errors.written_otherwise(at.span, "->", "a claim puts dims on axes", sure=False)
    if at.kind in ("=", ":") and "{" in at.expected:
        return errors.no_sign_before_block(at.span)
    if at.kind in ("=", "->") and ":" in at.expected:
        return errors.written_otherwise(at.span, ":", "dims follow a colon", sure=False)
    if at.kind == "." and at.previous_kind == ".." and at.previous:
        return errors.written_otherwise(at.previous.to(at.span), "..", "")
    if at.kind == "..":
        return errors.appends_first(at.span)
    if at.kind == "*" or (at.previous_kind == "*" and at.previous and "NUMBER" not in at.expected):
        return errors.no_rest_here(at.span if at.kind == "*" or not at.previous else at.previous)
    if at.kind in COMPARISONS and "and" in at.expected:
        return errors.comparisons_do_not_chain(at.span)
    return None


def _wrong_block(at: Context) -> Diagnostic | None:
    """A statement among rules, a rule among statements, an item inside another."""
    if at.begins_statement and at.kind == "if":
        return errors.wrong_block(at.span, "`strategy` and `partition`")
    if at.begins_rule and at.kind == "return":
        return errors.wrong_block(at.span, "`layer` and `model`")
    if at.kind == "->" and "=" in at.expected and ":=" in at.expected:
        return errors.wrong_block(at.span, "`strategy` and `partition`, where rules are")
    if at.kind in ("NAME", "STRING", "{") and at.previous and at.opened and at.opened.text == "{":
        if at.previous_kind in ITEMS:
            return errors.item_in_item(at.previous)
        if at.previous_kind in errors.STATEMENTS and at.item in ("partition", "strategy"):
            return errors.wrong_block(at.previous, "`layer` and `model`")
    return None


def _word(at: Context) -> Diagnostic | None:
    if at.span.text == "else" and at.previous_kind == "}":
        return errors.no_else(at.span)
    if at.kind in RESERVED and "NAME" in at.expected:
        return errors.reserved(at.span)
    return None


def _help(at: Context) -> str:
    if at.kind in ("{", "}"):
        return ""
    if at.kind == "PRIMED" and "PRIMED" not in at.expected:
        return "a `'` makes a second dim of the same size, and only dims have it"
    if at.item == "import" and "STRING" in at.expected:
        return 'write the path in double quotes: `import "std/llama.mesh"`'
    if at.kind == "(" and {"=", ":="} <= at.expected:
        return "name what it yields, as in `y = f(x)`, or write `return` before it"
    if at.kind in ("(", "[") and {"..", "none"} <= at.expected:
        return "axes stand without brackets: `dim -> a, b`"
    if at.kind == "NAME" and "zigzag" in at.expected and at.previous_kind == "NAME":
        return "axes are parted by commas: `dim -> a, b`"
    if SEPARATOR in at.expected and (at.kind in ("NAME", "PRIMED") or at.kind.isidentifier()):
        return "a statement ends at the end of its line or at `;`"
    return ""
