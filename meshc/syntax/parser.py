"""Text to tree. Each top-level item is parsed by itself, so a broken one costs one error and the others survive."""

from __future__ import annotations

from meshc.diagnostics.model import Diagnostic
from meshc.source import SourceFile, Span
from meshc.syntax import ast, errors, machine
from meshc.syntax.cut import ITEMS, Piece, cut
from meshc.syntax.lexer import lex
from meshc.syntax.tree import ACTIONS

MAX_CHARACTERS = 4_000_000  # 100,000 lines; what is larger is no spec


def parse(source: SourceFile) -> tuple[ast.File, list[Diagnostic]]:
    """The items that could be read, in the order of the text, and what is wrong with the rest. Takes any text."""
    if len(source.text) > MAX_CHARACTERS:
        return ast.File(source, ()), [errors.file_too_large(source, MAX_CHARACTERS)]
    items: list[ast.Item] = []
    diagnostics: list[Diagnostic] = []
    lost = False  # after what is no item, more of the same is the same mistake
    for piece in cut(source.text):
        word = source.text[piece.start : piece.end].split(None, 1)[0].split("{", 1)[0].split('"', 1)[0]
        if piece.stray or word not in ITEMS:
            if not lost:
                diagnostics.append(_no_item(source, piece, word))
            lost = True
            continue
        lost = False
        item, found = parse_item(source, piece)
        diagnostics += found
        if item is not None:
            items.append(item)
    return ast.File(source, tuple(items)), diagnostics


def parse_item(source: SourceFile, piece: Piece) -> tuple[ast.Item | None, list[Diagnostic]]:
    """One item of the text. It depends on nothing outside the piece but its offset."""
    tokens = lex(source.text, piece.start, piece.end, len(piece.open_braces))
    item, diagnostics = machine.run(source, tokens, ACTIONS)
    if piece.open_braces and not diagnostics:
        opened = piece.open_braces[-1]
        end = Span(source, piece.end, piece.end)
        diagnostics = [errors.brace_not_closed(Span(source, opened, opened + 1), end)]
    return item, diagnostics


def _no_item(source: SourceFile, piece: Piece, word: str) -> Diagnostic:
    if piece.stray:
        return errors.stray_brace(Span(source, piece.start, piece.end))
    return errors.no_item(Span(source, piece.start, piece.start + len(word)), word)
