"""The oracle, which knows the language's words alone, against the examples of its pages, the specs that ship, the checker."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from meshc.cli import _errors
from meshc.diagnostics.codes import TITLES
from meshc.prove.sound import oracle
from meshc.prove.sound.draw import draw
from meshc.prove.sound.judge import Witnessed
from meshc.prove.sound.kinds import FIRST, Kind, kind_of
from meshc.prove.sound.verdicts import verdict

ROOT = Path(__file__).parent.parent.parent
EXPLAIN = ROOT / "meshc" / "diagnostics" / "explain"
NUMBERS = range(3200, 3300)


def examples(code: str) -> list[str]:
    return re.findall(r"^```mesh\n(.*?)^```$", (EXPLAIN / f"{code}.md").read_text(), re.MULTILINE | re.DOTALL)


SPECS = [code for code in TITLES if code[:3] in ("E02", "E03") and len(examples(code)) == 2]
OTHERWISE: frozenset[str] = frozenset({"E0212", "E0299", "E0303", "E0304"})
"""About several files, what is not built, and what only a slice shows."""


def test_most_pages_are_asked():
    assert len(set(SPECS) - OTHERWISE) > 50


@pytest.mark.parametrize("code", sorted({*SPECS} - OTHERWISE))
def test_the_page_of_a_code(code: str):
    """Its first example is wrong for the code's kind, its second is right."""
    wrong, right = examples(code)
    found = oracle.decide(wrong, None, None)
    assert kind_of(code) in found or (kind_of(code) in FIRST and found & FIRST)
    assert not oracle.decide(right, None, None)


@pytest.mark.parametrize("path", sorted((ROOT / "specs" / "models").glob("*.mesh")), ids=lambda path: path.stem)
def test_models_that_ship_are_legal(path: Path):
    assert not oracle.decide(path.read_text(), None, None)


@pytest.mark.parametrize("number", NUMBERS[::10])
def test_what_is_planted_is_found(number: int):
    drawn = draw(number)
    found = oracle.decide(drawn.text, drawn.devices, drawn.job)
    assert found or not any(planted.sure for planted in drawn.planted)


def test_checker_and_oracle_agree(tmp_path: Path):
    verdicts = [verdict(number, tmp_path, _errors) for number in NUMBERS]
    witnessed = [Witnessed(v, oracle.decide(v.draw.text, v.draw.devices, v.draw.job)) for v in verdicts]
    assert not [one.finding(oracle.COMPLETE) for one in witnessed if one.finding(oracle.COMPLETE)]
    assert sum(not one.decided for one in witnessed) > 10
    assert sum(bool(one.decided) for one in witnessed) > 10


SPEC = """\
mesh {{ a = 2, b = {b} }}
dims {{ batch = 8, seq = 8, embed = 16, vocab = 32 }}
model Tiny(tokens: [batch, seq] of vocab) {{
  param table: vocab -> embed
  loss next_token(table[tokens] @ table, tokens)
}}
partition {{ {rules} }}
"""
CASES: list[tuple[str, str, int | None, set[Kind]]] = [
    ("2", "data(a)", None, set()),
    ("2", "data(a)", 4, set()),
    ("2", "data(a)", 8, {"world"}),
    ("*", "data(a)", None, {"world"}),
    ("*", "data(a)", 6, set()),
    ("2", "batch -> a; seq -> a", None, {"twice"}),
    ("2", "vocab -> a; vocab -> b", None, {"claim"}),
    ("2", "vocab -> a; params { vocab -> b }", None, set()),
    ("2", "embed -> a zigzag", None, {"order"}),
    ("2", "embed -> a repeat", None, {"copy"}),
    ("2", "stage embed over a", None, {"stage"}),
    ("3", "embed -> b", None, {"divide"}),
    ("2", "ring(a); embed -> c", None, {"name"}),
    ("2", "data(a, 1)", None, {"call"}),
    ("2", "params { stage embed over a }", None, {"silent", "stage"}),
]


@pytest.mark.parametrize(("b", "rules", "devices", "wrong"), CASES)
def test_kinds(b: str, rules: str, devices: int | None, wrong: set[Kind]):
    assert oracle.decide(SPEC.format(b=b, rules=rules), devices, None) == wrong


@pytest.mark.parametrize(
    "job", [{"train": {"steps": 0}}, {"lanch": {}}, {"set": {"embed": 17.5}}, {"data": {"source": "text"}}]
)
def test_jobs(job: dict):
    assert oracle.decide(SPEC.format(b="2", rules="data(a)"), None, job)
    assert not oracle.decide(SPEC.format(b="2", rules="data(a)"), None, {"train": {"steps": 3}})
