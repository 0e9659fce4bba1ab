"""Imports: what a file can name, files reached twice, cycles, and files that are not there."""

from __future__ import annotations

from pathlib import Path

from meshc.semantics.resolve import resolve
from meshc.source import SourceFile
from tests.semantics.marked import model, only, resolved

DOUBLE = "layer Double(x) { return x * 2 }\n"


def clean(text: str, **imports: str) -> bool:
    program, found = resolved(text, (), None, **imports)
    return program is not None and all(d.code == "W0311" for d in found)


def test_layers_and_models_are_brought_in():
    assert clean('import "double.mesh"\n' + model("x = Double(x)"), double=DOUBLE)
    assert clean('import "double.mesh" as d\n' + model("x = d.Double(x)"), double=DOUBLE)
    body = model("x = x")
    dims, rest = body[: body.index("model")], body[body.index("model") :]
    assert clean('import "whole.mesh"\n' + dims, whole=rest)


def test_an_import_passes_on_what_it_imports():
    assert clean('import "a.mesh"\n' + model("x = Double(x)"), a='import "double.mesh"\n', double=DOUBLE)


def test_one_file_reached_twice_is_one_file():
    text = 'import "a.mesh"\nimport "b.mesh"\n' + model("x = Double(x)")
    assert clean(text, a='import "double.mesh"\n', b='import "double.mesh"\n', double=DOUBLE)


def test_two_files_that_define_one_name():
    found = only('import "a.mesh"\nimport "b.mesh"\n' + model("x = Double(x)"), a=DOUBLE, b="\n" + DOUBLE)
    assert (found.code, [label.span.source.name for label in found.labels]) == ("E0210", ["b.mesh", "a.mesh"])


def test_an_own_definition_beside_an_imported_one():
    found = only('import "a.mesh"\n' + model("x = Double(x)", DOUBLE.replace("Double", "«Double»")), a=DOUBLE)
    assert found.code == "E0210"


def test_a_users_layer_wins_over_a_std_one_of_either_side():
    own = "layer RMSNorm(x) { return x * 2 }\n"
    program, _ = resolved('import "std/llama.mesh"\nimport "own.mesh"\n' + model("x = RMSNorm(x)"), own=own)
    assert program is not None
    other, _ = resolved('import "own.mesh"\nimport "std/llama.mesh"\n' + model("x = RMSNorm(x)"), own=own)
    assert other is not None
    assert not any(
        w.name == "scale" for p in (program, other) for s in p.model.body for w in getattr(s, "module", p.model).weights
    )


def test_cycles_are_spelled_out():
    found = only('import "a.mesh"\n' + model("x = x"), a='import "b.mesh"', b='import "a.mesh"')
    assert found.code == "E0212"
    assert found.labels[0].text == "a.mesh -> b.mesh -> a.mesh"
    assert found.span is not None
    assert (found.span.source.name, found.span.text) == ("b.mesh", 'import "a.mesh"')


def test_a_file_that_imports_itself():
    found = only('«import "spec.mesh"»\n' + model("x = x"), spec="")
    assert found.labels[0].text == "spec.mesh -> spec.mesh"


def test_missing_files():
    assert only('import «"nowhere.mesh"»\n' + model("x = x")).code == "E0130"
    found = only('import «"std/lama.mesh"»\n' + model("x = x"))
    assert found.code == "E0130"
    assert "std/llama.mesh" in found.helps[0]


def test_paths_are_relative_to_the_importing_file(tmp_path: Path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a.mesh").write_text('import "b.mesh"\n')
    (tmp_path / "inner" / "b.mesh").write_text(DOUBLE)
    text = 'import "inner/a.mesh"\n' + model("x = Double(x)")
    program, found = resolve(SourceFile(str(tmp_path / "spec.mesh"), text))
    assert program is not None, found
    for bad, code in (("inner", "E0131"), ("missing.mesh", "E0130")):
        _, found = resolve(SourceFile(str(tmp_path / "spec.mesh"), f'import "{bad}"\n' + model("x = x")))
        assert code in [d.code for d in found]


def test_problems_of_an_imported_file_are_told_there():
    _, found = resolved('import "a.mesh"\n' + model("x = x"), a="layer A(x { }\n")
    assert found
    assert {d.span.source.name for d in found if d.span and d.code != "W0311"} == {"a.mesh"}


def test_two_imports_of_one_alias():
    found = only('import "a.mesh" as m\nimport "b.mesh" as «m»\n' + model("x = m.Double(x)"), a=DOUBLE, b=DOUBLE)
    assert found.code == "E0210"


def test_a_name_that_no_file_can_have_is_a_missing_file(tmp_path: Path):
    spec = SourceFile(str(tmp_path / "spec.mesh"), f'import "gone/{"é" * 400}.mesh"\n')
    assert "E0130" in {d.code for d in resolve(spec)[1]}
