"""Drawn specs: the same for a number, refused with diagnostics or built, and varied."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from meshc.driver import Compiled, compile_program
from meshc.job.target import Request
from meshc.prove.mixed.draw import draw

NUMBERS = range(1000, 1080)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> dict[int, tuple[Compiled | None, list[str]]]:
    """What the compiler made of each draw, and the codes of its errors."""
    directory = tmp_path_factory.mktemp("drawn")
    found = {}
    for number in NUMBERS:
        one = draw(number)
        path = directory / f"{one.name}.mesh"
        path.write_text(one.text)
        compiled, problems = compile_program(Request(str(path), None, one.sets))
        found[number] = compiled, [p.code for p in problems if p.severity == "error"]
    return found


def test_a_draw_is_built_or_refused_with_a_diagnostic(drawn):
    assert {number for number, (compiled, codes) in drawn.items() if (compiled is None) == (not codes)} == set()


def test_some_are_legal_and_some_are_not(drawn):
    legal = sum(compiled is not None for compiled, _ in drawn.values())
    assert len(NUMBERS) // 20 < legal < len(NUMBERS) // 2
    assert len({code for _, codes in drawn.values() for code in codes}) >= 5


def test_programs_are_as_ruff_wants_them(drawn, tmp_path: Path):
    for number, (compiled, _) in drawn.items():
        if compiled is not None:
            (tmp_path / f"m{number}.py").write_text(compiled.files["train.py"])
    root = Path(__file__).parents[2]
    for command in (["check", "--quiet", "--ignore=I001"], ["format", "--check", "--quiet"]):
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "ruff",
                *command,
                "--no-cache",
                f"--config={root / 'pyproject.toml'}",
                str(tmp_path),
            ],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout


def test_a_draw_depends_on_nothing_but_its_number():
    program = "from meshc.prove.mixed.draw import draw; print(draw(7).text, draw(7).sets)"
    texts = {
        subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True
        ).stdout
        for seed in ("1", "2")
    }
    assert texts == {f"{draw(7).text} {draw(7).sets}\n"}


def test_draws_name_nothing_but_what_ships_with_the_compiler():
    imports = [line for n in range(50) for line in draw(n).text.splitlines() if line.startswith("import")]
    assert imports and all(line.startswith('import "std/') for line in imports)
