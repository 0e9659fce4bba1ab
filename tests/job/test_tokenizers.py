"""Ids of tokenizers, counted without their library."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from meshc.driver import check
from meshc.job.target import Request
from meshc.job.tokenizers import tokenizer_ids

SPEC = """
dims { batch = 4, seq = 8, embed = 8, vocab = 300 }
model Tiny(tokens: [batch, seq] of vocab) {
  param table: vocab -> embed
  loss next_token(table[tokens] @ table, tokens)
}
"""


@pytest.mark.parametrize(
    ("held", "ids"),
    [
        ({"model": {"vocab": {"a": 0, "b": 7}}}, 8),
        ({"model": {"vocab": {"a": 0}}, "added_tokens": [{"id": 9}, {"id": 3}]}, 10),
        ({"model": {"vocab": [["a", 0.0], ["b", -1.0]]}, "added_tokens": []}, 2),
        ({"model": {"vocab": {}}}, 0),
        ({"model": 3}, None),
        ([], None),
        ({"model": {"vocab": {"a": "b"}}}, None),
    ],
)
def test_ids(held: object, ids: int | None, tmp_path: Path):
    (tmp_path / "tokenizer.json").write_text(json.dumps(held))
    assert tokenizer_ids(str(tmp_path / "tokenizer.json")) == ids


def test_no_file(tmp_path: Path):
    assert tokenizer_ids(str(tmp_path / "none.json")) is None


@pytest.mark.parametrize(
    ("data", "sets", "ids"),
    [
        ("{source: text, paths: [a], tokenizer: bytes}", ("vocab=255",), 256),
        ("{source: text, paths: [a], tokenizer: bytes}", ("vocab=256",), None),
        ("{source: text, paths: [a], tokenizer: tokenizer.json}", (), 301),
        ("{source: text, paths: [a], tokenizer: tokenizer.json}", ("vocab=301",), None),
        ("{source: text, paths: [a], tokenizer: none.json}", (), None),
        ("{source: tokens, paths: [a]}", ("vocab=2",), None),
        ("{source: synthetic}", ("vocab=2",), None),
    ],
)
def test_a_tokenizer_for_a_larger_model(data: str, sets: tuple[str, ...], ids: int | None, tmp_path: Path):
    (tmp_path / "spec.mesh").write_text(SPEC)
    (tmp_path / "tokenizer.json").write_text(json.dumps({"model": {"vocab": {"a": 300}}}))
    (tmp_path / "job.yaml").write_text(f"spec: spec.mesh\ndata: {data}\n")
    found = check(Request(str(tmp_path / "job.yaml"), sets=sets)).diagnostics
    assert [d.code for d in found] == ([] if ids is None else ["W0520"])
    assert ids is None or f"has {ids} ids" in found[0].message
