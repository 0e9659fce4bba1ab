"""`meshc prove`: lines, exit codes, and the programs that it lets be compared."""

from pathlib import Path

import pytest

from meshc.cli import _builder
from meshc.prove import proofs
from meshc.prove.model import Measure, Proof
from meshc.prove.variants import EXACT, SGD, Built

SPEC = """\
mesh { dp = 2, tp = * }

dims { batch = 4, seq = 8, embed = 16, vocab = 32 }

model Tiny(tokens: [batch, seq] of vocab) {
  param table: vocab -> embed
  loss next_token(table[tokens] @ table, tokens)
}

partition { data(dp); tensor(tp) }
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    (tmp_path / "spec.mesh").write_text(SPEC)
    return tmp_path / "spec.mesh"


def holding(name, build, deviation: float = 1e-12) -> list[Proof]:
    return [Proof(name, "parity", (Measure("loss", "step 1", deviation, 1e-10),))]


@pytest.mark.parametrize(("deviation", "code"), [(1e-12, 0), (1.0, 1)])
def test_a_line_a_spec_and_1_where_one_fails(meshc, spec: Path, monkeypatch, deviation: float, code: int):
    monkeypatch.setattr(proofs, "run", lambda name, build: holding(name, build, deviation))
    done = meshc("prove", spec, "--slice", "cpu-4")
    assert done.code == code
    line, *_, summary = done.out.splitlines()
    assert line.startswith(f"{'FAILS' if code else 'holds'}  {spec}")
    assert summary.startswith("0 of 1 specs hold, 1 fails; " if code else "1 of 1 specs hold; ")


def test_a_spec_with_errors_does_not_keep_others_from_being_proven(meshc, spec: Path, monkeypatch):
    monkeypatch.setattr(proofs, "run", holding)
    whole = spec.with_name("whole.mesh")
    whole.write_text(SPEC.replace("*", "2"))
    done = meshc("prove", spec, whole)  # the size of tp is unknown in the first
    assert (done.code, "E0219" in done.err) == (1, True)
    assert done.out.startswith(f"holds  {whole}")
    assert "1 of 2 specs hold, 1 has errors" in done.out


def test_a_bug_that_one_spec_meets_does_not_keep_others_from_being_proven(meshc, spec: Path, monkeypatch):
    def run(name, build):
        if name == str(spec):
            raise KeyError("a bug")
        return holding(name, build)

    monkeypatch.setattr(proofs, "run", run)
    other = spec.with_name("other.mesh")
    other.write_text(SPEC)
    done = meshc("prove", spec, other, "--slice", "cpu-4")
    assert done.code == 1
    assert "KeyError: 'a bug'" in done.out
    assert f"holds  {other}" in done.out


def test_there_must_be_something_to_prove(meshc):
    assert meshc("prove").code == 2


def test_drawn_specs_are_counted_with_those_that_are_refused(meshc, monkeypatch):
    monkeypatch.setattr(proofs, "run", holding)
    done = meshc("prove", "--mixed", "2")
    assert done.code == 0, done.out
    assert [line.startswith("holds  mixed-") for line in done.out.splitlines()[:3]] == [True, True, False]
    assert "2 mixed specs wanted of draws 0 to " in done.out


def built(spec: Path, flags: tuple[str, ...], on_slice: bool, *sets: str) -> Built:
    found = _builder(str(spec), "cpu-4", sets)(flags, on_slice)
    assert isinstance(found, Built), found
    return found


def test_the_proofs_settings_win_over_the_users(spec: Path):
    users = ("train.optimizer.lr=0.5", "train.precision.compute=bfloat16", "train.steps=7")
    job = built(spec, (*EXACT, *SGD), True, *users).job
    assert job.train.precision.compute == "float64"
    assert (job.train.optimizer.name, job.train.optimizer.lr) == ("sgd", 0.1)
    assert job.train.steps == 7


def test_the_one_device_program_has_no_slice(spec: Path):
    assert built(spec, (), True).placed.sizes == {"dp": 2, "tp": 2}
    assert built(spec, ("mesh.dp=1", "mesh.tp=1"), False, "mesh.dp=4").placed.sizes == {}


def test_the_slice_of_a_job_does_not_count_for_the_one_device_program(spec: Path):
    job = spec.with_name("job.yaml")
    job.write_text(f"{{spec: {spec.name}, slice: cpu-4}}")
    build = _builder(str(job), None, ())
    for flags, on_slice, sizes in (((), True, {"dp": 2, "tp": 2}), (("mesh.dp=1", "mesh.tp=1"), False, {})):
        found = build(flags, on_slice)
        assert isinstance(found, Built), found
        assert found.placed.sizes == sizes


def test_what_cannot_be_built_is_said(spec: Path):
    found = _builder(str(spec), "cpu-3", ())((), True)
    assert not isinstance(found, Built)
    assert [d.code for d in found] == ["E0219"]
