"""Specs with random mistakes: whatever is wrong is said, and never by an exception."""

import random
import re
from pathlib import Path

import pytest

from meshc.diagnostics.render import full
from meshc.driver import check
from meshc.job.target import Request

ZOO = Path(__file__).parents[2] / "specs" / "zoo"
SPECS = sorted(ZOO.glob("*.mesh"))
TOKEN = re.compile(r'\w+\'*|"[^"\n]*"|\s+|.')
STRAY = "0 3 2.5 none true * x batch heads embed' -> .. , { } ( ) @ [ ]".split()
MUTATIONS = 8


def mutated(text: str, dice: random.Random) -> str:
    """The text with one to three tokens deleted, repeated, exchanged or replaced."""
    tokens = TOKEN.findall(text)
    for _ in range(dice.randint(1, 3)):
        i, j = dice.randrange(len(tokens)), dice.randrange(len(tokens))
        match dice.randrange(4):
            case 0:
                del tokens[i]
            case 1:
                tokens.insert(i, tokens[j])
            case 2:
                tokens[i], tokens[j] = tokens[j], tokens[i]
            case _:
                tokens[i] = dice.choice(STRAY)
    return "".join(tokens)


@pytest.mark.parametrize("spec", SPECS, ids=lambda path: path.stem)
def test_no_mistake_makes_it_raise(spec: Path, tmp_path: Path):
    (tmp_path / "models").symlink_to(ZOO / "models")
    dice = random.Random(spec.stem)
    for _ in range(MUTATIONS):
        (tmp_path / "spec.mesh").write_text(mutated(spec.read_text(), dice))
        found = check(Request(str(tmp_path / "spec.mesh"), dice.choice([None, "cpu-8", "cpu-16"]))).diagnostics
        assert full.render(found).count("[E") >= sum(d.severity == "error" for d in found)
