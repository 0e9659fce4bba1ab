"""One run of `meshc prove --sound N`: specs drawn, checked, held against every witness; a table of what came of it."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TextIO

from meshc.prove.sound import judge, table
from meshc.prove.sound.judge import Finding, Oracle, Witnessed
from meshc.prove.sound.trial import Trial, trials
from meshc.prove.sound.verdicts import Check, Verdict, verdicts, write
from meshc.prove.variants import Builder

SAMPLE = 100
"""Of the accepted and of the refused, of 2,000 drawn; of fewer as many in proportion."""
DRAWN = 2000


class Soundness:
    """check: errors of a spec or job, a function that other processes can import; build: a builder of (path, slice,
    whether the check is off); oracle: another judge of specs, where there is one
    """

    def __init__(
        self,
        check: Check,
        build: Callable[[str, str | None, bool], Builder],
        jobs: int,
        verbose: bool,
        out: TextIO,
        oracle: Oracle | None = None,
    ) -> None:
        self.check, self.build, self.oracle = check, build, oracle
        self.jobs, self.verbose, self.out = jobs, verbose, out
        self.findings: list[Finding] = []
        self.sample = SAMPLE

    @property
    def holds(self) -> bool:
        return not self.findings

    def prove(self, count: int, seed: int) -> None:
        """Draws `count` specs from number `seed` on and holds the checker's verdicts against all that can say more."""
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="meshc-sound-") as temporary:
            directory = Path(temporary)
            found = list(verdicts(range(seed, seed + count), directory, self.check, self.jobs))
            self._find(judge.bugs(found))
            self._find(map(judge.by_plants, found))
            self._say(table.drawn(found, seed))
            self._ask(found)
            done = self._run(found, directory, min(self.sample, -(-count * self.sample // DRAWN)))
        self._say(table.counts(found, done))
        self._say(table.outcomes(done))
        for finding in self.findings:
            self._say(table.finding(finding))
        self._say([table.summary(self.findings, time.monotonic() - start)])

    def _ask(self, found: list[Verdict]) -> None:
        if self.oracle is None:
            return
        decided = [self.oracle.decide(v.draw.text, v.draw.devices, v.draw.job) for v in found]
        witnessed = [Witnessed(verdict, frozenset(kinds)) for verdict, kinds in zip(found, decided, strict=True)]
        self._find(one.finding(self.oracle.COMPLETE) for one in witnessed)
        self._say(table.oracle(witnessed))

    def _run(self, found: list[Verdict], directory: Path, sample: int) -> list[Trial]:
        chosen = [*judge.accepted_sample(found, sample), *judge.refused_sample(found, sample)]
        done = []
        for trial in trials(chosen, lambda v, unchecked: self.build(*write(v.draw, directory), unchecked), self.jobs):
            done.append(trial)
            self._find([judge.by_trial(trial)])
            if self.verbose:
                self._say([table.trial(trial)])
        return done

    def _find(self, found: Iterable[Finding | None]) -> None:
        """Once a spec, whoever else finds the same."""
        for finding in found:
            if finding and all(finding.verdict.draw.number != known.verdict.draw.number for known in self.findings):
                self.findings.append(finding)

    def _say(self, lines: Iterable[str]) -> None:
        self.out.writelines(f"{line}\n" for line in lines)
        self.out.flush()
