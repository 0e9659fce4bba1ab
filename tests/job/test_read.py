"""Jobs: defaults, what is refused and what the message points at."""

from pathlib import Path

import pytest

from meshc.diagnostics.model import Diagnostic
from meshc.job.job_file import JobFile, default_job, read_job
from meshc.job.overrides import parse_flags
from meshc.runtime.data.files import matching
from meshc.source import SourceFile

CHIP = "hbm_bytes: 1, hbm_bandwidth: 1.0, matrix_rates: {bfloat16: 1.0}"
TORUS = "torus: {sides: [2, 2], link_bandwidth: 1.0}"


def wired(how: str) -> str:
    """A job on an inline slice of 8 chips."""
    return f"spec: a\nslice: {{chips: 8, chips_per_host: 8, {CHIP}, {how}}}"


def read(text: str, *flags: str) -> tuple[JobFile | None, list[Diagnostic]]:
    overrides, problems = parse_flags(flags)
    assert not problems
    return read_job(SourceFile("jobs/job.yaml", text), overrides, None)


def job(text: str, *flags: str) -> JobFile:
    found, problems = read(text, *flags)
    assert found is not None, problems
    return found


def only(text: str, *flags: str) -> Diagnostic:
    _, problems = read(text, *flags)
    assert len(problems) == 1, problems
    return problems[0]


def test_a_spec_alone_is_a_job():
    found, problems = default_job(Path("a/b.mesh"), (), None)
    assert found is not None
    assert not problems
    assert (found.spec, found.slice, found.overrides) == (Path("a/b.mesh"), None, ())
    assert found.job.train.optimizer.name == "adamw"
    assert found.job.data.source == "python-stdlib"


def test_the_job_of_language_md():
    found = job("""
spec: llama3_8b.mesh
slice: v5e-256
set: {batch: 256, mesh.tp: 8}
train:
  steps: 10000
  microsteps: 2
  optimizer:
    {name: adamw, lr: 3.0e-4, schedule: cosine, warmup: 500, clip: 1.0,
     groups: [{match: "*.scale", weight_decay: 0.0}, {match: "Llama.table", frozen: true}]}
  precision: {params: float32, compute: bfloat16}
  remat: dots
  seed: 0
data: {source: text, paths: ["corpus/*.txt"], tokenizer: bytes}
checkpoint: {dir: checkpoints, every: 500, keep: 3, init_from: null}
launch: {backend: slurm, nodes: 64}
""")
    assert found.spec == Path("jobs/llama3_8b.mesh")  # beside the job
    assert found.slice is not None
    assert found.slice.chips == 256
    assert [(o.key, o.value) for o in found.overrides] == [("batch", "256"), ("mesh.tp", "8")]
    assert [g.frozen for g in found.job.train.optimizer.groups] == [False, True]
    assert found.job.launch.nodes == 64


@pytest.mark.parametrize(
    ("name", "lr", "b2", "decay"), [("adamw", 3e-4, 0.95, 0.1), ("lion", 1e-4, 0.99, 0.1), ("sgd", 0.1, 0.95, 0.0)]
)
def test_defaults_follow_the_optimizer(name: str, lr: float, b2: float, decay: float):
    optimizer = job(f"spec: a\ntrain: {{optimizer: {{name: {name}}}}}").job.train.optimizer
    assert (optimizer.lr, optimizer.b2, optimizer.weight_decay) == (lr, b2, decay)


