"""Verdicts held against witnesses: runs, the oracle, what was planted. What is left over is a bug of the checker."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from meshc.prove.sound.kinds import FIRST, Kind
from meshc.prove.sound.trial import Trial
from meshc.prove.sound.verdicts import Verdict, strata

RUN: frozenset[Kind] = frozenset({"divide", "twice", "exchange", "stage", "whole"})
"""Kinds of sizes and axes, whose truth shows when a program is made in spite of them. The language's own rules (whose
claim holds, what an order is for) do not show there: a program could hold to one claim and train right."""

Oracle = Callable[[str, int | None, Mapping[str, Any] | None], Collection[Kind]]
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


def by_oracle(verdict: Verdict, decided: Collection[Kind], complete: Collection[Kind]) -> Finding | None:
    """decided: what the oracle finds wrong; complete: the kinds of which it finds all"""
    told = ", ".join(sorted(decided))
    if verdict.accepted and set(decided) & set(complete):
        return Finding(verdict, "false accept", f"the oracle: {told}")
    if verdict.errors and not decided and verdict.kinds <= set(complete):
        return Finding(verdict, "false reject", f"the oracle finds nothing wrong: {verdict.errors[0][1]}")
    return None


def other_reasons(verdict: Verdict, decided: Collection[Kind], complete: Collection[Kind]) -> bool:
    """Whether checker and oracle both refuse, and for kinds of which none is the same."""
    if not verdict.errors or not decided or (verdict.kinds | set(decided)) & FIRST:
        return False
    return verdict.kinds <= set(complete) and verdict.kinds.isdisjoint(decided)


def bugs(verdicts: Sequence[Verdict]) -> Iterator[Finding]:
    for verdict in verdicts:
        if verdict.bug:
            yield Finding(verdict, "bug", verdict.bug)
