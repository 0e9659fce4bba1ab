"""Every size that is offered and every edit does, read off the help lines as a person would: drawn specs, most of them
wrong, on no slice, on one that fits, and on one that does not.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from meshc.diagnostics.cures import does
from meshc.diagnostics.edits import edited
from meshc.diagnostics.model import Diagnostic
from meshc.driver import check
from meshc.job.target import Request
from meshc.prove.mixed.draw import draw

ONE = re.compile(r"(?:or )?(?:make )?(`?)(\w+)`? (?:may be )?((?:\d+(?:, | or )?)+)(?:, or `\*`.*)?$")
TWO = re.compile(r"(?:or )?`(\w+)` \* `(\w+)` may be ([\d *,or]+)$")


def offered(help_line: str) -> Iterator[tuple[str, ...]]:
    """The settings that a help line offers, each as `--set` flags."""
    if two := TWO.match(help_line):
        one, other, pairs = two.groups()
        yield from ((f"mesh.{one}={m}", f"mesh.{other}={n}") for m, n in re.findall(r"(\d+) \* (\d+)", pairs))
    elif (one := ONE.match(help_line)) and one[2] != "microbatches":
        key = f"mesh.{one[2]}" if one[1] else one[2]
        yield from ((f"{key}={n}",) for n in re.findall(r"\d+", one[3]))


def settings(sets: tuple[str, ...], flags: tuple[str, ...]) -> tuple[str, ...]:
    keys = {flag.partition("=")[0] for flag in flags}
    return (*(one for one in sets if one.partition("=")[0] not in keys), *flags)


def refused(path: Path, request: Request) -> tuple[list[str], int]:
    """What is offered and does not do, and how much was offered in all."""
    found = [problem for problem in check(request).diagnostics if problem.severity == "error"]
    wrong, count = [], 0
    for problem in found:
        for line in problem.helps:
            for flags in offered(line):
                count += 1
                changed = Request(request.path, request.slice, settings(request.sets, flags))
                if not does(problem, found, check(changed).diagnostics, ()):
                    wrong.append(f"{problem.code} {problem.message}: {line}: {' '.join(flags)}")
        if problem.edits and not any(d.code < "E0130" for d in found):
            count += 1
            if not _mended(path, request, problem, found):
                wrong.append(f"{problem.code} {problem.message}: {[(e.span.text, e.text) for e in problem.edits]}")
    return wrong, count


def _mended(path: Path, request: Request, problem: Diagnostic, found: list[Diagnostic]) -> bool:
    text = path.read_text()
    path.write_text(edited(text, sorted(problem.edits, key=lambda edit: edit.span.start)))
    after = check(request).diagnostics
    path.write_text(text)
    return does(problem, found, after, problem.edits)


def _slice(number: int, text: str) -> str | None:
    """No slice, one of as many devices as the mesh has, or one of another size."""
    sizes = [int(n) for n in re.findall(r"= (\d+)", text[text.index("mesh {") : text.index("}")])]
    return {0: None, 1: f"cpu-{math.prod(sizes)}", 2: f"cpu-{Random(number).choice((4, 6, 8, 16))}"}[number % 3]


def _all_offered(numbers: range, tmp_path: Path) -> int:
    wrong, count = [], 0
    for number in numbers:
        drawn = draw(number)
        path = tmp_path / "spec.mesh"
        path.write_text(drawn.text)
        bad, offers = refused(path, Request(str(path), _slice(number, drawn.text), drawn.sets))
        wrong += [f"{number}: {one}" for one in bad]
        count += offers
    assert wrong == []
    return count


def test_what_is_offered_is_accepted(tmp_path: Path):
    assert _all_offered(range(8), tmp_path) > 10


@pytest.mark.slow
def test_what_is_offered_for_many_specs_is_accepted(tmp_path: Path):
    assert _all_offered(range(8, 308), tmp_path) > 400
