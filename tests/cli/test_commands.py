"""fmt, build, explain and schema, as a user runs them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import meshc.cli as cli
from meshc.console import BUG
from meshc.diagnostics.codes import TITLES
from meshc.lint import run
from tests.tiny import SPLIT

# ---------------------------------------------------------------- fmt


def test_fmt_writes_and_then_has_nothing_to_do(meshc, home: Path):
    (home / "spec.mesh").write_text(SPLIT.replace("mesh { dp = 2 }", "mesh{dp=2}"))
    assert meshc("fmt", "spec.mesh", "--check", cwd=home).code == 1
    done = meshc("fmt", "spec.mesh", cwd=home)
    assert (done.code, done.out) == (0, "wrote spec.mesh anew\n")
    done = meshc("fmt", "spec.mesh", cwd=home)
    assert (done.code, done.out) == (0, "")
    assert meshc("fmt", "spec.mesh", "--check", cwd=home).code == 0
    assert "mesh{" not in (home / "spec.mesh").read_text()
    assert [p.name for p in home.iterdir()] == ["spec.mesh"]


def test_fmt_leaves_a_broken_spec_alone(meshc, home: Path):
    broken = SPLIT.replace("batch = 4", "batch = = 4")
    (home / "spec.mesh").write_text(broken)
    done = meshc("fmt", "spec.mesh", cwd=home)
    assert done.code == 1
    assert "spec.mesh:3:" in done.err
    assert (home / "spec.mesh").read_text() == broken


def test_fmt_says_that_a_job_is_no_spec(meshc, home: Path):
    (home / "job.yaml").write_text("spec:  spec.mesh\n")
    done = meshc("fmt", "job.yaml", cwd=home)
    assert (done.code, done.out) == (1, "")
    assert "error[E0136]: `job.yaml` is a job, and `meshc fmt` writes specs" in done.err
    assert (home / "job.yaml").read_text() == "spec:  spec.mesh\n"


def test_a_program_reads_what_lies_beside_its_job(meshc, home: Path):
    """Wherever it is started: built in one directory, its job in another."""
    (home / "jobs").mkdir()
    (home / "jobs" / "job.yaml").write_text("spec: ../spec.mesh\ndata: {source: text, paths: [corpus/*.txt]}\n")
    assert meshc("build", "jobs/job.yaml", "-o", "built", "--set", "vocab=256", cwd=home).code == 0
    assert f'["{home}/jobs/corpus/*.txt"]' in (home / "built" / "train.py").read_text()


def test_fmt_keeps_the_mode_and_writes_through_a_link(meshc, home: Path):
    (home / "spec.mesh").write_text(SPLIT.replace("mesh { dp = 2 }", "mesh{dp=2}"))
    (home / "spec.mesh").chmod(0o640)
    (home / "link.mesh").symlink_to("spec.mesh")
    assert meshc("fmt", "link.mesh", cwd=home).code == 0
    assert (home / "link.mesh").is_symlink()
    assert (home / "spec.mesh").stat().st_mode & 0o777 == 0o640


def test_fmt_on_a_full_disk_leaves_the_file_as_it_was(meshc, home: Path, monkeypatch):
    text = SPLIT.replace("mesh { dp = 2 }", "mesh{dp=2}")
    (home / "spec.mesh").write_text(text)

    def full(path: Path, data: bytes) -> None:
        path.touch()
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(Path, "write_bytes", full)
    done = meshc("fmt", "spec.mesh", cwd=home)
    assert done.code == 1
    assert "error[E0602]" in done.err
    assert [p.name for p in home.iterdir()] == ["spec.mesh"]
    assert (home / "spec.mesh").read_text() == text


# ---------------------------------------------------------------- build


def test_build_writes_a_program_that_says_what_it_is(meshc, home: Path):
    done = meshc("build", "spec.mesh", "-o", "out", cwd=home)
    assert (done.code, done.out) == (0, "wrote out/train.py for 2 devices\n")
    manifest = json.loads((home / "out" / "program.json").read_text())
    assert (manifest["mesh"], manifest["devices"], manifest["slice"]) == ({"dp": 2}, 2, None)
    assert manifest["spec"]["name"] == "spec.mesh"
    assert (home / "out" / "spec" / "spec.mesh").read_text() == SPLIT
    compile((home / "out" / "train.py").read_text(), "train.py", "exec")


def test_build_goes_to_build_by_default_and_can_be_repeated(meshc, home: Path):
    for batch in (4, 8):
        assert meshc("build", "spec.mesh", "--set", f"batch={batch}", cwd=home).code == 0
        manifest = json.loads((home / "build" / "spec" / "program.json").read_text())
        tokens = next(t for t in manifest["tensors"] if t["kind"] == "input")
        assert tokens["shape"] == [batch, 8]


def test_build_keeps_the_users_imports(meshc, home: Path):
    (home / "lib").mkdir()
    (home / "lib" / "spec.mesh").write_text("layer Same(x) { return x }\n")
    (home / "spec.mesh").write_text('import "lib/spec.mesh"\nimport "std/llama.mesh"\n' + SPLIT)
    assert meshc("build", "spec.mesh", "-o", "out", cwd=home).code == 0
    assert sorted(p.name for p in (home / "out" / "spec").iterdir()) == ["spec.mesh", "spec1.mesh"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["missing.mesh"], "E0130"), (["spec.mesh", "--slice", "cpu-3"], "E0303"), (["spec.mesh", "-o", "."], "E0601")],
)
def test_build_refuses_and_writes_nothing(meshc, home: Path, arguments: list[str], code: str):
    done = meshc("build", *arguments, cwd=home)
    assert done.code == 1
    assert f"[{'E0304' if 'cpu-3' in arguments else code}]" in done.err
    assert [p.name for p in home.iterdir()] == ["spec.mesh"]


def test_strict_stops_a_build_at_a_warning(meshc, home: Path):
    assert meshc("build", "spec.mesh", "--set", "mesh.dp=2", "--strict", cwd=home).code == 0
    (home / "spec.mesh").write_text(SPLIT.replace("vocab = 32", "vocab = 32, spare = 1"))
    assert meshc("build", "spec.mesh", "--strict", "-o", "out", cwd=home).code == 1
    assert not (home / "out").exists()
    assert meshc("build", "spec.mesh", "-o", "out", cwd=home).code == 0


# ---------------------------------------------------------------- explain


def explained(meshc, home: Path, *arguments: str) -> dict:
    done = meshc("explain", "spec.mesh", *arguments, "--format", "json", cwd=home)
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_explain_in_json(meshc, home: Path):
    found = explained(meshc, home)
    assert found["mesh"] == {"dp": 2}
    weight = next(t for t in found["tensors"] if t["kind"] == "param")
    # 32 x 16 float32 = 2048 bytes, embed in two
    assert weight == {
        "path": "Tiny.table",
        "kind": "param",
        "dims": ["vocab", "embed"],
        "shape": [32, 16],
        "placement": {"embed": ["dp"]},
        "shard_shape": [32, 8],
        "bytes": 2048,
        "bytes_per_device": 1024,
    }
    kinds = {(t["path"], t["kind"]): t for t in found["tensors"]}
    assert kinds["Tiny.tokens", "input"]["bytes"] == 4 * 8 * 4  # int32
    assert kinds["Tiny.x", "activation"]["shard_shape"] == [2, 8, 16]
    # Adam has two moments of a weight; tokens and their targets are 4 x 8 ids of 4 bytes each, half of them here
    at_rest = {name: found["memory"][name] for name in ("params", "gradients", "optimizer", "state", "inputs")}
    assert at_rest == {"params": 1024, "gradients": 1024, "optimizer": 2048, "state": 0, "inputs": 128}
    # The gathered table, 2048 bytes, waits for the backward pass of the tied head.
    assert found["memory"]["gathered_weights"] == 2048
    gather = next(c for c in found["collectives"] if c["op"] == "all-gather" and c["phase"] == "forward")
    # A device sends its half to the other: (2 - 1) / 2 of 2048 bytes, for each use that gathers
    assert gather["axes"] == ["dp"]
    assert gather["tensor"] == "Tiny.table"
    assert gather["bytes_per_device"] == gather["count"] * 1024


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("table", {"Tiny.table"}),
        ("Tiny.*", {"Tiny.table", "Tiny.x"}),
        ("*.tab*", {"Tiny.table"}),
        ("Tiny.t?ble", {"Tiny.table"}),
    ],
)
def test_explain_a_part(meshc, home: Path, name: str, paths: set[str]):
    assert paths <= {tensor["path"] for tensor in explained(meshc, home, name)["tensors"]}


@pytest.mark.parametrize("name", ["*.tabel", "tabel", "[", ""])
def test_explain_a_part_that_is_none(meshc, home: Path, name: str):
    done = meshc("explain", "spec.mesh", name, cwd=home)
    assert (done.code, done.out) == (1, "")
    assert "E0605" in done.err


def test_explain_follows_the_job(meshc, home: Path):
    half = explained(meshc, home, "--set", "train.precision={params: bfloat16, compute: bfloat16}")
    assert half["memory"]["params"] == 512
    sgd = explained(meshc, home, "--set", "train.optimizer.name=sgd")
    assert sgd["memory"]["optimizer"] == 0
    assert explained(meshc, home, "--slice", "cpu-2")["slice"] == {
        "name": "cpu-2", "chips": 2, "hosts": 1, "platform": "cpu",
    }  # fmt: skip


def test_explain_one_tensor(meshc, home: Path):
    paths = {t["path"] for t in explained(meshc, home, "table")["tensors"]}
    assert paths == {"Tiny.table"}
    done = meshc("explain", "spec.mesh", "tabel", cwd=home)
    assert (done.code, "did you mean `table`?" in done.err) == (1, True)


def test_explain_as_text(meshc, home: Path):
    out = meshc("explain", "spec.mesh", cwd=home).out
    assert out.startswith("mesh: dp 2 = 2 devices\n")
    row = next(line for line in out.splitlines() if line.startswith("Tiny.table"))
    assert row.split("  ")[-1] == "1.00 KiB"
    assert "embed -> dp" in row
    assert all(len(line) < 200 for line in out.splitlines())


def test_explain_a_code(meshc, home: Path):
    done = meshc("explain", "e0201", cwd=home)
    assert done.code == 0
    assert done.out.startswith(f"# E0201: {TITLES['E0201']}\n")
    assert meshc("explain", "error[E0201]", cwd=home).out == done.out


@pytest.mark.parametrize(
    ("code", "help_line"),
    [
        ("W0201", "did you mean `E0201`?"),
        ("E201", "did you mean `E0201`?"),
        ("0201", "did you mean `E0201`?"),
        ("E0211", "there are `E0210`, `E0212`, "),
        ("E9999", "a code is `E` or `W` and four digits"),
    ],
)
def test_explain_a_code_that_is_none(meshc, home: Path, code: str, help_line: str):
    done = meshc("explain", code, cwd=home)
    assert (done.code, done.out) == (1, "")
    assert f"error[E0606]: no diagnostic has the code `{code}`" in done.err
    assert help_line in done.err


# ---------------------------------------------------------------- schema


@pytest.mark.parametrize(("what", "keys"), [("job", {"spec", "train", "launch"}), ("slice", {"chips", "torus"})])
def test_schema(meshc, what: str, keys: set[str]):
    schema = json.loads(meshc("schema", what).out)
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert keys <= set(schema["properties"])


# ---------------------------------------------------------------- the command line itself


def test_version_and_help(meshc):
    import meshc as package

    assert meshc("--version").out == f"meshc {package.__version__}\n"
    done = meshc("--help")
    assert done.code == 0
    assert all(command in done.out for command in ("lint", "fmt", "build", "run", "explain", "prove", "schema"))


def test_the_traceback_of_a_bug_only_when_asked_for(monkeypatch, capsys):
    def broken(*_: object, **__: object):
        raise RuntimeError("planted")

    monkeypatch.setattr(run, "arranged", broken)
    for debug in ("", "1"):
        monkeypatch.setenv("MESHC_DEBUG", debug)
        assert cli._main(["lint", "missing.mesh"]) == BUG
        err = capsys.readouterr().err
        assert "RuntimeError: planted" in err
        assert ("Traceback" in err) == bool(debug)


def test_a_reader_that_goes_away_is_no_error(home: Path):
    command = f"{sys.executable} -m meshc.cli explain spec.mesh | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], cwd=home, capture_output=True, text=True, check=False)
    assert done.stderr == ""


@pytest.mark.parametrize("command", ["lint spec.mesh", "explain spec.mesh", "lint missing.mesh", "--help"])
@pytest.mark.parametrize("streams", ["> /dev/full", "> /dev/full 2>&1", "2> /dev/full"])
def test_output_that_a_full_disk_does_not_take(home: Path, command: str, streams: str):
    shell = f"{sys.executable} -m meshc.cli {command} {streams}"
    done = subprocess.run(["bash", "-c", shell], cwd=home, capture_output=True, text=True, check=False)
    written = streams == "2> /dev/full" and command != "lint missing.mesh"
    assert done.returncode == (0 if written else 1)
    assert "bug" not in done.stderr and "Traceback" not in done.stderr
    assert streams != "> /dev/full" or "cannot write the output: no space left on device" in done.stderr


@pytest.mark.parametrize(("streams", "out"), [(">&-", ""), ("2>&-", "no problems in spec.mesh\n"), (">&- 2>&-", "")])
def test_closed_streams(home: Path, streams: str, out: str):
    shell = f"{sys.executable} -m meshc.cli lint spec.mesh {streams}"
    done = subprocess.run(["bash", "-c", shell], cwd=home, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, out, "")
