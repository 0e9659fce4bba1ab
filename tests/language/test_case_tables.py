"""Tables of what is legal, from public reports: each size of an axis, accepted or refused, and what is offered."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from meshc.diagnostics.model import Diagnostic
from meshc.driver import check
from meshc.job.target import Request
from meshc.semantics.placed import local_shape

QWEN_14B = """import "std/llama.mesh"
mesh { sp = 8 }
dims {
  batch = 1, seq = 65520, embed = 5120, heads = 40, kv_heads = 8, head_dim = 128, mlp = 13824, vocab = 152064, layers = 48
}
model Qwen(tokens: [batch, seq] of vocab) {
  param table: vocab -> embed
  x = table[tokens]
  repeat layers { x = LlamaBlock(x) as block }
  loss next_token(RMSNorm(x) @ table, tokens)
}
partition {
  ulysses(sp)
  %s
}
"""
REPEAT = "within attend { kv_heads -> sp repeat }"


def found(directory: Path, repeat: bool, **sizes: int) -> tuple[Diagnostic, ...]:
    """Errors. (That repeated heads cost something is a warning.)"""
    path = directory / "qwen.mesh"
    path.write_text(QWEN_14B % (REPEAT if repeat else ""))
    sets = tuple(f"{name.replace('mesh_', 'mesh.')}={size}" for name, size in sizes.items())
    return tuple(d for d in check(Request(str(path), sets=sets)).diagnostics if d.severity == "error")


@pytest.mark.parametrize(("repeat", "legal"), [(False, {1, 2, 4, 8}), (True, {1, 2, 4, 8, 40})])
def test_sizes_of_ulysses(repeat: bool, legal: set[int], tmp_path: Path):
    """verl-project/verl#1226: 40 heads and 8 kv heads. Heads divide, and kv heads do or are held several times.

    The sequence, 65,520 tokens here, divides by all of these.
    """
    accepted = {sp for sp in (1, 2, 4, 5, 8, 10, 16, 20, 40) if not found(tmp_path, repeat, mesh_sp=sp)}
    assert accepted == legal


@pytest.mark.parametrize(
    ("sp", "message"),
    [
        (5, "8 kv_heads cannot be split over sp = 5 shards: 8 % 5 = 3"),
        (10, "8 kv_heads cannot be split over sp = 10 shards: 8 % 10 = 8"),
        (20, "8 kv_heads cannot be split over sp = 20 shards: 8 % 20 = 8"),
        (16, "40 heads cannot be split over sp = 16 shards: 40 % 16 = 8"),
    ],
)
def test_what_is_refused(sp: int, message: str, tmp_path: Path):
    [problem] = found(tmp_path, True, mesh_sp=sp)
    assert (problem.code, problem.message) == ("E0301", message)
    assert "`sp` may be 1, 2, 4, 8 or 40" in problem.helps


def test_a_sequence_that_40_devices_do_not_divide(tmp_path: Path):
    [problem] = found(tmp_path, True, mesh_sp=40, seq=65536)
    assert problem.message == "65536 seq cannot be split over sp = 40 shards: 65536 % 40 = 16"
    assert "or seq may be 65520 or 65560" in problem.helps
    assert not found(tmp_path, True, mesh_sp=40, seq=65560)


def test_a_sequence_padded_for_40_devices(tmp_path: Path):
    """The same report: 65,536 tokens padded to 65,560, 1,639 on each device."""
    path = tmp_path / "qwen.mesh"
    path.write_text((QWEN_14B % REPEAT).replace("seq = 65520", "seq = pad(65536, 40)"))
    checked = check(Request(str(path), sets=("mesh.sp=40",)))
    assert [d.code for d in checked.diagnostics] == ["W0327"]  # what the copies of kv heads cost
    assert checked.placed is not None
    [tokens] = [fed for fed in checked.placed.fed if fed.value.name == "tokens"]
    assert local_shape(tokens.value.dims, tokens.layout, checked.placed.sizes) == (1, 1639)


@pytest.mark.parametrize("sp", [5, 16, 40])
def test_every_size_that_is_offered_is_accepted(sp: int, tmp_path: Path):
    [problem] = found(tmp_path, False, mesh_sp=sp, seq=65536)
    [offer] = [text for text in problem.helps if text.startswith("`sp` may be")]
    offered = [int(n) for n in re.findall(r"\d+", offer)]
    assert offered == [1, 2, 4, 8]
    assert not any(found(tmp_path, False, mesh_sp=n, seq=65536) for n in offered)
