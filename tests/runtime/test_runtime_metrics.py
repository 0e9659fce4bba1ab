"""metrics.jsonl, tensorboard and what is printed."""

import json
import re
import struct

import pytest
from tensorboardX.proto import event_pb2

from meshc import runtime
from meshc.runtime.metrics import EVENTS, FILE, LINES, record, report
from tests.runtime.limits import files_up_to


def row(step, **metrics):
    return record(step, {"loss": 1.0, "grad_norm": 2.0, "learning_rate": 0.5} | metrics, tokens=100, seconds=0.25)


def write(out, start, steps, rows):
    with report(out, start, steps) as written:
        for one in rows:
            written.write(one)


def steps_in(out):
    return [json.loads(line)["step"] for line in (out / FILE).read_text().splitlines()]


def events(out):
    """(step, tags) of each event in all files, the oldest first. A record: length, crc, event, crc."""
    found = []
    for path in sorted((out / EVENTS).iterdir(), key=lambda path: path.stat().st_mtime_ns):
        content = path.read_bytes()
        while content:
            (length,) = struct.unpack("Q", content[:8])
            event = event_pb2.Event.FromString(content[12 : 12 + length])  # pyright: ignore[reportAttributeAccessIssue]
            found.append((event.step, {value.tag: value.simple_value for value in event.summary.value}))
            content = content[16 + length :]
    return found


def test_one_object_a_step_with_these_keys_in_this_order(tmp_path):
    write(tmp_path, 0, 1, [row(1, **{"Llama.block.load": 7})])
    [line] = (tmp_path / FILE).read_text().splitlines()
    assert list(json.loads(line).items()) == [
        ("step", 1),
        ("loss", 1.0),
        ("grad_norm", 2.0),
        ("learning_rate", 0.5),
        ("tokens", 100),
        ("step_seconds", 0.25),
        ("tokens_per_second", 400.0),  # 100 / 0.25
        ("Llama.block.load", 7.0),
    ]


def test_tensorboard_has_the_same_numbers(tmp_path):
    write(tmp_path, 0, 2, [row(1), row(2, loss=3.0)])
    values = [(step, tags) for step, tags in events(tmp_path) if tags]
    assert [step for step, _ in values] == [1, 2]
    expected = row(2, loss=3.0)
    assert values[1] == (expected.pop("step"), expected)


def test_a_resume_cuts_off_what_came_after_the_checkpoint(tmp_path):
    write(tmp_path, 0, 9, [row(step) for step in range(1, 8)])
    with (tmp_path / FILE).open("a") as file:
        file.write('{"step": 8, "lo')  # killed while writing
    write(tmp_path, 5, 9, [row(step) for step in range(6, 10)])
    assert steps_in(tmp_path) == list(range(1, 10))
    assert (6, {}) in events(tmp_path)  # tensorboard's mark: forget what was logged from step 6 on


def test_a_new_run_starts_a_new_file(tmp_path):
    write(tmp_path, 0, 3, [row(1), row(2)])
    write(tmp_path, 0, 3, [row(1)])
    assert steps_in(tmp_path) == [1]


def test_numbers_that_json_lacks_are_null(tmp_path):
    write(tmp_path, 0, 1, [row(1, loss=float("nan"), grad_norm=float("inf"))])
    line = json.loads((tmp_path / FILE).read_text(), parse_constant=pytest.fail)
    assert line["loss"] is None and line["grad_norm"] is None


@pytest.mark.parametrize("steps", [3, 1000, 12345])
def test_plain_lines_are_bounded_and_show_both_ends(tmp_path, capsys, steps):
    write(tmp_path, 0, steps, [row(step) for step in range(1, steps + 1)])
    lines = capsys.readouterr().out.splitlines()
    assert min(steps, LINES // 2) <= len(lines) <= LINES + 2
    assert lines[0] == f"step 1/{steps}  loss 1.0000  400 tokens/s"
    assert lines[-1].startswith(f"step {steps}/{steps}  ")


def test_a_terminal_gets_a_bar_with_loss_and_speed(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    write(tmp_path, 0, 2, [row(1), row(2, loss=2.5)])
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", capsys.readouterr().out)
    assert "2/2" in shown and "loss 2.5000" in shown and "400 tokens/s" in shown


def test_a_run_directory_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(runtime.UserError, match=r"cannot write `.*file/run`: Not a directory"):
        write(tmp_path / "file" / "run", 0, 1, [])


def test_a_disk_that_fills_up_is_an_error(tmp_path):
    with files_up_to(500), pytest.raises(runtime.UserError, match=r"cannot write `.*`: File too large"):
        write(tmp_path, 0, 100, [row(step) for step in range(1, 100)])
