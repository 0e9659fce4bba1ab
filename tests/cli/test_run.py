"""meshc run, as a user runs it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from meshc.launch.program_dir import write_program


def program(directory: Path, code: int = 0) -> Path:
    """A built program that writes down how it was started."""
    text = (
        "import json, os, sys\n"
        f"told = {{'arguments': sys.argv[1:], 'devices': os.environ.get('JAX_NUM_CPU_DEVICES')}}\n"
        f"open({str(directory / 'told')!r}, 'w').write(json.dumps(told)); sys.exit({code})\n"
    )
    assert not write_program(directory, {"train.py": text}, {"devices": 6, "slice": None})
    return directory


def test_run_of_a_built_program(meshc, tmp_path: Path):
    built = program(tmp_path / "built", code=5)
    done = meshc("run", built, "--steps", "3", "--out", tmp_path / "r", "--resume", "--", "--init-from", "x")
    assert done.code == 5
    told = json.loads((built / "told").read_text())
    flags = ["--out", str(tmp_path / "r"), "--steps", "3", "--resume", "--init-from", "x"]
    assert told == {"arguments": flags, "devices": "6"}


def test_a_run_that_goes_on_is_named(meshc, tmp_path: Path):
    done = meshc("run", program(tmp_path / "built"), "--resume")
    assert (done.code, "name its directory with --out" in done.err) == (2, True)


def test_each_run_has_a_directory_of_its_own(meshc, tmp_path: Path):
    built = program(tmp_path / "built")
    outs = set()
    for _ in range(3):
        assert meshc("run", built, cwd=tmp_path).code == 0
        out = json.loads((built / "told").read_text())["arguments"][1]
        assert out.startswith("runs/built-")
        (tmp_path / out).mkdir(parents=True)
        outs.add(out)
    assert len(outs) == 3


def test_a_built_program_takes_no_settings(meshc, tmp_path: Path):
    assert meshc("run", program(tmp_path / "built"), "--set", "batch=8").code == 2


def test_run_of_what_is_no_program(meshc, tmp_path: Path):
    assert "E0603" in meshc("run", tmp_path).err


def test_run_of_a_run_names_its_program(meshc, tmp_path: Path):
    program(tmp_path / "r" / "program")
    done = meshc("run", "r", cwd=tmp_path)
    assert (done.code, "E0603" in done.err) == (1, True)
    assert "`meshc run r/program --out r --resume` goes on with it" in done.err


@pytest.mark.parametrize(
    "settings", [["--slice", "cpu-2x1"], ["--set", "launch.backend=slurm", "--set", "launch.nodes=1"]]
)
def test_run_elsewhere_is_refused_before_anything_is_written(meshc, home: Path, settings: list[str]):
    done = meshc("run", "spec.mesh", *settings, cwd=home)
    assert done.code == 1
    assert "E0604" in done.err
    assert [p.name for p in home.iterdir()] == ["spec.mesh"]


INLINE = """spec: spec.mesh
slice:
  chips: 2
  chips_per_host: 1
  hbm_bytes: 85899345920
  hbm_bandwidth: 3.35e+12
  matrix_rates: {bfloat16: 9.9e+14}
  levels: [{name: network, size: 2}]
"""


@pytest.mark.parametrize(
    ("job", "said"),
    [
        (INLINE, "slice `inline` is 2 hosts, and this is one machine"),
        ("spec: spec.mesh\nslice: cpu-2\nlaunch: {backend: slurm}\n", "the job is for `slurm`"),
    ],
)
def test_a_built_program_runs_on_what_it_was_built_for(meshc, home: Path, job: str, said: str):
    (home / "job.yaml").write_text(job)
    assert meshc("build", "job.yaml", "-o", "program", cwd=home).code == 0
    done = meshc("run", "program", cwd=home)
    assert (done.code, f"error[E0604]: {said}" in done.err) == (1, True)


@pytest.mark.parametrize(("slice_name", "here"), [("h100-8", True), ("h100-16", False)])
def test_a_job_for_a_cluster_is_offered_to_run_here_if_one_machine_is_enough(
    meshc, home: Path, slice_name: str, here: bool
):
    (home / "job.yaml").write_text(
        f"spec: spec.mesh\nslice: {slice_name}\nlaunch: {{backend: slurm}}\ncheckpoint: {{shared: true}}\n"
    )
    sizes = ["--set", f"mesh.dp={slice_name.removeprefix('h100-')}", "--set", "batch=16"]
    done = meshc("run", "job.yaml", *sizes, cwd=home)
    assert "E0604" in done.err
    assert ("launch.backend=local` runs it here" in done.err) == here


def test_run_trains_a_spec(home: Path):
    """The whole way, from a spec to metrics and a checkpoint."""
    command = [sys.executable, "-m", "meshc.cli", "run", "spec.mesh", "--set", "data.source=synthetic"]
    done = subprocess.run(
        [*command, "--steps", "2", "--out", "r"], cwd=home, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    metrics = [json.loads(line) for line in (home / "r" / "metrics.jsonl").read_text().splitlines()]
    assert [m["step"] for m in metrics] == [1, 2]
    assert (home / "r" / "program" / "train.py").is_file()
    assert list((home / "r" / "checkpoints").iterdir())
