"""What `meshc lint` checks: files, the specs in directories, the standard input; and what it sums up."""

import io
import json
import sys
from pathlib import Path

import pytest

from tests.tiny import TINY

BAD = TINY.replace("data(dp)", "data(pd)")
LIBRARY = "layer Twice(x) {\n  return x + x\n}\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "spec.mesh").write_text(TINY)
    return tmp_path


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


# ---------------------------------------------------------------- directories


def test_a_directory_stands_for_all_specs_below_it(meshc, home: Path):
    write(home / "b" / "two.mesh", BAD)
    write(home / "a" / "one.mesh", BAD)
    write(home / "a" / "job.yaml", "not: a job")
    done = meshc("lint", ".", "--format", "concise", cwd=home)
    assert [line.split(":")[0] for line in done.out.splitlines()] == ["a/one.mesh", "b/two.mesh"]
    assert done.err == "2 errors in 2 of 3 files; 2 can be fixed with --fix --unsafe-fixes\n"


def test_hidden_directories_environments_and_built_programs_are_left_out(meshc, home: Path):
    write(home / ".git" / "x.mesh", BAD)
    write(home / ".hidden.mesh", BAD)
    write(home / "venv" / "pyvenv.cfg", "")
    write(home / "venv" / "lib" / "x.mesh", BAD)
    write(home / "out" / "program.json", "{}")
    write(home / "out" / "x.mesh", BAD)
    assert meshc("lint", ".", cwd=home).out == "no problems in 1 file\n".replace("1 file", "spec.mesh")


def test_a_directory_without_specs_is_an_error(meshc, home: Path):
    (home / "empty").mkdir()
    done = meshc("lint", "empty", "spec.mesh", cwd=home)
    assert done.code == 1
    assert "error[E0131]: `empty` is a directory without specs" in done.out


def test_a_file_named_twice_is_checked_once(meshc, home: Path):
    write(home / "spec.mesh", BAD)
    done = meshc("lint", "spec.mesh", "./spec.mesh", ".", cwd=home)
    assert "\n1 error in spec.mesh; " in done.out


def test_a_link_round_in_circles_ends(meshc, home: Path):
    (home / "again").symlink_to(home)
    assert meshc("lint", ".", cwd=home).out == "no problems in spec.mesh\n"


def test_a_library_needs_no_model(meshc, home: Path):
    write(home / "layers.mesh", LIBRARY)
    assert meshc("lint", ".", cwd=home).out == "no problems in 2 files\n"
    write(home / "layers.mesh", LIBRARY.replace("return", "retrun"))
    assert meshc("lint", "layers.mesh", cwd=home).code == 1


def test_a_spec_that_lost_its_model_is_no_library(meshc, home: Path):
    write(home / "spec.mesh", LIBRARY + "mesh { dp = 2 }\n")
    assert "error[E0213]" in meshc("lint", "spec.mesh", cwd=home).out


def test_a_mistake_in_a_library_is_said_once(meshc, home: Path):
    write(home / "layers.mesh", LIBRARY.replace("x + x", "x + y"))
    write(
        home / "spec.mesh",
        'import "layers.mesh"\n' + TINY.replace("logits = table", "x = Twice(table[tokens])\n  logits = table"),
    )
    done = meshc("lint", ".", "--format", "concise", cwd=home)
    assert done.out.count("error[E0202]") == 1


# ---------------------------------------------------------------- the standard input


@pytest.fixture
def stdin(monkeypatch):
    def give(text: str | bytes) -> None:
        data = text.encode() if isinstance(text, str) else text
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return give


def test_the_text_of_an_editor_under_its_file_name(meshc, home: Path, stdin):
    write(home / "layers.mesh", LIBRARY)
    stdin('import "layers.mesh"\n' + BAD)
    done = meshc("lint", "-", "--stdin-filename", "new.mesh", "--format", "concise", cwd=home)
    assert done.out.startswith("new.mesh:12:18: error[E0204]")
    assert "E0130" not in done.out  # imports lie beside the name


def test_without_a_name(meshc, home: Path, stdin):
    stdin(TINY)
    assert meshc("lint", "-", cwd=home).out == "no problems in <stdin>\n"


def test_a_job_by_its_name(meshc, home: Path, stdin):
    stdin("spec: spec.mesh\ntrain: {stepz: 1}\n")
    done = meshc("lint", "-", "--stdin-filename", "job.yaml", "--format", "concise", cwd=home)
    assert done.out.startswith("job.yaml:2:9: error[E0502]")


def test_bytes_that_are_no_text(meshc, home: Path, stdin):
    stdin(b"\xff")
    assert "error[E0133]" in meshc("lint", "-", cwd=home).out


# ---------------------------------------------------------------- forms


@pytest.mark.parametrize("form", ["json", "sarif", "github"])
def test_forms_for_programs_say_nothing_else(meshc, home: Path, form: str):
    done = meshc("lint", "spec.mesh", "--format", form, cwd=home)
    assert done.err == ""
    assert form == "github" or json.loads(done.out)
    assert form != "github" or done.out == ""


def test_what_has_no_place_is_put_at_the_beginning_of_the_file(meshc, home: Path):
    (home / ".git").mkdir()
    assert meshc("lint", "missing.mesh", "--format", "github", cwd=home).out.startswith(
        "::error file=missing.mesh,line=1,col=1,endColumn=1,title=E0130::"
    )
    run = json.loads(meshc("lint", "missing.mesh", "--format", "sarif", cwd=home).out)["runs"][0]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "missing.mesh"


def test_what_is_wrong_with_a_flag_is_put_there_too(meshc, home: Path):
    (home / ".git").mkdir()
    out = meshc("lint", "spec.mesh", "--set", "nonsense=3", "--format", "github", cwd=home).out
    assert out.startswith("::error file=spec.mesh,line=1,col=1,endColumn=1,title=E0208::")
    assert "%0A--set:1:1: " in out
    found = json.loads(meshc("lint", "spec.mesh", "--set", "nonsense=3", "--format", "json", cwd=home).out)
    assert found["diagnostics"][0]["file"] == "--set"
    assert json.loads(meshc("lint", "missing.mesh", "--format", "json", cwd=home).out)["diagnostics"][0]["file"] is None


def test_the_summary_counts_errors_and_warnings(meshc, home: Path):
    write(
        home / "spec.mesh",
        BAD.replace("data(pd)", "data(pd); fsdp(pd2)").replace("vocab = 32", "vocab = 32, heads = 2"),
    )
    assert "\n\n2 errors and 1 warning in spec.mesh; " in meshc("lint", "spec.mesh", cwd=home).out
