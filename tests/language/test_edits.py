"""The edits of a diagnostic do what they are for: of each wrong example in the pages of codes and of this directory,
carried out alone, they take the problem away and bring no error.
"""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

import pytest
from pages import Block, blocks

from meshc.diagnostics.cures import does
from meshc.diagnostics.edits import edited
from meshc.diagnostics.model import Diagnostic
from meshc.driver import check, compile_program
from meshc.job.target import Request

EXPLAINED = Path(str(resources.files("meshc.diagnostics").joinpath("explain")))
PAGES = [*sorted(EXPLAINED.glob("*.md")), *sorted(Path(__file__).parent.rglob("*.md"))]
ALL = [b for page in PAGES for b in blocks(page) if b.language in ("mesh", "yaml")]
BLOCKS = [b for b in ALL if b.expected or b.page.parent == EXPLAINED]
SYNTAX = re.compile(r"E01[012]\d|E050[16]|E0513")


BEHIND = {"E0508": ("E03", "E04", "E05")}
"""What a mended name may show that could not be known before."""


@pytest.fixture
def request_of(tmp_path: Path):
    def made(block: Block) -> Request:
        (tmp_path / "spec.mesh").write_text(block.spec)
        path = tmp_path / ("job.yaml" if block.language == "yaml" else "spec.mesh")
        path.write_text(block.text)
        return Request(str(path), block.slice, block.sets)

    return made


def carried_out(problem: Diagnostic) -> dict[Path, str]:
    """The files that the edits of a problem change, as they were."""
    before: dict[Path, str] = {}
    for name in {edit.span.source.name for edit in problem.edits}:
        path = Path(name)
        before[path] = path.read_text()
        edits = [edit for edit in problem.edits if edit.span.source.name == name]
        path.write_text(edited(before[path], sorted(edits, key=lambda edit: edit.span.start)))
    return before


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_edits_take_the_problem_away(block: Block, request_of):
    request = request_of(block)
    found = check(request).diagnostics
    whole = not any(SYNTAX.fullmatch(problem.code) for problem in found)
    for problem in found:
        assert not problem.cures
        if not problem.edits:
            continue
        before = carried_out(problem)
        after = check(request).diagnostics
        for path, text in before.items():
            path.write_text(text)
        new = [f"{d.code} {d.message}" for d in after]
        assert not whole or not any(SYNTAX.fullmatch(d.code) for d in after), (problem, new)
        gone = does(
            problem, found, [d for d in after if not d.code.startswith(BEHIND.get(problem.code, ()))], problem.edits
        )
        assert gone or SYNTAX.fullmatch(problem.code), (problem.code, problem.message, problem.edits, new)


SAFE = [b for b in BLOCKS if {code for _, code in b.expected} & {"W0311", "W0313", "W0314", "W0140"}]
SAFE += [b for b in BLOCKS if b.page.stem in ("W0311", "W0313", "W0314", "W0140")]


@pytest.mark.parametrize("block", SAFE, ids=str)
def test_a_safe_edit_leaves_the_program_as_it_is(block: Block, request_of):
    request = request_of(block)
    compiled, found = compile_program(request)
    for problem in found:
        if compiled is None or not problem.edits or not all(edit.safe for edit in problem.edits):
            continue
        before = carried_out(problem)
        mended, _ = compile_program(request)
        for path, text in before.items():
            path.write_text(text)
        assert mended is not None
        assert _without_lines(mended.files["train.py"]) == _without_lines(compiled.files["train.py"])


def _without_lines(program: str) -> str:
    """The program without the lines of the spec that it names, and the spec's hash."""
    return re.sub(r"\d+", "", re.sub(r'spec_hash="\w+"', "", program))
