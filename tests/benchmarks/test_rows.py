"""Figures and bounds: what is printed, what counts as broken."""

from __future__ import annotations

import json

from benchmarks.rows import Row, as_json, ratio_row, seconds, table


def test_a_ratio_is_judged_to_the_decimals_of_its_bound():
    assert Row("s", "flops", 1.004, 1.0).holds
    assert not Row("s", "flops", 1.006, 1.0).holds
    assert not Row("s", "compilations", 2, 1, decimals=0).holds
    assert not Row("s", "flops", float("nan"), 1.0).holds
    assert Row("s", "for information", 99.0).holds


def test_a_ratio_is_of_medians_with_the_spread_of_pairs():
    row = ratio_row("s", "time", [2.0, 3.0, 10.0], [2.0, 2.0, 4.0], 1.2)
    assert row.value == 1.5  # 3 / 2
    assert row.spread == (1.0, 2.5)
    assert not row.holds


def test_seconds_are_told_in_fitting_units():
    assert seconds([0.011, 0.010, 0.012]) == "11 (10-12) ms"
    assert seconds([2.0, 1.5, 2.5]) == "2 (1.5-2.5) s"


def test_the_table_tells_what_is_broken():
    rows = [
        Row("first", "a", 0.5, 1.0, spread=(0.4, 0.6)),
        Row("second", "b", 3.0, 1.0),
        Row("second", "c", 7.0, unit="MB"),
    ]
    text = table(rows)
    assert text.splitlines() == [
        "first",
        "  a   0.50 x          <= 1  0.40-0.60",
        "",
        "second",
        "  b   3.00 x  <= 1  BROKEN",
        "  c  7.00 MB",
        "",
        "3 figures, 1 above the bound",
    ]


def test_json_has_every_field():
    (one,) = json.loads(as_json([Row("s", "a", 2.0, 1.0, spread=(1.0, 3.0))]))
    assert (one["name"], one["value"], one["bound"], one["spread"], one["holds"]) == ("a", 2.0, 1.0, [1.0, 3.0], False)
