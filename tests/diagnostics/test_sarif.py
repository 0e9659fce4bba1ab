"""SARIF: valid against the schema of OASIS, with places and cures as the format counts them."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator

from meshc.diagnostics.codes import TITLES
from meshc.diagnostics.model import Diagnostic, Edit, Label
from meshc.diagnostics.render import sarif
from meshc.source import SourceFile, Span

SCHEMA = Draft4Validator(json.loads(Path(__file__).with_name("sarif-2.1.0.json").read_text()))


def span(source: SourceFile, text: str) -> Span:
    start = source.text.index(text)
    return Span(source, start, start + len(text))


def run(*diagnostics: Diagnostic) -> dict[str, Any]:
    log = json.loads(sarif.render(diagnostics))
    SCHEMA.validate(log)
    return log["runs"][0]


def result(diagnostic: Diagnostic) -> dict[str, Any]:
    return run(diagnostic)["results"][0]


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SourceFile:
    """A file in a directory of a repository, with a letter before its name that UTF-16 writes in two units."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "a b").mkdir()
    monkeypatch.chdir(tmp_path / "a b")
    return SourceFile("spec.mesh", "mesh {\r\n  /*\U0001d54f*/ tp = 4\r\n}\r\n")


def test_the_validator_refuses_what_is_no_sarif():
    log = json.loads(sarif.render([Diagnostic("E0204", "m")]))
    assert SCHEMA.is_valid(log)
    log["runs"][0]["results"][0]["level"] = "fatal"
    assert not SCHEMA.is_valid(log)


def test_nothing_wrong_is_a_run_without_results():
    assert run()["results"] == []


def test_each_code_is_a_rule_whose_help_is_its_page():
    rules = run(*(Diagnostic(code, "m") for code in TITLES))["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == sorted(TITLES)
    for rule in rules:
        assert rule["help"]["markdown"].startswith(f"# {rule['id']}: {TITLES[rule['id']]}\n")
        assert "#" not in rule["fullDescription"]["text"].split("`")[0]


def test_a_result_names_its_rule_by_its_place_in_the_list():
    found = run(Diagnostic("W0304", "m"), Diagnostic("E0204", "m"))
    rules = found["tool"]["driver"]["rules"]
    assert [rules[r["ruleIndex"]]["id"] for r in found["results"]] == ["W0304", "E0204"]
    assert [r["level"] for r in found["results"]] == ["warning", "error"]


def test_paths_begin_at_the_repository_and_columns_count_utf16(source: SourceFile):
    found = result(Diagnostic("E0204", "m", (Label(span(source, "tp"), "here"),)))
    place = found["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "a%20b/spec.mesh", "uriBaseId": "%SRCROOT%"}
    # `  /*`, two units for one letter, `*/ `: ten units before it.
    assert place["region"] == {"startLine": 2, "startColumn": 10, "endLine": 2, "endColumn": 12}


def test_a_file_in_no_repository_is_named_from_here_or_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    monkeypatch.chdir(tmp_path)
    whole = f"file://{tmp_path}/a.mesh"
    for name, uri in (("x/a.mesh", "x/a.mesh"), (f"{tmp_path}/a.mesh", whole), (f"../{tmp_path.name}/a.mesh", whole)):
        found = result(Diagnostic("E0204", "m", (Label(Span(SourceFile(name, ""), 0, 0)),)))
        assert found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri


def test_second_places_are_related_locations(source: SourceFile):
    found = result(Diagnostic("E0204", "m", (Label(span(source, "tp")), Label(span(source, "4"), "the size"))))
    (related,) = found["relatedLocations"]
    assert related["message"]["text"] == "the size"
    assert related["physicalLocation"]["region"]["startLine"] == 2


def test_what_is_no_file_of_the_users_is_told_and_not_located(source: SourceFile):
    flag, std = SourceFile("--set", "tp=3"), SourceFile("std/llama.mesh", "layer")
    labels = (Label(Span(flag, 3, 4), "set here"), Label(Span(std, 0, 5)), Label(span(source, "tp"), "declared"))
    found = result(Diagnostic("E0204", "m", labels))
    assert len(found["locations"]) == 1
    assert "relatedLocations" not in found
    assert found["message"]["text"] == "m\ndeclared\n--set:1:4: set here\nstd/llama.mesh:1:1"


def test_helps_and_braces_and_links_in_the_message():
    found = result(Diagnostic("E0104", "this `{` is x[a](b)", (), ("write mesh { tp = 2 }",)))
    assert found["message"]["text"] == "this `{{` is x\\[a](b)\nhelp: write mesh {{ tp = 2 }}"


def test_edits_are_one_fix(source: SourceFile):
    edits = (Edit(span(source, "4"), "2"), Edit(span(source, "tp"), "dp"))
    (fix,) = result(Diagnostic("E0204", "m", (Label(span(source, "tp")),), ("call it dp",), edits))["fixes"]
    assert fix["description"]["text"] == "call it dp"
    (change,) = fix["artifactChanges"]
    assert [r["insertedContent"]["text"] for r in change["replacements"]] == ["dp", "2"]


def test_an_edit_of_what_is_no_file_is_no_fix():
    flag = SourceFile("--set", "tp=3")
    found = result(Diagnostic("E0204", "m", (Label(Span(flag, 3, 4)),), (), (Edit(Span(flag, 3, 4), "2"),)))
    assert "fixes" not in found
