"""Specs of any length have that many lines and no problems."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.long_specs import long_spec


@pytest.mark.parametrize("lines", [32, 100, 101, 102, 103, 1000])
def test_exactly_as_long_as_asked(lines: int):
    assert long_spec(lines).count("\n") == lines


def test_too_short():
    with pytest.raises(ValueError, match="28 lines are too few"):
        long_spec(28)


def test_nothing_is_wrong_with_one(tmp_path: Path):
    from meshc.driver import check
    from meshc.job.target import Request

    path = tmp_path / "long.mesh"
    path.write_text(long_spec(200), encoding="utf-8")
    found = check(Request(str(path)))
    assert [d.message for d in found.diagnostics] == []
    assert found.placed is not None
