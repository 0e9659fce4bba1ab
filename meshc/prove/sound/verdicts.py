"""What the checker says of each draw: its errors by code. Drawing and checking, some draws at a time, in processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from meshc.prove.sound.draw import draw
from meshc.prove.sound.kinds import Kind, kind_of
from meshc.prove.sound.sketch import Draw

Check = Callable[[str, str | None], Sequence[tuple[str, str]]]
"""(path of a spec or job, name of a slice) -> (code, message) of each error."""
AT_ONCE = 25


@dataclass(frozen=True)
class Verdict:
    """errors: (code, message); bug: the checker's exception, where it failed"""

    draw: Draw
    errors: tuple[tuple[str, str], ...] = ()
    bug: str = ""

    @property
    def accepted(self) -> bool:
        return not self.errors and not self.bug

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(sorted({code for code, _ in self.errors}))

    @property
    def kinds(self) -> frozenset[Kind]:
        return frozenset(kind_of(code) for code in self.codes)


def write(drawn: Draw, directory: Path) -> tuple[str, str | None]:
    """The files of a draw in a directory: the path to check, and the slice to name beside it."""
    spec = directory / f"{drawn.name}.mesh"
    spec.write_text(drawn.text, encoding="utf-8")
    if drawn.job is None:
        return str(spec), f"cpu-{drawn.devices}" if drawn.devices else None
    job = directory / f"{drawn.name}.yaml"
    job.write_text(drawn.job_text, encoding="utf-8")
    return str(job), None


def verdicts(numbers: Sequence[int], directory: Path, check: Check, jobs: int) -> Iterator[Verdict]:
    """The verdict of each number, in order. With several `jobs`, processes make them that find `check` by its name."""
    of = partial(verdict, directory=directory, check=check)
    if jobs == 1:
        yield from map(of, numbers)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(of, numbers, chunksize=AT_ONCE)


def verdict(number: int, directory: Path, check: Check) -> Verdict:
    drawn = draw(number)
    path, slice = write(drawn, directory)
    try:
        return Verdict(drawn, tuple(check(path, slice)))
    except Exception as error:  # what the checker fails on is as much a find as what it misjudges
        return Verdict(drawn, bug=f"{type(error).__name__}: {error}")


def strata(chosen_from: Sequence[Any], strata_of: Callable[[Any], Sequence[str]], count: int) -> list[Any]:
    """`count` of some, so that each stratum has as many as can be: the next one is always of the smallest so far."""
    chosen: list[Any] = []
    waiting: dict[str, list[Any]] = {}
    for one in chosen_from:
        for stratum in strata_of(one):
            waiting.setdefault(stratum, []).append(one)
    sizes = dict.fromkeys(sorted(waiting), 0)
    taken: set[int] = set()
    while len(chosen) < count and sizes:
        stratum = min(sizes, key=lambda name: (sizes[name], name))
        one = next((one for one in waiting[stratum] if id(one) not in taken), None)
        if one is None:
            del sizes[stratum]
            continue
        taken.add(id(one))
        chosen.append(one)
        for name in strata_of(one):
            if name in sizes:
                sizes[name] += 1
    return chosen
