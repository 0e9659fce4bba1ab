"""Workflow commands, read back as GitHub's runner does."""

import re
from pathlib import Path

import pytest

from meshc.diagnostics.model import Diagnostic, Label
from meshc.diagnostics.render import github
from meshc.source import SourceFile, Span


def read(line: str) -> tuple[str, dict[str, str], str]:
    """Command, properties and data of a line, as actions/runner's ActionCommand.TryParseV2 takes it apart."""
    match = re.fullmatch(r"::(\w+) (.*?)::(.*)", line)
    assert match
    properties = dict(item.split("=", 1) for item in match[2].split(","))
    return match[1], {name: _plain(value) for name, value in properties.items()}, _plain(match[3], properties=False)


def _plain(text: str, properties: bool = True) -> str:
    if properties:
        text = text.replace("%3A", ":").replace("%2C", ",")
    return text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "specs").mkdir()
    monkeypatch.chdir(tmp_path / "specs")
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    return tmp_path / "specs"


SOURCE = SourceFile("a,b:c%.mesh", "mesh {\n  tp = 4\n}\n")
TP, WHOLE = Span(SOURCE, 9, 11), Span(SOURCE, 0, 17)


def one(diagnostic: Diagnostic) -> tuple[str, dict[str, str], str]:
    (line,) = github.render([diagnostic]).splitlines()
    return read(line)


def test_a_line_each_that_the_runner_reads_back(here: Path):
    found = Diagnostic("E0204", "50% of `a::b`, no", (Label(TP, "no such axis"),), ("name: another",))
    assert one(found) == (
        "error",
        {"file": "specs/a,b:c%.mesh", "line": "2", "col": "3", "endColumn": "5", "title": "E0204"},
        "50% of `a::b`, no\nno such axis\nhelp: name: another",
    )


def test_it_is_written_as_documented(here: Path):
    line = github.render([Diagnostic("W0304", "m: 100%", (Label(Span(SourceFile("a.mesh", "tp"), 0, 2)),))])
    assert line == "::warning file=specs/a.mesh,line=1,col=1,endColumn=3,title=W0304::m: 100%25\n"


def test_a_place_of_several_lines_has_no_columns(here: Path):
    _, properties, _ = one(Diagnostic("E0204", "m", (Label(WHOLE),)))
    assert {k: v for k, v in properties.items() if k != "file"} == {"line": "1", "endLine": "3", "title": "E0204"}


def test_an_absolute_path_and_one_from_elsewhere_begin_at_the_repository(here: Path):
    for name in (f"{here}/x/../a.mesh", "../specs/a.mesh", "./a.mesh"):
        assert one(Diagnostic("E0204", "m", (Label(Span(SourceFile(name, ""), 0, 0)),)))[1]["file"] == "specs/a.mesh"


def test_without_a_repository_paths_begin_at_the_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "w" / "d").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "w" / "d")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / "w"))
    found = Diagnostic("E0204", "m", (Label(Span(SourceFile("a.mesh", ""), 0, 0)),))
    (line,) = github.render([found]).splitlines()
    assert read(line)[1]["file"] == "d/a.mesh"


def test_the_place_is_in_a_file_and_others_are_told(here: Path):
    flag = SourceFile("--set", "tp=3")
    found = Diagnostic("E0204", "m", (Label(Span(flag, 3, 4), "set here"), Label(TP, "declared"), Label(WHOLE)))
    _, properties, message = one(found)
    assert properties["line"] == "2"
    assert message == "m\n--set:1:4: set here\ndeclared"
