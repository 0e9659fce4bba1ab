"""Carrying out the cures of diagnostics: in rounds, since one mended mistake can show another behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from meshc.diagnostics.edits import edited, is_safe, lies_in, together
from meshc.diagnostics.model import Diagnostic
from meshc.source import SourceFile

ROUNDS = 10
"""More than any spec has needed; an end for cures that undo each other."""

Check = Callable[[SourceFile], Sequence[Diagnostic]]


@dataclass(frozen=True)
class Fixed:
    """A text after fixing, how many problems that mended, what was found before and what is left."""

    source: SourceFile
    count: int
    before: tuple[Diagnostic, ...]
    left: tuple[Diagnostic, ...]


def fix(source: SourceFile, check: Check, unsafe: bool = False) -> Fixed:
    """Mends what is safe to mend in a text, or with `unsafe` what has a cure at all, until nothing changes.

    While a text does not parse, only that is mended: of the rest nothing is sure.
    """
    count, seen = 0, {source.text}
    found = before = tuple(check(source))
    for _ in range(ROUNDS):
        mended, edits = together(d for d in curable(found, source, unsafe))
        text = edited(source.text, edits)
        if not mended or text in seen:
            break
        new = SourceFile(source.name, text)
        left = tuple(check(new))
        if does_not_parse(left, new) and not does_not_parse(found, source):
            break  # a cure that breaks what was whole is none
        seen.add(text)
        source, found, count = new, left, count + len(mended)
    return Fixed(source, count, before, found)


def curable(found: Sequence[Diagnostic], source: SourceFile, unsafe: bool) -> list[Diagnostic]:
    """What would be mended at once, if it came alone."""
    broken = does_not_parse(found, source)
    cures = [d for d in found if lies_in(d, source) and (unsafe or is_safe(d))]
    return [d for d in cures if is_syntax(d)] if broken else cures


def does_not_parse(found: Sequence[Diagnostic], source: SourceFile) -> bool:
    return any(is_syntax(d) and d.span and d.span.source.name == source.name for d in found)


def is_syntax(diagnostic: Diagnostic) -> bool:
    """Whether it is about the text alone: a spec's syntax (E0101 to E0129), or a YAML file's."""
    return diagnostic.code < "E0130" or diagnostic.code in ("E0501", "E0506", "E0513")
