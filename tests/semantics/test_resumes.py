"""Checkpoints that a job names, read without jax and held against the model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from meshc.cli import _main
from meshc.diagnostics.model import Diagnostic
from meshc.driver import check
from meshc.job.target import Request

SPEC = """import "std/llama.mesh"
mesh { dp = 1, tp = 1 }
dims { batch = 16, seq = 8, embed = 8, mlp = 16, vocab = pad(57, 8), layers = 2 }
model Llama(tokens: [batch, seq] of vocab) {
  param table: vocab -> embed
  x = table[tokens]
  repeat layers { x = SwiGLU(x) as block }
  loss next_token(x @ table, tokens)
}
partition {
  data(dp)
  tensor(tp)
}
"""
WEIGHTS = {
    "Llama.table": [57, 8],
    "Llama.block.gate": [2, 8, 16],
    "Llama.block.up": [2, 8, 16],
    "Llama.block.down": [2, 16, 8],
}


def saved(run: Path, weights: dict[str, list[int]] = WEIGHTS, dtype: str = "float32", step: int = 50) -> Path:
    """A run's directory with a checkpoint, as far as its metadata go."""
    folder = run / "checkpoints" / str(step)
    for part in ("weights", "meta", "arrays"):
        (folder / part).mkdir(parents=True)
    arrays = {f"weights/{name}": {"shape": shape, "dtype": dtype} for name, shape in weights.items()}
    (folder / "arrays" / "metadata").write_text(json.dumps({"step": {"shape": [], "dtype": "int32"}, **arrays}))
    (folder / "meta" / "metadata").write_text(json.dumps({"step": step, "seed": 0}))
    return run


def found(run: Path, *sets: str, spec: str = SPEC, key: str = "checkpoint.init_from") -> tuple[Diagnostic, ...]:
    path = run.parent / "spec.mesh"
    path.write_text(spec)
    return said(Request(str(path), sets=(f"{key}={run}", *sets)))


def said(request: Request) -> tuple[Diagnostic, ...]:
    """All but that so small a vocabulary is padded by much."""
    return tuple(d for d in check(request).diagnostics if d.code != "W0328")


@pytest.mark.parametrize("mesh", [(), ("mesh.dp=2", "mesh.tp=8"), ("mesh.dp=16",), ("vocab=57", "mesh.dp=4")])
def test_another_mesh_or_padding_is_the_same_model(mesh: tuple[str, ...], tmp_path: Path):
    """google/orbax#648: a checkpoint was refused on another mesh than the one that saved it."""
    assert not found(saved(tmp_path / "run"), *mesh)


@pytest.mark.parametrize("source", ["run", "run/checkpoints", "run/checkpoints/50"])
def test_each_way_to_name_one(source: str, tmp_path: Path):
    saved(tmp_path / "run", {**WEIGHTS, "Llama.head": [8, 57]})
    saved(tmp_path / "run", WEIGHTS, step=7)
    [problem] = found(tmp_path / source)
    assert (problem.code, "only in it: `Llama.head` [8, 57]" in problem.helps) == ("E0530", True)


def test_only_a_dim_that_does_not_divide_is_in_the_way(tmp_path: Path):
    [problem] = found(saved(tmp_path / "run"), "mesh.dp=3")
    assert (problem.code, problem.message) == (
        "E0301",
        "16 batch cannot be split over dp = 3 shards: 16 % 3 = 1",
    )


def labels(problem: Diagnostic) -> list[tuple[str, str]]:
    return [(label.span.text, label.text) for label in problem.labels[1:]]


def test_a_dim_of_another_size_is_said_once(tmp_path: Path):
    [problem] = found(saved(tmp_path / "run"), "embed=16")
    assert problem.code == "E0530"
    assert labels(problem) == [("embed", "`embed` is 8 there, 16 here, in `Llama.block.down` and 3 more")]


def test_what_is_missing_and_what_is_too_much(tmp_path: Path):
    others = {name: shape for name, shape in WEIGHTS.items() if name != "Llama.block.up"}
    [problem] = found(saved(tmp_path / "run", {**others, "Llama.table": [57, 8, 1], "Llama.block.up.w": [2, 8, 16]}))
    assert labels(problem) == [
        ("table", "`Llama.table` is [57, 8, 1] there, [57, 8] here"),
        ("up", "`Llama.block.up` is not in it"),
    ]
    assert problem.helps[0] == "only in it: `Llama.block.up.w` [2, 8, 16], perhaps `Llama.block.up` here"


