"""A proof as a line: the spec, the proof, whether it holds, and the measure that is nearest to its bound."""

from __future__ import annotations

from meshc.prove.model import Measure, Proof

MOST_FAILURES = 5


def lines(proof: Proof) -> list[str]:
    """The proof's line, and under it what fails."""
    head = f"{proof.spec}  {proof.name:<9}  {'holds' if proof.holds else 'FAILS'}  {_summary(proof)}"
    failures = sorted(proof.failures, key=lambda m: m.strain, reverse=True)
    shown = [f"    {measure(m)}" for m in failures[:MOST_FAILURES]]
    if len(failures) > MOST_FAILURES:
        shown.append(f"    and {len(failures) - MOST_FAILURES} more")
    return [head, *shown]


def measure(found: Measure) -> str:
    return f"{found.claim}, {found.subject}: {_number(found.deviation)}, at most {_number(found.bound)}"


def _summary(proof: Proof) -> str:
    if proof.problem:
        return proof.problem
    if proof.worst is None:
        return "nothing was measured"
    count = len(proof.measures)
    return f"{count} measure{'s' * (count != 1)}, largest deviation {_largest(proof.worst)}"


def _largest(worst: Measure) -> str:
    if worst.deviation == 0:
        return "0"
    return f"{_number(worst.deviation)} of {_number(worst.bound)} allowed ({worst.claim}, {worst.subject})"


def _number(value: float) -> str:
    return f"{value:.3g}"
