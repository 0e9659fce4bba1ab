"""What a run of `meshc prove --sound N` prints: how many of each, what came of those that ran, each wrong verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from meshc.diagnostics.codes import TITLES
from meshc.prove.sound.judge import Finding, Witnessed
from meshc.prove.sound.trial import Trial
from meshc.prove.sound.verdicts import Verdict


def drawn(found: Sequence[Verdict], first: int) -> Iterator[str]:
    """How many were accepted; of what was planted for sure, how much was refused, and for that."""
    accepted = sum(verdict.accepted for verdict in found)
    last, refused = first + len(found) - 1, len(found) - accepted
    yield f"{len(found)} specs drawn ({first} to {last}): {accepted} accepted, {refused} refused"
    planted = [(verdict, one.kind) for verdict in found for one in verdict.draw.planted if one.sure]
    caught = [(verdict, kind) for verdict, kind in planted if verdict.errors]
    of_kind = sum(kind in verdict.kinds for verdict, kind in caught)
    yield f"{len(planted)} mistakes planted for sure: {len(caught)} refused, {of_kind} of them for their kind"


def oracle(found: Sequence[Witnessed]) -> Iterator[str]:
    """How checker and oracle agree."""
    both = [one for one in found if one.verdict.errors and one.decided]
    legal = sum(one.verdict.accepted and not one.decided for one in found)
    other = sum(one.for_other_reasons for one in both)
    yield f"the oracle: {legal} legal to both, {len(both)} refused by both, {other} of them for other reasons alone"


def counts(found: Sequence[Verdict], done: Sequence[Trial]) -> Iterator[str]:
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


def outcomes(done: Sequence[Trial]) -> Iterator[str]:
    for word, accepted in (("accepted", True), ("refused, check off", False)):
        some = [trial for trial in done if trial.verdict.accepted == accepted]
        yield f"{word}: {len(some)} run"
        for outcome, count in Counter(trial.outcome for trial in some).most_common():
            yield f"    {count}: {outcome}"


def trial(done: Trial) -> str:
    """One that ran, and what came of it."""
    worst = done.wrong[0] if done.wrong else None
    wrong = f" ({worst.claim}, {worst.subject}: {worst.deviation:.2g})" if worst else ""
    why = done.failed or done.unbuilt or done.dropped
    return f"  {done.verdict.draw.name} {', '.join(done.verdict.codes)}: {done.outcome}{wrong} {why}".rstrip()


def finding(one: Finding) -> Iterator[str]:
    drawn = one.verdict.draw
    yield from ("", f"{one.fault}, {drawn.name}: {one.witness}", drawn.text)
    if drawn.job is not None:
        yield drawn.job_text


def summary(findings: Sequence[Finding], seconds: float) -> str:
    faults = Counter(one.fault for one in findings)
    words = ", ".join(f"{faults[fault]} {fault}s" for fault in ("false accept", "false reject", "bug"))
    return f"{words}; {seconds / 60:.1f} minutes"