def test_a_part_of_another_name_is_one_difference(tmp_path: Path):
    [problem] = found(saved(tmp_path / "run"), spec=SPEC.replace("as block", "as mlp"))
    assert labels(problem) == [("gate", "all of `Llama.mlp` is `Llama.block` in it")]
    assert problem.helps[0] == "call it so again: `… as block`"


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("train.seed=4", "the seed is 0 there, 4 here"),
        ("train.precision.params=bfloat16", "weights are float32 there, bfloat16 here"),
    ],
)
def test_a_run_goes_on_as_it_was_begun(flag: str, message: str, tmp_path: Path):
    run = saved(tmp_path / "run") / "checkpoints"
    [problem] = found(run, flag, key="checkpoint.dir")
    assert problem.message == f"`{run}/50` cannot be gone on with: {message}"
    assert not found(run, key="checkpoint.dir")
    assert not found(run, flag)  # `init_from` takes the weights, in any dtype, and draws anew


def test_a_directory_of_another_model_cannot_be_gone_on_with(tmp_path: Path):
    [problem] = found(saved(tmp_path / "run") / "checkpoints", "layers=4", key="checkpoint.dir")
    assert (problem.code, labels(problem)) == (
        "E0530",
        [("layers", "`layers` is 2 there, 4 here, in `Llama.block.down` and 2 more")],
    )


@pytest.mark.parametrize(("spec", "message"), [
    (SPEC.replace("layers = 2", "layers = 4"), "`run/checkpoints` is a checkpoint of another model"),
    (SPEC, "`run/checkpoints/50` cannot be gone on with: the seed is 0 there, 1 here"),
])  # fmt: skip
def test_a_run_of_another_model_ends_before_it_is_started(
    spec: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    saved(tmp_path / "run")
    (tmp_path / "spec.mesh").write_text(spec)
    monkeypatch.chdir(tmp_path)
    assert _main(["run", "spec.mesh", "--out", "run", "--resume", "--set", "train.seed=1"]) == 1
    said = capsys.readouterr().err
    assert f"error[E0530]: {message}" in said
    assert "--> --out:1:1" in said
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["checkpoints"]  # no program is written


STATEFUL = SPEC.replace(
    "  loss next", "  state seen: [embed] = zeros\n  seen := 0.5 * seen + mean(x, over = [batch, seq])\n  loss next"
)


def test_what_is_carried_is_part_of_a_run(tmp_path: Path):
    """A run goes on with its state; one that only takes weights draws its own."""
    run = saved(tmp_path / "run")
    [problem] = found(run / "checkpoints", spec=STATEFUL, key="checkpoint.dir")
    assert labels(problem) == [("seen", "`Llama.seen` is not in it")]
    assert not found(run, spec=STATEFUL)


def test_what_does_not_say_what_it_holds_is_left_to_the_program(tmp_path: Path):
    run = saved(tmp_path / "run")
    shapes = (f'{{"weights/Llama.table": {{"shape": {shape}, "dtype": 1}}}}' for shape in ('"a"', "null", "[Infinity]"))
    for text in ("{", "[]", '{"weights/Llama.table": 3}', *shapes, "{}"):
        (run / "checkpoints" / "50" / "arrays" / "metadata").write_text(text)
        assert not found(run)


@pytest.mark.parametrize("inside", ["", "checkpoints/50.orbax-checkpoint-tmp/meta", "checkpoints/best/meta"])
def test_where_there_is_none_it_is_said(inside: str, tmp_path: Path):
    (tmp_path / "run" / inside).mkdir(parents=True)
    assert [d.code for d in found(tmp_path / "run")] == ["W0530"]


def test_of_a_bucket_or_another_machine_nothing_is_known(tmp_path: Path):
    path = tmp_path / "spec.mesh"
    path.write_text(SPEC)
    for sets in (("init_from=gs://bucket/run",), ("init_from=/mnt/run", "shared=true")):
        flags = (*(f"checkpoint.{one}" for one in sets), "launch.backend=slurm", "launch.nodes=1")
        assert not said(Request(str(path), sets=flags))
