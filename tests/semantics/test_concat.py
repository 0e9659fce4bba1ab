"""What `concat` makes of tensors that do not have the same dims beside the joined one."""

from __future__ import annotations

from meshc.semantics.program import Concat, Program
from meshc.semantics.resolve import resolve
from meshc.source import SourceFile
from tests.semantics.marked import DIMS, model

SIZES = DIMS + "dims { still = 3, turned = 5, whole = still + turned }\n"
WEIGHTS = "param a: embed -> heads, still\n  param b: embed -> turned\n  param c: mlp -> turned"


def resolved(body: str) -> tuple[Program | None, list[str]]:
    text = model(f"{WEIGHTS}\n  {body}\n  x = x * mean(k)", dims=SIZES)
    program, found = resolve(SourceFile("spec.mesh", text))
    return program, [d.message for d in found if d.severity == "error"]


def test_a_part_that_all_heads_share_stands_beside_one_for_each():
    for order in ("x @ a, x @ b", "x @ b, x @ a"):
        program, found = resolved(f"k = concat({order}, along = whole)")
        assert program is not None and found == []
        joined = next(s for s in program.model.body if isinstance(s, Concat))
        assert [d.name for d in joined.result.dims] == ["batch", "seq", "heads", "whole"]
        assert {d.name for d in joined.parts} == {"still", "turned"}


def test_a_dim_that_the_widest_part_lacks_is_no_dim_of_the_whole():
    """[batch, seq, heads, still] and [mlp, turned]: nothing says where mlp would stand."""
    _, found = resolved("k = concat(x @ a, c, along = whole)")
    assert found == ["cannot put [batch, seq, heads, still], [mlp, turned] side by side"]
