"""Settings that are written to no effect, and files that are wanted and not named."""

from pathlib import Path

import pytest

from meshc.diagnostics.model import Diagnostic
from meshc.driver import check
from meshc.job.target import Request

SPEC = """
dims { batch = 4, seq = 8, embed = 8, vocab = 256 }
model Tiny(tokens: [batch, seq] of vocab) {
  param table: vocab -> embed
  loss next_token(table[tokens] @ table, tokens)
}
"""


def told(directory: Path, job: str, *sets: str) -> list[tuple[str, str]]:
    """Code and the text that is pointed at, of each diagnostic."""
    (directory / "tiny.mesh").write_text(SPEC)
    (directory / "job.yaml").write_text(f"spec: tiny.mesh\n{job}\n")
    found: tuple[Diagnostic, ...] = check(Request(str(directory / "job.yaml"), sets=sets)).diagnostics
    return [(d.code, d.span.text) for d in found if d.span]


@pytest.mark.parametrize(
    ("job", "pointed"),
    [
        ("data: {source: synthetic, paths: [a]}", ["[a]"]),
        ("data: {source: python-stdlib, token_dtype: uint8}", ["uint8"]),
        ("data: {source: tokens, paths: [a], tokenizer: bytes}", ["bytes"]),
        ("train: {optimizer: {name: sgd, b1: 0.5, b2: 0.25, eps: 1.0}}", ["0.5", "0.25", "1.0"]),
        ("train: {optimizer: {momentum: 0.5}}", ["0.5"]),
        ("train: {optimizer: {name: lion, eps: 1.0}}", ["1.0"]),
        ("train: {optimizer: {name: adafactor, b1: 0.5}}", ["0.5"]),
        ("train: {optimizer: {schedule: constant, final: 0.5, decay: 7}}", ["0.5", "7"]),
        ("train: {optimizer: {groups: [{match: '*', frozen: true, lr_scale: 3}]}}", ["3"]),
        ("train: {optimizer: {groups: [{match: '*'}, {match: Tiny.table, frozen: true}]}}", ["Tiny.table"]),
        ("launch: {backend: local, nodes: 4, env: {A: b}}", ["4", "{A: b}"]),
        ("launch: {backend: slurm, nodes: 1, zone: b, image: c}", ["b", "c"]),
    ],
)
def test_what_nothing_reads_is_said(tmp_path: Path, job: str, pointed: list[str]):
    assert told(tmp_path, job) == [("W0514", text) for text in pointed]


@pytest.mark.parametrize(
    "job",
    [
        "data: {source: text, paths: [a], tokenizer: bytes}",
        "data: {source: tokens, paths: [a], token_dtype: uint8}",
        "train: {optimizer: {name: sgd, momentum: 0.5, weight_decay: 0.1}}",
        "train: {optimizer: {name: adamw, b1: 0.5, b2: 0.5, eps: 1.0, final: 0.5, decay: 7}}",
        "train: {optimizer: {groups: [{match: Tiny.table, frozen: true}, {match: '*', lr_scale: 2}]}}",
        "launch: {backend: slurm, nodes: 1, partition: a, name: b}",
    ],
)
def test_what_is_read_is_not_complained_of(tmp_path: Path, job: str):
    found = told(tmp_path, job)
    assert "groups" in job or not found  # a `*` behind the only weight is left with none
    assert all(text == "'*'" for _, text in found)


@pytest.mark.parametrize(
    ("job", "choice", "other"),
    [
        ("launch: {backend: slurm, nodes: 1, partition: a}", "launch.backend=local", "launch.time=1h"),
        ("data: {source: text, paths: [a]}", "data.source=synthetic", "data.tokenizer=bytes"),
        ("train: {optimizer: {name: adam, b1: 0.5}}", "train.optimizer.name=sgd", "train.optimizer.eps=1.0"),
    ],
)
def test_what_the_command_line_chooses_leaves_the_file_as_it_is(tmp_path: Path, job: str, choice: str, other: str):
    """`remove it` would be no advice: without the flag it is read. Another flag beside it is told."""
    assert told(tmp_path, job, choice) == []
    assert [code for code, _ in told(tmp_path, job, choice, other)] == ["W0514"]


def test_a_source_of_files_names_them(tmp_path: Path):
    assert told(tmp_path, "data: {source: text}") == [("E0507", "text")]


@pytest.mark.parametrize("key", ["shuffle: false", "packing: true", "seed: 4"])
def test_what_no_source_does_is_no_key(tmp_path: Path, key: str):
    assert [code for code, _ in told(tmp_path, f"data: {{{key}}}")] == ["E0502"]
