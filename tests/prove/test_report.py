"""Measures against bounds, and a proof as a line."""

from __future__ import annotations

import math

from meshc.prove.model import Measure, Proof
from meshc.prove.report import lines


def proof(*measures: Measure, problem: str | None = None) -> Proof:
    return Proof("a.mesh", "parity", measures, problem=problem)


def test_a_bound_is_kept_up_to_its_value():
    assert Measure("loss", "step 1", 1e-10, 1e-10).holds
    assert not Measure("loss", "step 1", 1.1e-10, 1e-10).holds
    assert not Measure("loss", "step 1", math.nan, 1e-10).holds
    assert Measure("shards", "w", 0, 0).holds
    assert not Measure("shards", "w", 1, 0).holds


def test_a_proof_that_measured_nothing_does_not_hold():
    assert not proof().holds
    assert not proof(Measure("loss", "step 1", 0, 1), problem="it stopped").holds


def test_the_worst_is_nearest_to_its_own_bound():
    near, far = Measure("loss", "step 1", 0.9e-10, 1e-10), Measure("gradient", "w", 1e-9, 1e-8)
    assert proof(far, near).worst == near
    assert proof(near, Measure("shards", "w", 1, 0)).worst == Measure("shards", "w", 1, 0)
    unknown = Measure("loss", "step 2", math.nan, 1e-10)
    assert proof(near, unknown).worst == unknown


def test_a_line_for_a_proof_that_holds():
    found = proof(Measure("loss", "step 1", 2e-16, 1e-10), Measure("gradient", "w", 1e-12, 1e-8))
    assert lines(found) == [
        "a.mesh  parity     holds  2 measures, largest deviation 1e-12 of 1e-08 allowed (gradient, w)",
    ]
    assert lines(proof(Measure("shards", "w", 0, 0))) == ["a.mesh  parity     holds  1 measure, largest deviation 0"]


def test_what_fails_stands_below_the_worst_first():
    wrong = [Measure("gradient", f"w{n}", 1e-3 * (n + 1), 1e-8) for n in range(7)]
    assert lines(proof(*wrong)) == [
        "a.mesh  parity     FAILS  7 measures, largest deviation 0.007 of 1e-08 allowed (gradient, w6)",
        "    gradient, w6: 0.007, at most 1e-08",
        "    gradient, w5: 0.006, at most 1e-08",
        "    gradient, w4: 0.005, at most 1e-08",
        "    gradient, w3: 0.004, at most 1e-08",
        "    gradient, w2: 0.003, at most 1e-08",
        "    and 2 more",
    ]


def test_what_could_not_be_carried_through():
    assert lines(proof(problem="no program")) == ["a.mesh  parity     FAILS  no program"]
    assert lines(proof()) == ["a.mesh  parity     FAILS  nothing was measured"]
