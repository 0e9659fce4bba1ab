"""Draws that the checker accepts, and what became of the others."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from meshc.prove.mixed.draw import Draw, draw
from meshc.prove.rows import Subject
from meshc.prove.variants import Builder, Built

NOT_BUILT_YET = "E0299"
MOST_TRIED = 100
"""Draws for each that is wanted: more are refused only where something is wrong with the drawing."""


@dataclass
class Tally:
    """What became of the draws that are not proven: how many the checker refused, and for what there is no code yet."""

    drawn: int = 0
    refused: int = 0
    skipped: Counter[str] = field(default_factory=Counter)


def legal(
    count: int, seed: int, directory: Path, builder: Callable[[str, tuple[str, ...]], Builder], tally: Tally
) -> Iterator[Subject]:
    """The first `count` legal draws from number `seed` on; their specs are written into `directory`.

    builder: of a spec's path and its `--set` flags. A draw that meshc cannot even refuse is one to be proven: its
    proof shows the exception.
    """
    found = 0
    for number in itertools.islice(itertools.count(seed), count * MOST_TRIED):
        if found == count:
            return
        drawn = draw(number)
        tally.drawn += 1
        path = directory / f"{drawn.name}.mesh"
        path.write_text(drawn.text, encoding="utf-8")
        build = builder(str(path), drawn.sets)
        if _worth_proving(build, drawn, tally):
            found += 1
            yield Subject(drawn.name, build, drawn.text)


def _worth_proving(build: Builder, drawn: Draw, tally: Tally) -> bool:
    try:
        built = build((), True)
    except Exception:  # a spec that meshc fails on is one to prove: the proof's row tells the failure, with the spec
        return True
    if isinstance(built, Built):
        return True
    codes = {problem.code for problem in built}
    if codes == {NOT_BUILT_YET}:
        tally.skipped[built[0].message] += 1
    else:
        tally.refused += 1
    return False
