"""Verdicts held against witnesses: runs, the oracle, what was planted. What is left over is a bug of the checker."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from meshc.prove.sound.kinds import FIRST, Kind
from meshc.prove.sound.trial import Trial
from meshc.prove.sound.verdicts import Verdict, strata

RUN: frozenset[Kind] = frozenset({"divide", "twice", "exchange", "stage", "whole"})
"""Kinds of sizes and axes, whose truth shows when a program is made in spite of them. The language's own rules (whose
claim holds, what an order is for) do not show there: a program could hold to one claim and train right."""


class Oracle(Protocol):
    """As `kinds` has it; a module is one."""

    COMPLETE: frozenset[Kind]

    def decide(self, text: str, devices: int | None, job: Mapping[str, Any] | None) -> frozenset[Kind]: ...


Fault = Literal["false accept", "false reject", "bug"]


@dataclass(frozen=True)
class Finding:
    """A verdict that is wrong. witness: who says so, and what"""

    verdict: Verdict
    fault: Fault
    witness: str


def accepted_sample(verdicts: Sequence[Verdict], count: int) -> list[Verdict]:
    """By strategy."""
    return strata([v for v in verdicts if v.accepted], lambda v: v.draw.uses or ("none",), count)


def refused_sample(verdicts: Sequence[Verdict], count: int) -> list[Verdict]:
    """By code: of what shows in a run, those first that are refused for one reason alone."""
    shown = [v for v in verdicts if v.kinds and v.kinds <= RUN]
    return strata(sorted(shown, key=lambda v: len(v.errors)), lambda v: v.codes, count)


def by_trial(trial: Trial) -> Finding | None:
    verdict = trial.verdict
    if verdict.accepted and not trial.right and not trial.not_built_yet:
        worst = f": {trial.wrong[0].claim} of {trial.wrong[0].subject}" if trial.wrong else ""
        return Finding(verdict, "false accept", f"{trial.outcome}{worst} {trial.failed or trial.unbuilt}".strip())
    if not verdict.accepted and trial.right:
        return Finding(verdict, "false reject", f"trains right without the check for {verdict.errors[0][1]}")
    return None


def by_plants(verdict: Verdict) -> Finding | None:
    """A spec in which a mistake was planted is wrong."""
    sure = [planted for planted in verdict.draw.planted if planted.sure]
    if verdict.accepted and sure:
        return Finding(verdict, "false accept", f"planted: {sure[0].what} ({sure[0].kind})")
    return None


@dataclass(frozen=True)
class Witnessed:
    """A verdict, and what the oracle finds wrong with the spec."""

    verdict: Verdict
    decided: frozenset[Kind]

    def finding(self, complete: Collection[Kind]) -> Finding | None:
        """complete: the kinds of which the oracle finds all there are"""
        verdict = self.verdict
        if verdict.accepted and self.decided & set(complete):
            return Finding(verdict, "false accept", f"the oracle: {', '.join(sorted(self.decided))}")
        if verdict.errors and not self.decided and verdict.kinds <= set(complete):
            return Finding(verdict, "false reject", f"the oracle finds nothing wrong: {verdict.errors[0][1]}")
        return None

    @property
    def for_other_reasons(self) -> bool:
        """Whether both refuse it, and for no kind that is the same. (Behind an unknown name all is guessed.)"""
        return not self.verdict.kinds & self.decided and not (self.verdict.kinds | self.decided) & FIRST


def bugs(verdicts: Sequence[Verdict]) -> Iterator[Finding]:
    for verdict in verdicts:
        if verdict.bug:
            yield Finding(verdict, "bug", verdict.bug)