@pytest.mark.parametrize(
    ("text", "code", "pointed", "said"),
    [
        ("spec: a\ntrain: {stepz: 1}", "E0502", "stepz", "did you mean `steps`?"),
        ("spec: a\ntrian: {}", "E0502", "trian", "did you mean `train`?"),
        ("spec: a\ntrain: {optimizer: {groups: [{mach: x, match: y}]}}", "E0502", "mach", "did you mean `match`?"),
        (f"spec: a\nslice: {{chipz: 1, chips: 1, chips_per_host: 1, {CHIP}}}", "E0502", "chipz", "did you mean `chips`?"),
        ("train: {steps: 1}", "E0507", "train: {steps: 1}", "`spec`"),
        ("spec: a\ntrain: {optimizer: {groups: [{frozen: true}]}}", "E0507", "{frozen: true}", "`match`"),
        ("spec: a\ntrain: {steps: ten}", "E0504", "ten", "an integer, not `ten`"),
        ("spec: a\ntrain: {steps: 1_000}", "E0504", "1_000", "write `1000`"),
        ("spec: a\ntrain: {steps: 10.0}", "E0504", "10.0", "write `10`"),
        ("spec: a\ntrain: {steps: 0}", "E0504", "0", "at least 1, not `0`"),
        ("spec: a\ntrain: {steps: true}", "E0504", "true", "an integer"),
        ("spec: a\ntrain: {optimizer: {lr: .nan}}", "E0504", ".nan", "a finite number"),
        ("spec: a\ntrain: {optimizer: {lr: 1e999}}", "E0504", "1e999", "a finite number"),
        ("spec: a\ntrain: {optimizer: {lr: -1}}", "E0504", "-1", "above 0"),
        ("spec: a\ntrain: {optimizer: {b1: 1}}", "E0504", "1", "below 1"),
        ("spec: a\ntrain: {precision: {compute: bf16}}", "E0504", "bf16", "did you mean `bfloat16`?"),
        ("spec: a\ntrain: {remat: dot}", "E0504", "dot", "did you mean `dots`?"),
        ("spec: a\ntrain: 3", "E0504", "3", "a mapping"),
        ("spec: a\ntrain:", "E0504", "", "a mapping, not empty"),
        ("spec: a\ndata: {paths: a.txt}", "E0504", "a.txt", "write `[a.txt]`"),
        ("spec: a\ntrain: {optimizer: {groups: [{match: a, frozen: yes}]}}", "E0504", "yes", "`true` or `false`"),
        ("spec: 3", "E0504", "3", "put it in quotes"),
        ("spec: ''", "E0504", "''", "not empty"),
        ("spec: a\nset: {batch: [1]}", "E0504", "[1]", "`set.batch`"),
        ("spec: a\nslice: v5e-265", "E0508", "v5e-265", "did you mean `v5e-256`?"),
        ("spec: a\nslice: cpu-99999", "E0508", "cpu-99999", "4096"),
        (f"spec: a\nslice: {{chips: 8, chips_per_host: 3, {CHIP}}}", "E0509", "slice", "do not fill hosts of 3"),
        (f"spec: a\nslice: {{chips: 8, chips_per_host: 8, {CHIP}}}", "E0509", "slice", "`levels`"),
        (wired("levels: [{name: a, size: 2}, {name: b, size: 3}]"), "E0509", "slice", "wire 6 chips, `chips` says 8"),
        (wired("levels: [{name: a, size: 2}, {name: a, size: 4}]"), "E0509", "slice", "two levels have the name `a`"),
        (wired(f"{TORUS}, levels: [{{name: torus, size: 2}}]"), "E0509", "slice", "call the level otherwise"),
        (wired(f"{TORUS}, levels: [{{name: dcn, size: 4}}]"), "E0509", "slice", "wire 16 chips"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_once_with_its_place_and_cure(text: str, code: str, pointed: str, said: str):
    found = only(text)
    assert found.code == code
    assert found.span is not None
    assert found.span.text == pointed
    assert said in "\n".join((found.message, *found.helps))


def test_a_level_whose_speed_is_not_known():
    found = job(wired("levels: [{name: node, size: 4}, {name: rack, size: 1, bandwidth: 2.0}, {name: net, size: 2}]"))
    assert found.slice is not None
    assert [(level.name, level.bandwidth) for level in found.slice.levels] == [
        ("node", None),
        ("rack", 2.0),
        ("net", None),
    ]


def test_all_problems_come_at_once():
    _, problems = read("spec: 3\ntrain: {steps: x, seed: -1}\nfoo: 1\n")
    assert sorted(d.code for d in problems) == ["E0502", "E0504", "E0504", "E0504"]


def test_a_wrong_optimizer_does_not_blame_the_defaults_that_hang_on_it():
    assert only("spec: a\ntrain: {optimizer: {name: adamm}}").code == "E0504"


def test_flags_win_over_the_file_and_keep_the_rest():
    found = job("spec: a\nset: {batch: 1, seq: 2}\ntrain: {steps: 5, seed: 7}", "batch=8", "train.steps=9", "mesh.tp=*")
    assert (found.job.train.steps, found.job.train.seed) == (9, 7)
    assert {o.key: o.value for o in found.overrides} == {"batch": "8", "seq": "2", "mesh.tp": "*"}


def test_a_flag_can_give_a_whole_section_or_list():
    found = job("spec: a", "train.optimizer={name: sgd, lr: 0.5}", "data.paths=[x, y]", "data.source=text")
    assert (found.job.train.optimizer.name, found.job.train.optimizer.lr) == ("sgd", 0.5)
    assert found.job.data.paths == tuple(str(Path(name).absolute()) for name in ("x", "y"))


def test_paths_are_relative_to_the_file_and_those_of_flags_to_where_we_are(monkeypatch, tmp_path: Path):
    monkeypatch.chdir(tmp_path)
    text = "spec: a\ndata: {source: text, paths: [c/*.txt, /x, ~/y, 'gs://b/z'], tokenizer: t.json}\n"
    text += "checkpoint: {dir: kept, init_from: ../runs/a}"
    found = job(text)  # jobs/job.yaml
    assert found.job.data.paths == (f"{tmp_path}/jobs/c/*.txt", "/x", "~/y", "gs://b/z")
    assert found.job.data.tokenizer == f"{tmp_path}/jobs/t.json"
    assert (found.job.checkpoint.init_from, found.job.checkpoint.dir) == (f"{tmp_path}/runs/a", "kept")
    flagged = job(text, "data.paths=[c.txt]", "checkpoint.init_from=runs/b")
    assert flagged.job.data.paths == (f"{tmp_path}/c.txt",)
    assert flagged.job.checkpoint.init_from == f"{tmp_path}/runs/b"
    assert flagged.job.data.tokenizer == f"{tmp_path}/jobs/t.json"


def test_a_directory_whose_name_is_a_pattern_is_taken_literally(monkeypatch, tmp_path: Path):
    home = tmp_path / "runs[1]*"
    home.mkdir()
    monkeypatch.chdir(home)
    (home / "a.txt").write_text("text")
    assert matching(job("spec: a", "data.paths=['*.txt']").job.data.paths) == [home / "a.txt"]


def test_what_a_flag_does_wrong_is_shown_at_the_flag():
    found = only("spec: a", "train.steps = ten")
    assert str(found.span) == "--set:1:15"
    assert found.span is not None
    assert found.span.text == "ten"


def test_values_know_where_they_are_written():
    found = job("spec: a\ntrain: {optimizer: {groups: [{match: x}]}}")
    assert str(found.span("train", "optimizer", "groups", 0, "match")) == "jobs/job.yaml:2:38"
    assert found.span("train", "steps") is None


@pytest.mark.parametrize("flag", ["batch", "=3", "batch=", "", "  = 1"])
def test_a_flag_without_name_or_value(flag: str):
    assert [d.code for d in parse_flags([flag])[1]] == ["E0510"]


def test_a_flag_given_twice():
    assert [d.code for d in parse_flags(["a=1", "a=2"])[1]] == ["E0503"]
