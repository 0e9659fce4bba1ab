"""One run of `meshc prove --sound N`: specs drawn, checked, sampled, run; a table, and each wrong verdict whole."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

from meshc.diagnostics.codes import TITLES
from meshc.prove.sound import judge
from meshc.prove.sound.judge import Finding
from meshc.prove.sound.trial import Trial, trials
from meshc.prove.sound.verdicts import Check, Verdict, verdicts, write
from meshc.prove.variants import Builder

SAMPLE = 100
"""Of the accepted and of the refused, of 2,000 drawn; of fewer as many in proportion."""
DRAWN = 2000


class Soundness:
    """check: errors of a spec or job, a function that other processes can import; build: a builder of (path, slice,
    whether the check is off)
    """

    def __init__(
        self, check: Check, build: Callable[[str, str | None, bool], Builder], jobs: int, verbose: bool, out: TextIO
    ) -> None:
        self.check, self.build = check, build
        self.jobs, self.verbose, self.out = jobs, verbose, out
        self.findings: list[Finding] = []

    @property
    def holds(self) -> bool:
        return not self.findings

    def prove(self, count: int, seed: int) -> None:
        """Draws `count` specs from number `seed` on and holds the checker's verdicts against all that can say more."""
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="meshc-sound-") as temporary:
            directory = Path(temporary)
            found = list(verdicts(range(seed, seed + count), directory, self.check, self.jobs))
            self._find(*judge.bugs(found), *map(judge.by_plants, found))
            self._say(f"{count} specs drawn ({seed} to {seed + count - 1}): {sum(v.accepted for v in found)} accepted")
            sample = min(SAMPLE, -(-count * SAMPLE // DRAWN))
            samples = [*judge.accepted_sample(found, sample), *judge.refused_sample(found, sample)]
            done = []
            for trial in trials(samples, lambda v, off: self.build(*write(v.draw, directory), off), self.jobs):
                done.append(trial)
                self._find(judge.by_trial(trial))
                if self.verbose:
                    self._say(f"  {trial.verdict.draw.name} {', '.join(trial.verdict.codes)}: {_told(trial)}")
        self._say(*_table(found, done), *_outcomes(done))
        for finding in self.findings:
            self._say("", f"{finding.fault}, {finding.verdict.draw.name}: {finding.witness}", finding.verdict.draw.text)
            if finding.verdict.draw.job is not None:
                self._say(finding.verdict.draw.job_text)
        faults = Counter(finding.fault for finding in self.findings)
        minutes = (time.monotonic() - start) / 60
        self._say(
            f"{faults['false accept']} false accepts, {faults['false reject']} false rejects, {faults['bug']} bugs; "
            f"{minutes:.1f} minutes"
        )

    def _find(self, *found: Finding | None) -> None:
        known = {finding.verdict.draw.number for finding in self.findings}
        self.findings += [finding for finding in found if finding and finding.verdict.draw.number not in known]

    def _say(self, *lines: str) -> None:
        self.out.writelines(f"{line}\n" for line in lines)
        self.out.flush()


def _table(found: Sequence[Verdict], done: Sequence[Trial]) -> Iterator[str]:
    """Of each strategy how many were accepted and run, of each code how many were refused and run."""
    uses = Counter(use for verdict in found if verdict.accepted for use in verdict.draw.uses)
    ran = Counter(use for trial in done if trial.verdict.accepted for use in trial.verdict.draw.uses)
    yield from _columns("accepted with", uses, ran, {})
    codes = Counter(code for verdict in found for code in verdict.codes)
    ran = Counter(code for trial in done for code in trial.verdict.codes)
    yield from _columns("refused for", codes, ran, TITLES)


def _columns(head: str, all_of: Counter[str], ran: Counter[str], titles: dict[str, str]) -> Iterator[str]:
    yield f"{head:<14}  specs  run"
    for name, count in sorted(all_of.items()):
        yield f"{name:<14} {count:6} {ran[name]:4}  {titles.get(name, '')}".rstrip()


def _outcomes(done: Sequence[Trial]) -> Iterator[str]:
    for word, accepted in (("accepted", True), ("refused, check off", False)):
        some = [trial for trial in done if trial.verdict.accepted == accepted]
        yield f"{word}: {len(some)} run"
        for outcome, count in Counter(trial.outcome for trial in some).most_common():
            yield f"    {count}: {outcome}"


def _told(trial: Trial) -> str:
    wrong = (
        f" ({trial.wrong[0].claim}, {trial.wrong[0].subject}: {trial.wrong[0].deviation:.2g})" if trial.wrong else ""
    )
    return f"{trial.outcome}{wrong} {trial.failed or trial.unbuilt or trial.dropped}".strip()
