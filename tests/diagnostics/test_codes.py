"""The registry: every code that the compiler can say is in it, and it holds no other."""

import re
from pathlib import Path

import pytest

import meshc
from meshc.diagnostics.codes import TITLES, title

SOURCES = [p for p in Path(meshc.__file__).parent.rglob("*.py") if p.name != "codes.py"]


def test_what_is_said_is_registered_and_what_is_registered_is_said():
    said = {code for path in SOURCES for code in re.findall(r'"([EW]\d{4})"', path.read_text())}
    assert said == set(TITLES)


@pytest.mark.parametrize("code", TITLES)
def test_titles_are_short_and_lower_case(code: str):
    assert re.fullmatch(r"[EW]0[1-6]\d\d", code)
    assert len(title(code)) < 80
    assert not title(code).endswith(".")


def test_an_unknown_code_is_a_bug():
    with pytest.raises(KeyError):
        title("E9999")
