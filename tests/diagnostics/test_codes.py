"""The registry: every code that the compiler can say is in it, and it holds no other."""

import re
from pathlib import Path

import pytest

import meshc
from meshc.diagnostics.codes import TITLES

SOURCES = [p for p in Path(meshc.__file__).parent.rglob("*.py") if p.name != "codes.py"]


def test_what_is_said_is_registered_and_what_is_registered_is_said():
    said = {code for path in SOURCES for code in re.findall(r'"([EW]\d{4})"', path.read_text())}
    assert said == set(TITLES)


@pytest.mark.parametrize(("code", "title"), TITLES.items())
def test_a_title_is_a_short_phrase(code: str, title: str):
    assert re.fullmatch(r"[EW]0[1-6]\d\d", code)
    assert len(title) < 80
    assert title[0].islower() or title.startswith("YAML")
    assert not title.endswith(".")
