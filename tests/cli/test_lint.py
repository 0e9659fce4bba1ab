"""`meshc lint`, as a user runs it: output, exit codes, bad input, and how little it imports."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tiny import TINY


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "spec.mesh"
    path.write_text(TINY)
    return path


def test_a_good_spec(meshc, spec: Path):
    done = meshc("lint", spec)
    assert (done.code, done.out) == (0, f"no problems in {spec}\n")


def test_an_error_is_printed_in_full_and_ends_with_1(meshc, spec: Path):
    spec.write_text(TINY.replace("data(dp)", "data(pd)"))
    done = meshc("lint", "spec.mesh", cwd=spec.parent)
    assert done.code == 1
    assert done.out.startswith("error[E0204]: ")
    assert "  --> spec.mesh:11:18\n" in done.out
    assert "\n\n1 error in spec.mesh; " in done.out


def test_concise_and_json(meshc, spec: Path):
    spec.write_text(TINY.replace("data(dp)", "data(pd)"))
    assert meshc("lint", "spec.mesh", "--format", "concise", cwd=spec.parent).out.startswith(
        "spec.mesh:11:18: error[E0204]: "
    )
    found = json.loads(meshc("lint", "spec.mesh", "--format", "json", cwd=spec.parent).out)
    assert [(d["code"], d["file"], d["range"]["start"]) for d in found["diagnostics"]] == [
        ("E0204", "spec.mesh", {"line": 11, "column": 18})
    ]


def test_a_warning_fails_only_under_strict(meshc, spec: Path):
    spec.write_text(TINY.replace("vocab = 32", "vocab = 32, heads = 2"))
    assert meshc("lint", spec).code == 0
    assert meshc("lint", spec, "--strict").code == 1


def test_several_files_and_each_once(meshc, spec: Path):
    done = meshc("lint", spec, spec, spec.parent / "missing.mesh")
    assert done.code == 1
    assert done.out.count("error[") == 1
    assert done.out.endswith("1 error in 1 of 2 files\n")


def test_overrides_are_checked_like_the_spec(meshc, spec: Path):
    done = meshc("lint", spec, "--set", "batch=5")
    assert done.code == 1
    assert " ::: --set:1:1\n" in done.out
    assert "| batch=5\n" in done.out
    assert "error[E0217]" in (out := meshc("lint", spec, "--set", "batch=0").out)
    assert " --> --set:1:7\n" in out


def test_a_job_is_checked_with_its_spec(meshc, spec: Path):
    job = spec.parent / "job.yaml"
    job.write_text("spec: spec.mesh\ntrain: {stepz: 1}\n")
    done = meshc("lint", "job.yaml", "--format", "concise", cwd=spec.parent)
    assert done.out.startswith("job.yaml:2:9: error[E0502]")
    job.write_text("spec: other.mesh\n")
    assert "job.yaml:1:7: error[E0130]" in meshc("lint", "job.yaml", "--format", "concise", cwd=spec.parent).out


def test_a_group_that_matches_no_weight(meshc, spec: Path):
    job = spec.parent / "job.yaml"
    job.write_text("spec: spec.mesh\ntrain: {optimizer: {groups: [{match: Tiny.tabel}]}}\n")
    done = meshc("lint", "job.yaml", cwd=spec.parent)
    assert "error[E0511]: no weight matches `Tiny.tabel`" in done.out
    assert "did you mean `Tiny.table`?" in done.out


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"\xff\xfe", "E0133"),
        (b"mesh { a = 1 }\n\xff", "E0133"),
        (b"mesh \0{}", "E0134"),
        (b"# " + b"x" * 50 * 2**20, "E0135"),
        (b"", None),
        (b"\n\n", None),
        (b"(" * 100_000, None),
        (b"dims { a = " + b"(" * 50_000 + b"1" + b")" * 50_000 + b" }", None),
        (b'import "spec.mesh"\n', "E0212"),
        (b"mesh { a = 0 }\n", None),
        (b"dims { a = 1" + b"0" * 30 + b" }\n", None),
        (b"dims { a = 1 / 0 }\n", None),
        (b"mesh { a = *, b = * }\n", "E0218"),
    ],
)
def test_bad_input_is_an_error_with_a_place_and_no_traceback(meshc, tmp_path: Path, content: bytes, code: str | None):
    (tmp_path / "spec.mesh").write_bytes(content)
    done = meshc("lint", "spec.mesh", "--format", "concise", cwd=tmp_path)
    assert done.code == 1, done
    assert "Traceback" not in done.out + done.err
    assert "error[E" in done.out
    assert len(done.out) < 20_000
    assert code is None or f"error[{code}]" in done.out


@pytest.mark.parametrize(
    ("path", "code"), [("missing.mesh", "E0130"), (".", "E0131"), ("/dev/zero", "E0132"), ("a" * 5000, "E0132")]
)
def test_what_is_no_file(meshc, tmp_path: Path, path: str, code: str):
    done = meshc("lint", path, cwd=tmp_path)
    assert done.code == 1
    assert f"error[{code}]" in done.out


def test_usage_errors_are_2(meshc):
    assert meshc("lint").code == 2
    assert meshc("lint", "a.mesh", "--format", "xml").code == 2
    assert meshc("nonsense").code == 2


def test_a_bug_is_3_and_asks_for_a_report(spec: Path, monkeypatch, capsys):
    import meshc.driver

    def broken(*_: object):
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(meshc.driver, "read", broken)
    from meshc.cli import _main

    assert _main(["lint", str(spec)]) == 3
    assert "please report it" in capsys.readouterr().err


def test_lint_imports_nothing_heavy(spec: Path):
    heavy = {"jax", "rich", "pydantic", "jinja2", "ruamel", "numpy", "lark", "flax", "optax"}
    code = f"import sys; from meshc.cli import _main; _main(['lint', {str(spec)!r}]); print(sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    checked, modules = done.stdout.splitlines()
    assert checked == f"no problems in {spec}"
    assert {m.split(".")[0] for m in ast.literal_eval(modules)} & heavy == set()


def test_a_suppression_in_a_job(meshc, spec: Path):
    job = spec.parent / "job.yaml"
    text = (
        "spec: spec.mesh\ntrain:\n  optimizer: {name: sgd, b2: 0.9}  # meshc: allow(W0514) for adamw, tried next week\n"
    )
    job.write_text(text)
    assert meshc("lint", "job.yaml", "--strict", cwd=spec.parent).out == "no problems in job.yaml\n"
    job.write_text(text.replace("sgd", "adamw"))
    assert "warning[W0140]" in meshc("lint", "job.yaml", cwd=spec.parent).out


def test_a_suppression_holds_when_the_spec_is_written_anew_and_when_a_flag_sets_the_size(meshc, spec: Path):
    spec.write_text(TINY.replace("mesh { dp = 2 }", "mesh { dp = 2, tp = 2 }  # meshc: allow(W0304) comes later"))
    for _ in range(2):
        for sets in ([], ["--set", "mesh.tp=4"]):
            assert meshc("lint", "spec.mesh", "--strict", *sets, cwd=spec.parent).out == "no problems in spec.mesh\n"
        assert meshc("fmt", spec).code == 0
    assert "\n}  # meshc: allow(W0304) comes later\n" in spec.read_text()
