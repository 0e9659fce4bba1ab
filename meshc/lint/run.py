"""The command: each file checked, mended on request, and all that is wrong reported in one form."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from meshc.console import exit_code, rewritten, show
from meshc.diagnostics.arrange import arranged, counted, plural
from meshc.diagnostics.edits import is_safe
from meshc.diagnostics.model import Diagnostic, Label
from meshc.diagnostics.render.places import main_label
from meshc.driver import check
from meshc.job.target import Request, is_job
from meshc.lint.files import Subject, subjects
from meshc.lint.fix import curable, fix
from meshc.source import SourceFile, Span
from meshc.syntax import ast
from meshc.syntax.parser import parse

FOR_PEOPLE = ("full", "concise")
IN_FILES = ("sarif", "github")
"""What shows each problem in a file."""


@dataclass(frozen=True)
class Options:
    """The flags. Without `fix` and `diff` nothing is changed; with `diff` nothing is written."""

    slice: str | None = None
    sets: tuple[str, ...] = ()
    strict: bool = False
    form: str = "full"
    fix: bool = False
    unsafe: bool = False
    diff: bool = False
    stdin_name: str | None = None


@dataclass(frozen=True)
class Linted:
    """A file, what is left to say of it, and how many problems were mended: `text` is None where none was.

    `before` is what was to be said before that.
    """

    subject: Subject
    found: tuple[Diagnostic, ...]
    fixed: int = 0
    text: str | None = None
    before: tuple[Diagnostic, ...] = ()


def lint(paths: Sequence[str], options: Options) -> int:
    """Prints what is wrong with the files, and gives the exit code."""
    files = [_linted(subject, options) for subject in subjects(paths, options.stdin_name)]
    if options.diff:
        return _differ(files) or exit_code([d for file in files for d in file.found], options.strict)
    if options.fix:
        files = [_write(file) for file in files]
    _report(files, options)
    return exit_code([d for file in files for d in file.found], options.strict)


def _linted(subject: Subject, options: Options) -> Linted:
    if isinstance(subject.text, Diagnostic):
        return Linted(subject, (subject.text,))

    def found(source: SourceFile) -> tuple[Diagnostic, ...]:
        request = Request(source.name, options.slice, options.sets, source=source)
        return tuple(d for d in check(request).diagnostics if d.code != "E0213" or not _is_library(source))

    if not options.fix and not options.diff:
        return Linted(subject, found(subject.text))
    done = fix(subject.text, found, options.unsafe)
    changed = done.source.text if done.source.text != subject.text.text else None
    return Linted(subject, done.left, done.count, changed, done.before)


def _is_library(source: SourceFile) -> bool:
    """Whether a file has only what others import: its layers and strategies are checked where they are used."""
    if is_job(source.name):
        return False
    items = parse(source)[0].items
    kinds = (ast.Layer, ast.Primitive, ast.Strategy)
    return any(isinstance(i, kinds) for i in items) and all(isinstance(i, (*kinds, ast.Import)) for i in items)


# ---------------------------------------------------------------- what is changed


def _write(file: Linted) -> Linted:
    """Writes what was mended; where it cannot be, the file is as it was, and so are its problems."""
    if file.text is None or file.subject.stdin:
        return file
    problems = rewritten(Path(file.subject.name), file.text)
    return replace(file, found=(*file.before, *problems), fixed=0) if problems else file


def _differ(files: Sequence[Linted]) -> int:
    """Shows what `--fix` would change; 1 where that is anything."""
    for file in files:
        if file.text is not None and isinstance(file.subject.text, SourceFile):
            old, new = (text.splitlines(keepends=True) for text in (file.subject.text.text, file.text))
            lines = difflib.unified_diff(old, new, file.subject.name, file.subject.name)
            for line in lines:
                sys.stdout.write(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    fixed = sum(file.fixed for file in files)
    left = counted([d for file in files for d in file.found])
    click.echo(f"would fix {plural(fixed, 'problem')}" + (f" and leave {left}" if left else ""), err=True)
    return 1 if fixed else 0


# ---------------------------------------------------------------- what is said


def _report(files: Sequence[Linted], options: Options) -> None:
    to_stdout = [file for file in files if file.subject.stdin and options.fix]
    stream = sys.stderr if to_stdout else sys.stdout
    for file in to_stdout:
        if isinstance(file.subject.text, SourceFile):
            sys.stdout.write(file.text if file.text is not None else file.subject.text.text)
    placed = options.form in IN_FILES
    found = arranged(_placed(d, file.subject.name) if placed else d for file in files for d in file.found)
    show(found, options.form, stream)
    if options.form in FOR_PEOPLE:
        # After one line a problem, which another program may read, the summary is for those who look on.
        click.echo(_summary(files, found), file=stream if options.form == "full" else sys.stderr)


def _placed(diagnostic: Diagnostic, name: str) -> Diagnostic:
    """Where no file can be pointed at, the beginning of the one that was asked for."""
    if main_label(diagnostic):
        return diagnostic
    return replace(diagnostic, labels=(*diagnostic.labels, Label(Span(SourceFile(name, ""), 0, 0))))


def _summary(files: Sequence[Linted], found: Sequence[Diagnostic]) -> str:
    fixed = sum(file.fixed for file in files)
    wrong = sum(bool(file.found) for file in files)
    where = files[0].subject.name if len(files) == 1 else plural(len(files), "file")
    if 0 < wrong < len(files):
        where = f"{wrong} of {where}"
    parts = [f"fixed {plural(fixed, 'problem')}"] if fixed else []
    parts.append(f"{counted(found) or 'no problems'} in {where}")
    safe, unsafe = (sum(map(len, cures)) for cures in zip(*map(_cures, files), strict=True))
    if safe:
        parts.append(f"{safe} can be fixed with --fix")
    if unsafe:
        parts.append(f"{unsafe}{' more' if safe else ''} can be fixed with --fix --unsafe-fixes")
    return "; ".join(parts)


def _cures(file: Linted) -> tuple[list[Diagnostic], list[Diagnostic]]:
    """What `--fix` would mend, and what only `--unsafe-fixes` would."""
    source = file.subject.text
    if isinstance(source, Diagnostic):
        return [], []
    cures = curable(file.found, source, unsafe=True)
    return [d for d in cures if is_safe(d)], [d for d in cures if not is_safe(d)]
