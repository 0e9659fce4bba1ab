"""Text to tree. Each top-level item is parsed by itself, so a broken one costs one error and the others survive."""

from __future__ import annotations

import re

from meshc.diagnostics.model import Diagnostic
from meshc.source import Part, SourceFile, Span
from meshc.syntax import ast, errors, machine
from meshc.syntax.cut import ITEMS, Piece, cut
from meshc.syntax.kept import KeptItems
from meshc.syntax.lexer import lex
from meshc.syntax.tree import ACTIONS

_WORD = re.compile(r"\w+|.", re.DOTALL)
MAX_CHARACTERS = 4_000_000  # 100,000 lines; what is larger is no spec


def parse(source: SourceFile, kept: KeptItems | None = None) -> tuple[ast.File, list[Diagnostic]]:
    """The items that could be read, in the order of the text, and what is wrong with the rest. Takes any text.

    `kept` are the items of an earlier text, and then of this one.
    """
    kept = kept or KeptItems()
    kept.turn()
    if len(source.text) > MAX_CHARACTERS:
        return ast.File(source, ()), [errors.file_too_large(source, MAX_CHARACTERS)]
    items: list[ast.Item] = []
    diagnostics: list[Diagnostic] = []
    lost = False  # what follows text that is no item, and is none either, is the same mistake
    closed: Span | None = None
    for piece in cut(source.text):
        word = _first_word(source, piece)
        if piece.stray or word.text not in ITEMS:
            if not lost:
                diagnostics.append(errors.stray_brace(word, closed) if piece.stray else errors.no_item(word))
            lost = True
            continue
        item, found = parse_item(source, piece, kept)
        diagnostics += found
        if item is not None:
            items.append(item)
        closed = Span(source, piece.end - 1, piece.end) if source.text[piece.end - 1] == "}" else None
        lost = bool(found)  # a brace that is missing or too many in it would explain it
    return ast.File(source, tuple(items)), diagnostics


def _first_word(source: SourceFile, piece: Piece) -> Span:
    match = _WORD.match(source.text, piece.start)
    return Span(source, piece.start, match.end() if match else piece.start)


def parse_item(source: SourceFile, piece: Piece, kept: KeptItems) -> tuple[ast.Item | None, list[Diagnostic]]:
    """One item of the text. It depends on nothing outside the piece but its offset."""
    text = source.text[piece.start : piece.end]
    if not piece.open_braces and (again := kept.take(text, source, piece.start)):
        return again, []
    tokens = lex(source.text, piece.start, piece.end, len(piece.open_braces))
    item, diagnostics, parts = machine.run(Part(source, piece.start), tokens, ACTIONS)
    # A text that is never closed hides the braces behind it: that is one mistake, not two.
    if piece.open_braces and not any(d.code == "E0105" for d in diagnostics):
        diagnostics.append(errors.brace_not_closed(_unclosed(source, piece), Span(source, piece.end, piece.end)))
    if item is not None and not diagnostics and not piece.open_braces:
        item = kept.put(text, item, parts)
    return item, diagnostics


def _unclosed(source: SourceFile, piece: Piece) -> Span:
    """The brace that was left open: one whose `}` would be indented less than it, else the innermost that is open."""
    tokens = lex(source.text, piece.start, piece.end)
    opened: list[int] = []
    for kind, start in zip(tokens.kinds, tokens.starts, strict=True):
        if kind == "{":
            opened.append(start)
        elif kind == "}" and opened:
            line = source.text.rfind("\n", 0, start) + 1
            if not source.text[line:start].strip() and start - line < _indent(source, opened[-1]):
                break
            opened.pop()
    at = opened[-1] if opened else piece.open_braces[-1]
    return Span(source, at, at + 1)


def _indent(source: SourceFile, offset: int) -> int:
    line = source.line(source.position(offset)[0])
    return len(line) - len(line.lstrip())
