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


@pytest.mark.parametrize(("deviation", "code"), [(1e-12, 0), (1.0, 1)])
def test_a_line_a_proof_and_1_where_one_fails(meshc, spec: Path, monkeypatch, deviation: float, code: int):
    proof = Proof("spec.mesh", "parity", (Measure("loss", "step 1", deviation, 1e-10),))
    monkeypatch.setattr(proofs, "run", lambda name, build: [proof])
    done = meshc("prove", spec, "--slice", "cpu-4")
    assert done.code == code
    assert done.out.startswith("spec.mesh  parity     " + ("FAILS" if code else "holds"))


def test_a_spec_with_errors_is_not_proven(meshc, spec: Path, monkeypatch):
    monkeypatch.setattr(proofs, "run", lambda name, build: pytest.fail("nothing to prove"))
    done = meshc("prove", spec)  # the size of tp is unknown
    assert (done.code, "E0219" in done.err) == (1, True)


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
