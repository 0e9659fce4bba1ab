"""Draws run: those that the checker accepts, and those that it refuses with the check switched off."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from meshc.prove import process
from meshc.prove.model import Measure
from meshc.prove.proofs import derived_axes
from meshc.prove.sound.stated import dropped
from meshc.prove.sound.verdicts import Verdict
from meshc.prove.variants import EXACT, SGD, Builder, CannotBuild, Pair, write_pair

CHILD = "meshc.prove.sound.child"
IN_A_CHILD = 8
IMPATIENT = (
    "--xla_cpu_collective_call_warn_stuck_timeout_seconds=30 --xla_cpu_collective_call_terminate_timeout_seconds=60"
)
"""For what is expected to fail: some programs whose check is off stand still, each device in another collective."""
NOT_BUILT_YET = re.compile(r"\(E0299\)$")


@dataclass(frozen=True)
class Trial:
    """What became of a draw that was to run.

    unbuilt: why there is no program; failed: why it did not take a step; wrong: what its step shows to be wrong;
    dropped: what the spec states and the program does not do
    """

    verdict: Verdict
    unbuilt: str = ""
    failed: str = ""
    wrong: tuple[Measure, ...] = ()
    dropped: str = ""

    @property
    def right(self) -> bool:
        """It trained as one device does, with all shards where the spec has them."""
        return not (self.unbuilt or self.failed or self.wrong or self.dropped)

    @property
    def not_built_yet(self) -> bool:
        return bool(NOT_BUILT_YET.search(self.unbuilt))

    @property
    def outcome(self) -> str:
        if self.unbuilt:
            return "not built yet" if self.not_built_yet else "no program can be written"
        if self.failed:
            return "fails in JAX"
        if self.wrong:
            shards = any("shards" in measure.claim or "copies" in measure.claim for measure in self.wrong)
            return "other shards than stated" if shards else "trains otherwise than one device"
        return "a claim is dropped without a word" if self.dropped else "trains right"


def trials(verdicts: Sequence[Verdict], builder: Callable[[Verdict, bool], Builder], jobs: int) -> Iterator[Trial]:
    """Builds each (a refused one with the check off) and takes a step, several programs in a process, `jobs` at once.

    builder: of a verdict and whether the check is off
    """
    with tempfile.TemporaryDirectory(prefix="meshc-sound-") as temporary:
        pairs: list[tuple[Trial, Pair]] = []
        for verdict in verdicts:
            trial, pair = _built(verdict, builder(verdict, not verdict.accepted), Path(temporary))
            if pair is None:
                yield trial
            else:
                pairs.append((trial, pair))
        groups = list(_groups(pairs))
        pool = ThreadPoolExecutor(jobs)
        with process.ended_with(pool):
            for done in pool.map(_run, groups, [Path(temporary)] * len(groups)):
                yield from done


def _groups(pairs: Sequence[tuple[Trial, Pair]]) -> Iterator[list[tuple[Trial, Pair]]]:
    """What shares a process: of like numbers of devices, and either expected to run or not."""
    for accepted in (True, False):
        some = [one for one in pairs if one[0].verdict.accepted == accepted]
        some.sort(key=lambda one: one[1].num_devices)
        yield from (some[at : at + IN_A_CHILD] for at in range(0, len(some), IN_A_CHILD))


def _built(verdict: Verdict, build: Builder, directory: Path) -> tuple[Trial, Pair | None]:
    trial = Trial(verdict)
    try:
        pair = write_pair(build, (*EXACT, *SGD), directory / verdict.draw.name)
    except CannotBuild as error:
        return replace(trial, unbuilt=str(error)), None
    except Exception as error:  # with the check off, what follows may meet what it was never made for
        return replace(trial, unbuilt=f"{type(error).__name__}: {error}"), None
    return replace(trial, dropped=dropped(pair.built.placed, verdict.errors)), pair


def _run(group: Sequence[tuple[Trial, Pair]], directory: Path) -> list[Trial]:
    tasks = {trial.verdict.draw.name: _task(trial, pair) for trial, pair in group}
    devices = max(pair.num_devices for _, pair in group)
    patience = process.PATIENT if group[0][0].verdict.accepted else IMPATIENT
    found = process.run(list(tasks.values()), devices, True, _room(directory, group[0][0]), CHILD, patience)
    done = []
    for trial, pair in group:
        name, outcome = trial.verdict.draw.name, found
        if name not in found.measures and len(group) > 1:  # one before it ended the process, or it did itself
            outcome = process.run([tasks[name]], pair.num_devices, True, _room(directory, trial), CHILD, patience)
        wrong = tuple(measure for measure in outcome.measures.get(name, ()) if not measure.holds)
        done.append(replace(trial, failed=outcome.problems.get(name, ""), wrong=wrong))
    return done


def _task(trial: Trial, pair: Pair) -> process.Task:
    batch = pair.built.placed.batch
    arguments = {**pair.paths, "derived": derived_axes(pair)["rest"], "rows": batch.size if batch else 0}
    return process.Task(trial.verdict.draw.name, "step", arguments)


def _room(directory: Path, trial: Trial) -> Path:
    """Where a child's files go: each child has its own."""
    return Path(tempfile.mkdtemp(prefix=trial.verdict.draw.name, dir=directory))
