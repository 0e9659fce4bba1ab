"""Specs with random mistakes: whatever is wrong is said, and never by an exception."""

import random
import re
from pathlib import Path

import pytest

from meshc.diagnostics.render import full
from meshc.driver import check
from meshc.job.target import Request
from meshc.lint.fix import fix
from meshc.source import SourceFile

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


# ---------------------------------------------------------------- one mistake

ALL = sorted(ZOO.parent.glob("[mqsz]*/*.mesh"))
NAME = re.compile(r"[a-z_]{3,}")


def with_one_mistake(text: str, dice: random.Random) -> str:
    """The text with one token left out or misspelt."""
    bare = re.sub(r"#[^\n]*", lambda comment: " " * len(comment[0]), text)
    token = dice.choice([m for m in TOKEN.finditer(bare) if not m[0].isspace()])
    if NAME.fullmatch(token[0]) and dice.random() < 0.5:
        at = dice.randrange(token.start(), token.end())
        return text[:at] + "q" + text[at + 1 :]
    return text[: token.start()] + text[token.end() :]


def errors_of(source: SourceFile) -> list[str]:
    found = check(Request(source.name, "cpu-8" if "quickstart" in source.name else None, source=source)).diagnostics
    return [f"{d.span} {d.code} {d.message}" for d in found if d.severity == "error"]


@pytest.mark.parametrize("spec", ALL, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_one_mistake_is_few_errors(spec: Path):
    dice = random.Random(f"one {spec.stem}")
    for _ in range(3):
        found = errors_of(SourceFile(str(spec), with_one_mistake(spec.read_text(), dice)))
        assert len(found) <= 3, "\n".join(found)


@pytest.mark.parametrize("spec", ALL[::5], ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_mending_makes_nothing_worse_and_ends(spec: Path):
    dice = random.Random(f"mend {spec.stem}")

    def found(source: SourceFile):
        return check(Request(source.name, source=source)).diagnostics

    for unsafe in (False, True):
        source = SourceFile(str(spec), with_one_mistake(spec.read_text(), dice))
        done = fix(source, found, unsafe)
        assert unsafe or len(errors_of(done.source)) <= len(errors_of(source))
        assert fix(done.source, found, unsafe).source.text == done.source.text
