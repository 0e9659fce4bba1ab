"""How much is tried: a bounded number of changes, fewer of a long spec, none of a very long one."""

from __future__ import annotations

from pathlib import Path

import pytest

from meshc.driver import check
from meshc.job.target import Request
from meshc.semantics.trials import MOST_LETTERS, MOST_TRIES, Trials
from tests.semantics.llama import spec

UNEVEN = spec("dp = 3, fsdp = 5, tp = 7, sp = 9", "data(dp); fsdp(fsdp); tensor(tp); ulysses(sp)").text


@pytest.fixture
def tries(monkeypatch: pytest.MonkeyPatch):
    """Counts the changes that are checked."""
    made: list[object] = []
    found = Trials._found

    def counted(self: Trials, option, warn):
        made.append(option)
        return found(self, option, warn)

    monkeypatch.setattr(Trials, "_found", counted)
    return made


@pytest.mark.parametrize(
    ("letters", "most"), [(0, MOST_TRIES), (MOST_LETTERS // 4, 3), (MOST_LETTERS // 2, 1), (MOST_LETTERS, 0)]
)
def test_only_so_much_is_tried(letters: int, most: int, tmp_path: Path, tries: list[object]):
    path = tmp_path / "spec.mesh"
    path.write_text(UNEVEN + "# long\n" * (letters // 7 + 1))
    found = check(Request(str(path))).diagnostics
    assert len(tries) <= most
    assert found
    assert not any(problem.cures for problem in found)


def test_a_very_long_spec_is_told_what_would_do_by_arithmetic(tmp_path: Path, tries: list[object]):
    path = tmp_path / "spec.mesh"
    path.write_text(spec("dp = 3", "data(dp)").text + "# long\n" * (MOST_LETTERS // 7))
    [found] = check(Request(str(path))).diagnostics
    assert found.helps[0] == "`dp` may be 1, 2, 4, 8 or 16"
    assert not tries
