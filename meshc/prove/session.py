"""One run of `meshc prove`: rows printed as they come, progress on a terminal, a summary."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TextIO

from meshc.prove.mixed.legal import Tally, legal
from meshc.prove.report import details, row_lines
from meshc.prove.rows import Row, Subject, rows
from meshc.prove.variants import Builder

MOST_WIDE = 40


class Session:
    """jobs: specs proven at a time; wrong: specs that were not proven, for they have errors"""

    def __init__(self, jobs: int, verbose: bool, out: TextIO, progress: TextIO) -> None:
        self.jobs = jobs
        self.verbose = verbose
        self.out = out
        self.progress = progress
        self.wrong = 0
        self.done: list[Row] = []
        self._begun: list[str] = []
        self._printing = threading.Lock()

    @property
    def holds(self) -> bool:
        return bool(self.done) and not self.wrong and all(row.holds for row in self.done)

    def prove(
        self,
        paths: Sequence[str],
        builder: Callable[[str], Builder],
        mixed: int = 0,
        seed: int = 0,
        drawn: Callable[[str, tuple[str, ...]], Builder] | None = None,
    ) -> None:
        """Proves the specs at `paths`, then `mixed` drawn ones from number `seed` on, which `drawn` builds."""
        start, tally = time.monotonic(), Tally()
        width = min(max(map(len, (*paths, "mixed-1000")[: None if mixed else -1]), default=0), MOST_WIDE)
        with tempfile.TemporaryDirectory(prefix="meshc-mixed-") as directory:
            named: Iterator[Subject] = (Subject(path, builder(path)) for path in paths)
            random = legal(mixed, seed, Path(directory), drawn, tally) if drawn and mixed else iter(())
            for row in rows(chain(named, random), self.jobs, self._begin):
                self._print(row, width)
        self._say(_summary(self.done, self.wrong, time.monotonic() - start))
        if mixed:
            self._say(*_told(tally, mixed, seed))
            self.wrong += sum(row.subject.text != "" for row in self.done) < mixed

    def _print(self, row: Row, width: int) -> None:
        self.done.append(row)
        lines = row_lines(row, width)
        if self.verbose:
            lines += [line for proof in row.proofs for line in details(proof)]
        self._say(*lines)
        self._show_progress()

    def _begin(self, name: str) -> None:
        self._begun.append(name)
        self._show_progress()

    def _say(self, *lines: str) -> None:
        with self._printing:
            self._clear()
            self.out.writelines(f"{line}\n" for line in lines)
            self.out.flush()

    def _show_progress(self) -> None:
        """On a terminal: what is being proven, in a line that the next output takes away."""
        if self.progress.isatty():
            with self._printing:
                self._clear()
                running = self._begun[len(self.done) :]
                self.progress.write(f"proving {', '.join(running)}"[:79] if running else "")
                self.progress.flush()

    def _clear(self) -> None:
        if self.progress.isatty():
            self.progress.write("\r\x1b[K")
            self.progress.flush()


def _summary(done: Sequence[Row], wrong: int, seconds: float) -> str:
    failing = sum(not row.holds for row in done)
    parts = [f"{len(done) - failing} of {len(done) + wrong} specs hold"]
    parts += [f"{failing} fail{'s' * (failing == 1)}"] if failing else []
    parts += [f"{wrong} {'has' if wrong == 1 else 'have'} errors"] if wrong else []
    return f"{', '.join(parts)}; {seconds / 60:.1f} minutes"


def _told(tally: Tally, mixed: int, seed: int) -> Iterator[str]:
    yield (
        f"{mixed} mixed specs wanted of draws {seed} to {seed + tally.drawn - 1}: "
        f"the checker refused {tally.refused}, {sum(tally.skipped.values())} are not built yet"
    )
    for message, count in tally.skipped.most_common():
        yield f"    {count}: {message}"
