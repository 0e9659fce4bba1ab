"""How much is tried: a bounded number of changes, fewer of a long spec, none of a very long one."""

from __future__ import annotations

from pathlib import Path

import pytest

from meshc.diagnostics.model import Option
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


def test_a_view_of_other_devices_is_not_tried(tmp_path: Path, tries: list[Option]):
    """An axis of a view is as large as what it regroups: of the other sizes of `ep` none is worth a try."""
    path = tmp_path / "spec.mesh"
    path.write_text("""import "std/llama.mesh"
import "std/moe.mesh"

mesh { dp = 4; tp = 2 }

mesh experts = regroup(dp, tp) { ep = 8 }

dims {
  batch = 16, seq = 64
  embed = 64, heads = 8, kv_heads = 4, head_dim = 8, mlp = 128
  vocab = 256, layers = 2, experts = 12
}

model Mixture(tokens: [batch, seq] of vocab) {
  param table: vocab -> embed
  x = table[tokens]
  repeat layers { x = MoeBlock(x, top_k = 2) }
  loss next_token(x @ table, tokens)
}

partition {
  fsdp(dp)
  tensor(tp)
  expert(ep)
}
""")
    [found] = check(Request(str(path))).diagnostics
    assert found.helps == ("experts may be 8 or 16",)
    assert not any(key == "mesh.ep" for option in tries for key, _ in option.sizes)
