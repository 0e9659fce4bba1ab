"""The loop: what it leaves behind, and that an interrupted run, resumed, is an uninterrupted one."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import jax
import numpy as np
import pytest

from meshc import runtime
from meshc.runtime.canonical import layout
from meshc.runtime.checkpoint import Store, load_weights
from tests.runtime import bigram

ROOT = Path(__file__).parents[2]
EXACT = ("step", "loss", "grad_norm", "learning_rate", "tokens", "Tiny.seen")


@pytest.fixture(scope="module")
def program():
    return bigram.build(runtime.make_mesh({"fsdp": 4, "tp": 2}))


def train(program, out, steps, **options):
    options = {"data": runtime.Synthetic(), "checkpoint": runtime.Checkpoint(every=4)} | options
    return runtime.train(program, steps=steps, out=out, **options)


def curve(out):
    """What must be the same from run to run, step by step."""
    rows = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    return [{name: row[name] for name in EXACT} for row in rows]


def mistake(action):
    with pytest.raises(runtime.UserError) as raised:
        action()
    return str(raised.value)


def test_a_run_says_what_it_is_and_leaves_its_files(program, tmp_path, capsys):
    result = train(program, tmp_path, 5)
    rows = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == [1, 2, 3, 4, 5]
    assert result == runtime.Result(5, rows[-1]["loss"], tmp_path)
    assert all(row["tokens"] == 8 * 16 and row["step_seconds"] > 0 for row in rows)
    assert sorted(entry.name for entry in (tmp_path / "checkpoints").iterdir()) == ["4", "5"]
    assert list((tmp_path / "tensorboard").iterdir())
    shown = capsys.readouterr().out
    for text in (
        "8 x cpu, mesh fsdp 4 x tp 2",
        "Tiny, 4,000 parameters",
        "8 samples, 128 tokens",
        f"{tmp_path}/metrics.jsonl",
    ):
        assert text in shown


def test_the_loss_falls_on_text(program, tmp_path):
    (tmp_path / "text.txt").write_text("the cat sat on the mat. " * 500)
    train(program, tmp_path / "run", 30, data=runtime.Text([str(tmp_path / "text.txt")]))
    losses = [row["loss"] for row in curve(tmp_path / "run")]
    assert losses[0] == pytest.approx(np.log(250), abs=0.1)  # nothing known of 250 ids
    assert losses[-1] < losses[0] - 1


def test_stopped_and_resumed_is_bit_equal_to_uninterrupted(program, tmp_path):
    train(program, tmp_path / "whole", 11)
    train(program, tmp_path / "parts", 4)
    train(program, tmp_path / "parts", 7, resume=True)
    train(program, tmp_path / "parts", 11, resume="auto")
    assert curve(tmp_path / "parts") == curve(tmp_path / "whole")
    shapes = layout(program, 0)
    whole, parts = (load_weights(str(tmp_path / name), shapes) for name in ("whole", "parts"))
    assert all(np.array_equal(whole[path], parts[path]) for path in whole)


def test_resumed_on_another_mesh_the_data_go_on_where_they_were(program, tmp_path):
    train(program, tmp_path / "whole", 8)
    train(program, tmp_path / "parts", 4)
    train(bigram.build(runtime.make_mesh({}, jax.devices()[:1])), tmp_path / "parts", 8, resume=True)
    whole, parts = curve(tmp_path / "whole"), curve(tmp_path / "parts")
    assert [row["loss"] for row in parts] == pytest.approx([row["loss"] for row in whole], rel=1e-5)


def test_the_step_is_compiled_once_also_after_a_resume(tmp_path):
    for resume in (False, True):
        program = bigram.build(runtime.make_mesh({"fsdp": 4, "tp": 2}))
        train(program, tmp_path, 8 if resume else 4, resume=resume)
        assert program.step._cache_size() == 1  # pyright: ignore[reportFunctionMemberAccess]


def test_a_run_is_never_overwritten_and_never_resumed_from_nothing(program, tmp_path):
    assert "nothing to resume" in mistake(lambda: train(program, tmp_path, 3, resume=True))
    train(program, tmp_path, 3, resume="auto")
    assert "holds a run, up to step 3" in mistake(lambda: train(program, tmp_path, 3))
    assert train(program, tmp_path, 3, resume=True) == runtime.Result(3, None, tmp_path)
    assert len(curve(tmp_path)) == 3
    assert "was made with seed 0, this run has seed 1" in mistake(
        lambda: train(program, tmp_path, 4, resume=True, seed=1)
    )


def test_init_from_takes_the_weights_alone(program, tmp_path):
    train(program, tmp_path / "first", 6)
    train(program, tmp_path / "second", 1, init_from=str(tmp_path / "first"))
    first, second = curve(tmp_path / "first"), curve(tmp_path / "second")
    assert second[0]["step"] == 1 and second[0]["learning_rate"] == first[0]["learning_rate"]
    weights = load_weights(str(tmp_path / "first"), layout(program, 0))
    state = program.init(0)._replace(weights=weights)
    tokens = np.stack([runtime_sample(i) for i in range(8)])
    batch = {"tokens": jax.device_put(tokens.astype(np.int32), program.sharding(program.inputs["tokens"]))}
    assert second[0]["loss"] == pytest.approx(float(program.grads(state, batch)[0]), rel=1e-6)
    assert second[0]["loss"] != first[0]["loss"]


def runtime_sample(index):
    from meshc.runtime.data.sources import Wanted

    return runtime.Synthetic().open({"tokens": Wanted((16,), "int32", 250)}, 0)(index)["tokens"]


def exploding(program, at):
    """The program with a loss that is not a number from step `at` on."""

    def step(state, batch):
        number = int(state.step) + 1
        state, metrics = program.step(state, batch)
        return state, metrics | ({"loss": metrics["loss"] * np.nan} if number >= at else {})

    return replace(program, step=step)


def test_a_loss_that_is_no_number_stops_the_run_and_is_not_saved(program, tmp_path):
    message = mistake(lambda: train(exploding(program, at=6), tmp_path, 8))
    assert "`loss` is nan at step 6" in message and "the last checkpoint is of step 4" in message
    assert sorted(entry.name for entry in (tmp_path / "checkpoints").iterdir()) == ["4"]
    rows = (tmp_path / "metrics.jsonl").read_text().splitlines()
    assert json.loads(rows[-1])["step"] == 6 and json.loads(rows[-1])["loss"] is None


def test_it_can_be_told_to_go_on(program, tmp_path):
    result = train(exploding(program, at=2), tmp_path, 4, non_finite="continue")
    assert result.step == 4 and str(result.loss) == "nan"


def test_mistakes_in_the_data_come_before_any_compilation(program, tmp_path):
    data = runtime.Text([str(tmp_path / "nothing*")])
    assert "no file matches" in mistake(lambda: train(program, tmp_path / "run", 3, data=data))
    assert not (tmp_path / "run").exists()


def command(*arguments):
    return [sys.executable, "-m", "tests.runtime.bigram", *map(str, arguments)]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_step_saves_and_says_how_to_go_on(program, tmp_path, number, code):
    running = subprocess.Popen(
        command("--steps", 100000, "--out", tmp_path),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    log = tmp_path / "metrics.jsonl"
    deadline = time.monotonic() + 60
    while not (log.exists() and len(log.read_text().splitlines()) > 5):
        assert running.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    running.send_signal(number)
    _, stderr = running.communicate(timeout=60)
    assert running.returncode == code
    last = curve(tmp_path)[-1]["step"]
    assert stderr == f"stopped by {signal.Signals(number).name} after step {last}; --resume goes on from there\n"
    assert (tmp_path / "checkpoints" / str(last)).is_dir()
    train(program, tmp_path, last + 2, resume=True, seed=3)
    assert [row["step"] for row in curve(tmp_path)] == list(range(1, last + 3))


def test_a_second_signal_ends_the_run_where_it_is(program, tmp_path):
    def step(state, batch):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        return program.step(state, batch)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(SystemExit) as ended:
        train(replace(program, step=step), tmp_path, 8)
    assert ended.value.code == 130
    assert signal.getsignal(signal.SIGINT) is before
    assert Store(tmp_path / "checkpoints", 3).latest() is None


def test_a_resume_says_what_is_not_as_it_was(program, tmp_path, capsys):
    train(program, tmp_path, 1)
    (tmp_path / "text.txt").write_text("to be or not to be " * 100)
    data = runtime.Text([str(tmp_path / "text.txt")])
    train(replace(program, spec_hash="1" * 8), tmp_path, 2, resume=True, data=data)
    shown = capsys.readouterr().out
    assert "resumed     at step 1, sample 8\n" in shown
    assert "the spec is not the one that this checkpoint was made with" in shown and "the data were synthetic" in shown


def test_a_killed_run_goes_on_from_its_last_whole_checkpoint(program, tmp_path):
    running = subprocess.Popen(command("--steps", 100000, "--out", tmp_path), cwd=ROOT, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while Store(tmp_path / "checkpoints", 3).latest() is None:
        assert running.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    running.kill()
    running.wait()
    saved = Store(tmp_path / "checkpoints", 3).latest() or 0
    assert saved % 4 == 0 < saved
    train(program, tmp_path, saved + 5, resume=True, seed=3)
    train(program, tmp_path / "whole", saved + 5, seed=3)
    assert curve(tmp_path) == curve(tmp_path / "whole")


def test_the_command_line_of_a_generated_program(tmp_path):
    run = lambda *arguments: subprocess.run(command(*arguments), cwd=ROOT, capture_output=True, text=True)  # noqa: E731
    usage = run("--steps", "0")
    assert usage.returncode == 2 and "'0' is not a positive number" in usage.stderr
    nothing = run("--out", tmp_path, "--resume")
    assert nothing.returncode == 1 and nothing.stderr.startswith("error: nothing to resume")
    assert "Traceback" not in nothing.stderr


def test_too_few_devices_end_the_program_with_a_cure():
    variables = os.environ | {"JAX_NUM_CPU_DEVICES": "4"}
    done = subprocess.run(command(), cwd=ROOT, env=variables, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("error: the mesh has 8 devices (fsdp 4 * tp 2), this run has 4 (cpu)\n")


def test_a_platform_that_the_machine_lacks_ends_the_program_with_a_cure():
    variables = os.environ | {"JAX_PLATFORMS": "tpu,cuda"}
    done = subprocess.run(command(), cwd=ROOT, env=variables, capture_output=True, text=True)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "error: jax finds no devices of tpu,cuda on this machine" in done.stderr
    assert "`--slice cpu-8`" in done.stderr
