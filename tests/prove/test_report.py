"""Measures against bounds, and proofs as lines."""

from __future__ import annotations

import math
from dataclasses import replace

from meshc.prove.model import Measure, Proof
from meshc.prove.report import details, measure, row_lines
from meshc.prove.rows import Row, Subject


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


def row(*proofs: Proof, text: str = "", bug: str = "") -> Row:
    return Row(Subject("a.mesh", lambda flags, on_slice: [], text), proofs, devices=8, seconds=12.3, bug=bug)


def test_a_line_for_a_spec_that_holds():
    found = proof(Measure("loss", "step 1", 2e-16, 1e-10), Measure("gradient", "w", 1e-12, 1e-8))
    whole = replace(proof(Measure("shards", "w", 0, 0)), name="placement")
    assert row_lines(row(found, whole)) == ["holds  a.mesh  8 devices, 12 s: parity 1e-12 of 1e-08, placement 0"]


def test_what_fails_stands_below_the_worst_first():
    wrong = [Measure("gradient", f"w{n}", 1e-3 * (n + 1), 1e-8) for n in range(7)]
    assert row_lines(row(proof(*wrong))) == [
        "FAILS  a.mesh  8 devices, 12 s: parity 0.007 of 1e-08",
        "    parity: gradient, w6: 0.007, at most 1e-08",
        "    parity: gradient, w5: 0.006, at most 1e-08",
        "    parity: gradient, w4: 0.005, at most 1e-08",
        "    parity: gradient, w3: 0.004, at most 1e-08",
        "    parity: gradient, w2: 0.003, at most 1e-08",
        "    parity: and 2 more",
    ]


def test_what_could_not_be_carried_through():
    head = "FAILS  a.mesh  8 devices, 12 s: parity not proven"
    assert row_lines(row(proof(problem="no program"))) == [head, "    parity: no program"]
    assert row_lines(row(proof())) == [head, "    parity: nothing was measured"]
    assert row_lines(row(bug="Traceback\nKeyError: 'x'\n")) == [
        "FAILS  a.mesh  8 devices, 12 s", "    Traceback", "    KeyError: 'x'",
    ]  # fmt: skip


def test_a_drawn_spec_is_printed_whole_where_it_fails():
    text = "mesh { a = 2 }\n\npartition { data(a) }\n"
    assert row_lines(row(proof(), text=text))[2:] == ["", "mesh { a = 2 }", "", "partition { data(a) }", ""]
    assert len(row_lines(row(proof(Measure("loss", "step 1", 0, 1)), text=text))) == 1


def test_a_measure_of_axes_reads_as_one_phrase():
    assert measure(Measure("bytes over", "edp and dp_ep", 0.5, 0.05)) == "bytes over edp and dp_ep: 0.5, at most 0.05"
    assert measure(Measure("gradient", "Llama.head", 0.5, 0.05)) == "gradient, Llama.head: 0.5, at most 0.05"


def test_details_name_the_nearest_measure_and_the_notes():
    found = replace(proof(Measure("loss", "step 1", 0.5, 1)), notes=("all-gather over tp: 8 bytes",))
    assert details(found) == [
        "    parity: 1 measure",
        "    parity: nearest to its bound is loss, step 1: 0.5, at most 1",
        "    parity: all-gather over tp: 8 bytes",
    ]
