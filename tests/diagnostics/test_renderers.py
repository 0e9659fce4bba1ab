"""The concise and the JSON form, order and counting."""

import json
from pathlib import Path

from jsonschema import Draft202012Validator

from meshc.diagnostics.arrange import arranged, counted
from meshc.diagnostics.model import Diagnostic, Edit, Label
from meshc.diagnostics.render import concise
from meshc.diagnostics.render import json as as_json
from meshc.source import SourceFile, Span

SCHEMA = Draft202012Validator(json.loads((Path(__file__).parents[2] / "docs" / "lint.schema.json").read_text()))
SOURCE = SourceFile("a.mesh", "mesh {\n  tp = 4\n}\n")
TP = Span(SOURCE, 9, 11)
FOUND = Diagnostic(
    "E0503",
    "`tp` is given twice",
    (Label(TP, "again"),),
    ("keep one",),
    (Edit(TP, "dp", safe=True),),
    also=(TP,),
)


def test_concise_is_a_line_with_file_line_and_column():
    assert concise.render([FOUND]) == "a.mesh:2:3: error[E0503]: `tp` is given twice (and 1 more place)\n"


def test_concise_without_a_place():
    assert concise.render([Diagnostic("W0140", "m")]) == "warning[W0140]: m\n"


def test_json_has_every_part():
    place = {"start": {"line": 2, "column": 3}, "end": {"line": 2, "column": 5}}
    assert json.loads(as_json.render([FOUND])) == {
        "diagnostics": [
            {
                "code": "E0503",
                "severity": "error",
                "title": "a key given twice",
                "message": "`tp` is given twice",
                "file": "a.mesh",
                "range": place,
                "labels": [{"file": "a.mesh", "range": place, "text": "again"}],
                "also": [{"file": "a.mesh", "range": place}],
                "helps": ["keep one"],
                "edits": [{"file": "a.mesh", "range": place, "text": "dp", "safe": True}],
            }
        ],
        "errors": 1,
        "warnings": 0,
    }


def test_json_of_nothing_and_of_a_diagnostic_without_a_place():
    assert json.loads(as_json.render([])) == {"diagnostics": [], "errors": 0, "warnings": 0}
    assert json.loads(as_json.render([Diagnostic("E0130", "m")]))["diagnostics"][0]["range"] is None


def test_each_problem_once_in_the_order_of_the_text():
    late, early = Diagnostic("E0201", "b", (Label(Span(SOURCE, 9, 11)),)), Diagnostic("E0202", "a", (Label(TP),))
    first = Diagnostic("E0203", "c", (Label(Span(SOURCE, 0, 4)),))
    nowhere = Diagnostic("E0130", "d")
    assert arranged([late, first, early, late, nowhere]) == (nowhere, first, late, early)


def test_a_file_read_twice_is_one_file():
    again = SourceFile("a.mesh", SOURCE.text)
    one, two = (Diagnostic("E0201", "m", (Label(Span(source, 0, 4)),)) for source in (SOURCE, again))
    assert len(arranged([one, two])) == 1


def test_counting():
    assert counted([]) == ""
    assert counted([FOUND, FOUND, Diagnostic("W0140", "m")]) == "2 errors and 1 warning"


def test_json_is_as_its_schema_in_the_docs_says():
    Draft202012Validator.check_schema(SCHEMA.schema)
    for found in ([], [FOUND], [Diagnostic("W0140", "m")]):
        SCHEMA.validate(json.loads(as_json.render(found)))
    shown = json.loads(as_json.render([FOUND]))
    shown["diagnostics"][0]["note"] = ""
    assert not SCHEMA.is_valid(shown)
