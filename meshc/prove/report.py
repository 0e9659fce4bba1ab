"""Proofs as text: a line a spec, under it what fails."""

from __future__ import annotations

from meshc.prove.model import Measure, Proof
from meshc.prove.rows import Row

MOST_FAILURES = 5


def row_lines(row: Row, width: int = 0) -> list[str]:
    """One line of a spec with the measure of each proof that is nearest to its bound; under it what fails."""
    head = f"{'holds' if row.holds else 'FAILS'}  {row.subject.name:<{width}}  {_size(row)}"
    if row.bug:
        return [head, *(f"    {line}" for line in row.bug.rstrip().splitlines()), *_spec(row)]
    worst = ", ".join(f"{proof.name} {_nearest(proof)}" for proof in row.proofs)
    failing = [proof for proof in row.proofs if not proof.holds]
    below = [f"    {proof.name}: {line}" for proof in failing for line in _why(proof)]
    return [f"{head}: {worst}", *below, *(_spec(row) if failing else [])]


def _size(row: Row) -> str:
    devices = f"{row.devices} device{'s' * (row.devices != 1)}, " if row.devices else ""
    return f"{devices}{row.seconds:.0f} s"


def _nearest(proof: Proof) -> str:
    if proof.problem or proof.worst is None:
        return "not proven"
    worst = proof.worst
    return "0" if worst.deviation == 0 else f"{_number(worst.deviation)} of {_number(worst.bound)}"


def _why(proof: Proof) -> list[str]:
    if proof.problem:
        return [proof.problem]
    if not proof.measures:
        return ["nothing was measured"]
    failures = sorted(proof.failures, key=lambda m: m.strain, reverse=True)
    more = len(failures) - MOST_FAILURES
    return [*map(measure, failures[:MOST_FAILURES]), *([f"and {more} more"] if more > 0 else [])]


def _spec(row: Row) -> list[str]:
    return ["", *row.subject.text.splitlines(), ""] if row.subject.text else []


def details(proof: Proof) -> list[str]:
    """What a proof found beside its line: its nearest measure, and facts that need no bound."""
    worst = [f"nearest to its bound is {measure(proof.worst)}"] if proof.worst and not proof.problem else []
    count = f"{len(proof.measures)} measure{'s' * (len(proof.measures) != 1)}"
    return [f"    {proof.name}: {line}" for line in (count, *worst, *proof.notes)]


def measure(found: Measure) -> str:
    between = " " if found.claim.endswith(" over") else ", "  # bytes over the axes that follow
    return f"{found.claim}{between}{found.subject}: {_number(found.deviation)}, at most {_number(found.bound)}"


def _number(value: float) -> str:
    return f"{value:.3g}"
