"""Which claims clash, which give way, and what is said."""

from __future__ import annotations

import pytest

from meshc.semantics.flat import flatten
from meshc.semantics.placed import Computed
from meshc.semantics.placement import place
from meshc.semantics.program import Attend
from meshc.semantics.resolve import resolve
from meshc.source import SourceFile
from tests.semantics.llama import SMALL, codes, diagnostics, placed, weight

MESH = "dp = 2, sp = 2, tp = 2"


def inside_attention(program) -> dict[str, tuple[str, ...]]:
    return next(
        i.statement.result.placement
        for i in flatten(program).statements
        if isinstance(i.statement, Computed) and isinstance(i.statement.op, Attend)
    )


def test_tensor_against_ulysses() -> None:
    (found,) = diagnostics(MESH, "fsdp(dp); tensor(tp); ulysses(sp)")
    assert (found.code, found.message) == ("E0201", "`heads` is claimed by two strategies inside `attend`")
    assert [label.span.text for label in found.labels] == ["ulysses(sp)", "tensor(tp)"]
    assert found.labels[0].text == "Ulysses puts heads, kv_heads on `sp` (2)"
    assert found.helps == (
        "`ring(sp)` shards the sequence through attention and leaves heads to `tp`",
        "or share them: within attend { heads, kv_heads -> tp, sp }",
    )


def test_the_shared_claim_is_offered_for_sizes_that_allow_it() -> None:
    (found,) = diagnostics("sp = 4, tp = 4", "tensor(tp); ulysses(sp)", SMALL.replace("kv_heads = 4", "kv_heads = 8"))
    assert found.helps[0] == "8 kv_heads cannot be split over tp * sp = 16 shards"
    assert found.helps[2] == "or make sp 2 and share them: within attend { heads, kv_heads -> tp, sp }"


def test_the_shared_claim_settles_it() -> None:
    program = placed(MESH, "fsdp(dp); tensor(tp); ulysses(sp); within attend { heads, kv_heads -> tp, sp }")
    assert inside_attention(program) == {"batch": ("dp",), "heads": ("tp", "sp")}


@pytest.mark.parametrize(
    ("partition", "expected"),
    [
        ("heads -> tp; heads -> sp; data(dp)", ["E0201"]),  # two direct claims
        ("heads, kv_heads -> tp; within attend { heads, kv_heads -> tp, sp }; data(dp)", []),  # a direct one, nested
        ("batch -> dp; batch -> .., sp, tp", []),  # appended to a direct claim
        ("data(dp); data(sp); data(tp)", []),  # appending claims never clash
        ("tensor(tp); tensor(sp); data(dp)", ["E0201"]),
        ("fsdp(dp); tensor(tp); ring(sp)", []),
    ],
)
def test_who_clashes(partition: str, expected: list[str]) -> None:
    assert codes(MESH, partition) == expected


def test_appended_axes_stand_in_mesh_order() -> None:
    program = placed(MESH, "data(tp); data(dp); data(sp)")
    assert program.inputs[0].placement == {"batch": ("dp", "sp", "tp")}


def test_at_rest_what_is_added_is_the_minor_part() -> None:
    program = placed("dp = 2, tp = 2", "data(dp); tensor(tp); params { mlp -> .., dp }")
    assert weight(program, "block.mlp.up").rest.axes == ((), (), ("tp", "dp"))


def test_what_is_appended_directly_adds_to_what_is_set_directly() -> None:
    program = placed("dp = 2, tp = 2, sp = 2", "batch -> dp; batch -> .., tp; data(sp)")
    assert inside_attention(program) == {"batch": ("dp", "tp")}


def test_a_direct_rule_at_rest_replaces_a_strategys() -> None:
    program = placed("fsdp = 4", "fsdp(fsdp); params of Llama.table { embed -> none }")
    assert weight(program, "table").rest.axes == ((), ())
    assert weight(program, "head").rest.axes == (("fsdp",), ())


def test_one_axis_on_two_dims_names_tensor_and_dims() -> None:
    (found,) = [d for d in diagnostics("a = 2", "params { embed, mlp -> a }; data(a)") if d.code == "E0250"]
    assert found.message == "`a` splits both `embed` and `mlp` of `Llama.block.mlp.gate`"


