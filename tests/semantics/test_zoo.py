"""The specs that ship with the compiler are right, waste nothing, and are written in the one way."""

from __future__ import annotations

from pathlib import Path

import pytest

from meshc.diagnostics.suppress import suppress
from meshc.semantics.checks import CHECKS, Context
from meshc.semantics.placement import place
from meshc.semantics.resolve import resolve
from meshc.source import SourceFile
from meshc.syntax.format import format_source

SPECS = Path(__file__).parent.parent.parent / "specs"
FILES = sorted(SPECS.rglob("*.mesh"))
WHOLE = [path for path in FILES if path.parent.name != "std"]


def read(path: Path) -> SourceFile:
    return SourceFile(str(path), path.read_text())


@pytest.mark.parametrize("path", WHOLE, ids=lambda p: str(p.relative_to(SPECS)))
def test_nothing_is_wrong(path: Path):
    program, found = resolve(read(path), devices=8)
    assert program is not None, found
    placed, more = place(program)
    context = Context(placed, None)
    problems = (*found, *more, *(d for check in CHECKS for d in check(context)))
    assert [d.message for d in suppress(problems, [program.source])] == []


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SPECS)))
def test_it_is_formatted(path: Path):
    assert format_source(read(path)) == (path.read_text(), [])


@pytest.mark.parametrize("row", range(1, 19))
def test_every_row_of_the_zoo_is_there(row: int):
    assert list((SPECS / "zoo").glob(f"{row:02d}_*.mesh"))
