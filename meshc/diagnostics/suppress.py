"""`# meshc: allow(W0304) reason`: a comment that silences a warning on its line, and what is wrong with such
comments.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

from meshc.diagnostics.codes import OF_MACHINES, TITLES
from meshc.diagnostics.edits import removed
from meshc.diagnostics.model import Diagnostic, Edit, Label
from meshc.diagnostics.suggest import did_you_mean, nearest
from meshc.source import SourceFile, Span

# A comment begins at the first `#` outside of a string, which ends at the latest where its line does. In a spec `'` is
# a prime. A second `#` may stand inside of a comment.
_COMMENT = r"(?:#[^#\n]*)*?(?P<comment>#\s*meshc:[^\n]*)"
_MESH = re.compile(r'(?>[^#"\n]|"(?>[^"\\\n]|\\.)*+"?)*+' + _COMMENT)
_YAML = re.compile(r"""(?>[^#"'\n]|"(?>[^"\\\n]|\\.)*+"?|'[^'\n]*+'?)*+""" + _COMMENT)
_BRACES = re.compile(r'"(?>[^"\\\n]|\\.)*+"?|#[^\n]*|[{}]')
_ALLOW = re.compile(r"#\s*meshc:\s*allow\(([^)]*)\)\s*(.*?)\s*$")


@dataclass(frozen=True, slots=True)
class Allow:
    """One suppression: the lines for which it is, its codes, the whole comment's place.

    Behind the brace that ends a block it is for all of the block, as it is behind a block on one line.
    """

    first: int
    line: int
    codes: tuple[str, ...]
    span: Span


def suppress(diagnostics: Iterable[Diagnostic], checked: Iterable[SourceFile]) -> tuple[Diagnostic, ...]:
    """What is left to report: silenced warnings gone, problems of the suppressions in the `checked` files added.

    A suppression in a file that is only imported silences too; whether it silences anything is that file's own
    question.
    """
    diagnostics = tuple(diagnostics)
    own = {source.name: source for source in checked}
    sources = {d.span.source.name: d.span.source for d in diagnostics if d.span} | own
    allows: dict[str, list[Allow]] = {}
    problems: list[Diagnostic] = []
    for name, source in sources.items():
        allows[name], wrong = _allows(source)
        problems += wrong if name in own else []
    used: set[tuple[str, int, str]] = set()
    kept = [d for d in diagnostics if not _silenced(d, allows, used, own)]
    if not any(d.severity == "error" for d in diagnostics):  # after one later checks do not run: nothing to silence yet
        problems += [d for name in own for allow in allows[name] for d in _unused(allow, used)]
    return (*kept, *problems)


def _silenced(
    diagnostic: Diagnostic, allows: dict[str, list[Allow]], used: set[tuple[str, int, str]], own: Container[str]
) -> bool:
    if diagnostic.severity == "error":
        return False
    for name, line in _lines(diagnostic, own):
        for allow in allows[name]:
            if allow.first <= line <= allow.line and diagnostic.code in allow.codes:
                used.add((name, allow.line, diagnostic.code))
                return True
    return False


def _lines(diagnostic: Diagnostic, own: Container[str]) -> Iterator[tuple[str, int]]:
    """Where a comment silences it: where its place begins and ends. Of a place that cannot be commented on, in a flag
    or in a file that is not ours to change, its other places that can.
    """
    for i, label in enumerate(diagnostic.labels):
        source = label.span.source
        if i == 0:
            yield from ((source.name, source.position(at)[0]) for at in (label.span.start, label.span.end))
        elif source.name in own and diagnostic.labels[0].span.source.name not in own:
            yield source.name, label.span.line


def _unused(allow: Allow, used: set[tuple[str, int, str]]) -> Iterator[Diagnostic]:
    name, line = allow.span.source.name, allow.line
    kept = [code for code in allow.codes if (name, line, code) in used or code in OF_MACHINES]
    for code in allow.codes:
        if code not in kept:
            message = f"there is no {code} on this line to allow"
            cure = f"allow {', '.join(kept)} only" if kept else "delete the comment"
            yield Diagnostic("W0140", message, (Label(allow.span),), (cure,), (_left(allow.span, kept),))


def _left(comment: Span, kept: Sequence[str]) -> Edit:
    """The comment with the codes that it silences, or none of it: nothing else changes."""
    if kept:
        opened, closed = (comment.start + comment.text.index(sign) for sign in "()")
        return Edit(Span(comment.source, opened + 1, closed), ", ".join(kept), safe=True)
    before = comment.source.text[: comment.start]
    blank = len(before) - len(before.rstrip(" \t"))
    if before.rstrip(" \t").endswith("\n") or not before.strip():
        return removed(comment, safe=True)
    return Edit(Span(comment.source, comment.start - blank, comment.end), "", safe=True)


def _allows(source: SourceFile) -> tuple[list[Allow], list[Diagnostic]]:
    allows: list[Allow] = []
    problems: list[Diagnostic] = []
    for span in _comments(source):
        match = _ALLOW.match(span.text)
        if match is None:
            message = "a `meshc:` comment is not of the form `# meshc: allow(CODE) reason`"
            problems.append(Diagnostic("E0141", message, (Label(span),)))
            continue
        codes = tuple(code.strip() for code in match[1].split(","))
        problems += [d for code in codes if (d := _bad_code(code, span))]
        if not match[2]:
            message = f"allowing {', '.join(codes)} needs a reason"
            problems.append(Diagnostic("E0140", message, (Label(span),), ("write it behind the parenthesis",)))
        warnings = tuple(c for c in codes if c in TITLES and c[0] == "W")
        allows.append(Allow(_first_line(source, span.line), span.line, warnings, span))
    return allows, problems


def _first_line(source: SourceFile, number: int) -> int:
    """Where the block begins that ends on a line; the line itself where none does."""
    line = source.line(number)
    if not line.lstrip().startswith("}"):
        return number
    closed = source.line_starts[number - 1] + len(line) - len(line.lstrip())
    opened: list[int] = []
    for match in _BRACES.finditer(source.text, 0, closed):
        if match[0] == "{":
            opened.append(match.start())
        elif match[0] == "}" and opened:
            opened.pop()
    return source.position(opened[-1])[0] if opened else number


def _bad_code(code: str, span: Span) -> Diagnostic | None:
    if code in TITLES and code.startswith("W"):
        return None
    if code in TITLES:
        return Diagnostic("E0141", f"{code} is an error and cannot be allowed", (Label(span),))
    warnings = [known for known in TITLES if known.startswith("W")]
    near = nearest(code, warnings)
    at = span.start + span.text.index(code) if code else span.start
    edits = (Edit(Span(span.source, at, at + len(code)), near),) if near and code else ()
    return Diagnostic("E0141", f"there is no warning `{code}`", (Label(span),), did_you_mean(code, warnings), edits)


def _comments(source: SourceFile) -> Iterator[Span]:
    """The places of all comments that begin with `meshc:`."""
    if "meshc:" not in source.text:
        return
    pattern = _YAML if source.name.endswith((".yaml", ".yml")) else _MESH
    for number, start in enumerate(source.line_starts, 1):
        line = source.line(number)
        if "meshc:" in line and (match := pattern.match(line)):
            yield Span(source, start + match.start("comment"), start + len(line.rstrip()))
