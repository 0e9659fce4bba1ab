"""YAML with places, and every way in which it can be wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshc.job.yaml import MAX_DEPTH, parse, parse_value, plain
from meshc.source import SourceFile


def problems(text: str) -> list[tuple[str, str]]:
    """Code and place of each problem."""
    _, found = parse(SourceFile("job.yaml", text))
    return [(d.code, str(d.span)) for d in found]


def value(text: str):
    node, found = parse_value(SourceFile("job.yaml", text))
    assert not found
    assert node is not None
    return plain(node)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10", 10), ("-3", -3), ("1e-4", 1e-4), ("3.0e-4", 3e-4), (".5", 0.5), ("1.", 1.0),
        ("true", True), ("False", False), ("null", None), ("~", None), ("", None),
        ("yes", "yes"), ("off", "off"), ("1_000", "1_000"), ("0x10", "0x10"), ("1:30", "1:30"),
        ("'10'", "10"), ('"true"', "true"), ("*.scale", None),
    ],
)  # fmt: skip
def test_scalars_are_those_of_yaml_1_2(text: str, expected: object):
    if text == "*.scale":
        assert problems(f"match: {text}\n")[0][0] == "E0505"  # a star begins an alias: quotes are needed
    elif text:
        assert value(text) == expected
        assert type(value(text)) is type(expected)
    else:
        assert value("a: ")["a"] is None


def test_a_job_of_language_md_is_read():
    text = """
train:
  optimizer: {name: adamw, groups: [{match: "*.scale", weight_decay: 0.0}]}  # comment
data: {paths: ["corpus/*.txt"]}
checkpoint:
  init_from: null
"""
    assert value(text) == {
        "train": {"optimizer": {"name": "adamw", "groups": ({"match": "*.scale", "weight_decay": 0.0},)}},
        "data": {"paths": ("corpus/*.txt",)},
        "checkpoint": {"init_from": None},
    }


def test_places_are_those_of_the_text():
    tree, _ = parse(SourceFile("job.yaml", "a: 1\nb:\n  - x\n  - {c: 'q'}\n"))
    assert tree is not None
    entry = tree.get("b")
    assert entry is not None
    assert (entry.key_span.text, entry.value.span.text) == ("b", "- x\n  - {c: 'q'}")


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("a:\n\t- 1\n", "E0501", "2:1"),  # a tab
        ("a: [1\n", "E0501", "2:1"),
        ("a: 'x\n", "E0501", "2:1"),
        ("a: 1\n b: 2\n", "E0501", "2:3"),
        ("a: \x07\n", "E0501", "1:4"),
        ("- 1\n", "E0504", "1:1"),
        ("", "E0504", "1:1"),
        ("text\n", "E0504", "1:1"),
        ("a: 1\na: 2\n", "E0503", "2:1"),
        ("a: {b: 1, b: 2}\n", "E0503", "1:11"),
        ("a: &x 1\n", "E0505", "1:4"),
        ("a: 1\nb: *a\n", "E0505", "2:4"),
        ("<<: {a: 1}\n", "E0505", "1:1"),
        ("a: !!str 1\n", "E0505", "1:4"),
        ("a: 1\n---\nb: 1\n", "E0506", "2:1"),
        ("? [a]\n: 1\n", "E0504", "1:3"),
        ("~: 1\n", "E0504", "1:1"),
        ("a: " + "9" * 5000, "E0504", "1:4"),
        ("a: " + "[" * 5000, "E0513", f"1:{4 + MAX_DEPTH - 1}"),  # the top mapping is the first level
        ("{a: " * 3000, "E0513", f"1:{1 + 4 * MAX_DEPTH}"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text: str, code: str, place: str):
    assert problems(text)[0] == (code, f"job.yaml:{place}")


def test_all_problems_come_at_once():
    assert [code for code, _ in problems("a: &x 1\na: 2\nb: *x\n")] == ["E0505", "E0503", "E0505"]


@given(st.text(alphabet="ab:-[]{}#&*!|>'\"%@`,? \n\t01.~<=\\\x85é汉", max_size=40))
def test_no_text_makes_it_raise(text: str):
    tree, found = parse(SourceFile("job.yaml", text))
    assert tree is not None or found
    assert all(d.span and 0 <= d.span.start <= d.span.end <= len(text) for d in found)