def test_where_free_gives_way() -> None:
    program = placed("dp = 2, tp = 2", "data(dp); embed -> tp; heads, kv_heads, vocab -> tp where free; mlp -> none")
    assert weight(program, "block.attention.wq").use.axes == (("tp",), (), ())


def test_split_keys_need_an_exchange() -> None:
    (found,) = diagnostics("dp = 2, sp = 2", "data(dp); seq -> sp")
    assert found.code == "E0253"
    assert found.helps[0] == "say how they travel: `ring(sp)`, or within attend { exchange kv by ring over sp }"


def test_whole_kv_heads_beside_split_heads_are_legal() -> None:
    program = placed("dp = 2, tp = 2", "data(dp); heads, mlp, vocab -> tp")
    assert inside_attention(program) == {"batch": ("dp",), "heads": ("tp",)}


@pytest.mark.parametrize(
    ("mesh", "partition", "expected"),
    [
        ("dp = 2, x = 2", "data(dp)", ["W0304"]),
        ("dp = 2, x = 1", "data(dp); tensor(x)", []),  # an axis of size 1 claims nothing
        ("dp = 2", "data(dp); within attend { mlp -> dp }", ["W0305"]),
        ("dp = 2", "data(dp); expert(dp)", ["E0251"]),
    ],
)
def test_what_has_no_effect_is_said(mesh: str, partition: str, expected: list[str]) -> None:
    assert codes(mesh, partition) == expected


@pytest.mark.parametrize(
    ("mesh", "partition", "message"),
    [
        ("tp = 16", "tensor(tp)", "8 heads cannot be split over tp = 16 shards: 8 % 16 = 8 (nor do 4 kv_heads)"),
        ("dp = 3", "data(dp)", "16 batch cannot be split over dp = 3 shards: 16 % 3 = 1"),
        ("dp = 8, sp = 5", "data(dp); ring(sp)", "64 seq cannot be split over 2 * sp = 10 shards: 64 % 10 = 4"),
    ],
)
def test_sizes_that_do_not_divide(mesh: str, partition: str, message: str) -> None:
    (found,) = [d for d in diagnostics(mesh, partition) if d.code == "E0301"]
    assert found.message == message


def test_the_batch_is_cut_by_microsteps_first() -> None:
    (found,) = diagnostics("dp = 8", "data(dp)", microsteps=4)
    assert found.message == "4 batch a microstep (16 / 4) cannot be split over dp = 8 shards: 4 % 8 = 4"
    assert codes("dp = 8", "data(dp)", microsteps=3) == ["E0512"]
    assert codes("dp = 8", "data(dp)", microsteps=2) == []


def test_an_axis_of_unknown_size_hides_no_clash() -> None:
    """`*` without a slice: what depends on sizes waits, what does not is found."""
    found = diagnostics("dp = 2, sp = *, tp = 3", "fsdp(dp); tensor(tp); ulysses(sp)")
    assert [d.code for d in found if d.code != "E0301"] == ["E0219", "E0201"]
    clash = next(d for d in found if d.code == "E0201")
    assert clash.labels[0].text == "Ulysses puts heads, kv_heads on `sp` (*)"
    assert clash.helps[-1] == "or share them, where their sizes divide: within attend { heads, kv_heads -> tp, sp }"


OWN_NAMES = """mesh { sp = 2, tp = 2 }
dims { rows = 8, time = 8, width = 16, hands = 4, hand = 4, words = 32 }
strategy spread(a) {
  time -> .., a where free
  within attend { hands -> a }
}
strategy held(a) { hands -> a }
model Tiny(tokens: [rows, time] of words) {
  param table: words -> width
  param q, k, v: width -> hands, hand
  param o: hands, hand -> width
  x = table[tokens]
  loss next_token(attend(x @ q, x @ k, x @ v) @ o @ table, tokens)
}
partition {
  held(tp)
  spread(sp)
}
"""


def test_the_sequence_is_what_attention_runs_along_whatever_its_name() -> None:
    program, found = resolve(SourceFile("own.mesh", OWN_NAMES))
    assert program is not None, found
    (clash,) = place(program)[1]
    assert clash.cures[0].says == "`ring(sp)` shards the sequence through attention and leaves hands to `tp`"
