"""What a proof yields: claims with a number each, and the bound that the number must keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ProofName = Literal["parity", "placement", "traffic"]


@dataclass(frozen=True, slots=True)
class Measure:
    """One claim: `deviation` of `subject` (a weight, a step, axes) from what it is compared with, at most `bound`."""

    claim: str
    subject: str
    deviation: float
    bound: float

    @property
    def holds(self) -> bool:
        return self.deviation <= self.bound  # false for nan

    @property
    def strain(self) -> float:
        """The share of the bound that is used up; infinite where none is allowed and some is found, or for nan."""
        if self.deviation <= self.bound:
            return self.deviation / self.bound if self.bound else 0.0
        return self.deviation / self.bound if self.bound and self.deviation == self.deviation else float("inf")


@dataclass(frozen=True)
class Proof:
    """A proof of one spec. `problem` is why it could not be carried through; `notes` are facts that need no bound."""

    spec: str
    name: ProofName
    measures: tuple[Measure, ...] = ()
    notes: tuple[str, ...] = ()
    problem: str | None = None

    @property
    def holds(self) -> bool:
        return self.problem is None and bool(self.measures) and all(m.holds for m in self.measures)

    @property
    def worst(self) -> Measure | None:
        """The measure nearest to its bound, or farthest beyond it."""
        return max(self.measures, key=lambda m: m.strain, default=None)

    @property
    def failures(self) -> tuple[Measure, ...]:
        return tuple(m for m in self.measures if not m.holds)
