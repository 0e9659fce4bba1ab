"""Rules without effect, and rules that ask for what cannot be: none is dropped silently."""

from __future__ import annotations

import pytest

from meshc.semantics.flat import flatten
from meshc.semantics.placed import Computed
from meshc.semantics.program import Rope
from tests.semantics.llama import SMALL, codes, diagnostics, placed

MESH = "dp = 2, tp = 2"


@pytest.mark.parametrize(
    ("partition", "expected"),
    [
        ("tensor(tp); batch -> dp, dp", "E0247"),
        ("data(dp); tensor(tp); seq -> .., dp where free", "W0305"),  # every tensor with seq has a batch on dp
        ("data(dp); tensor(tp); params { seq, mlp -> .., tp }", "W0305"),  # no weight has seq
        ("data(dp); tensor(tp); within attend { exchange kv by ring over dp }", "W0305"),  # keys are not split over it
        ("data(dp); mlp -> tp; within attend { head_dim -> tp }", "E0256"),
        ("data(dp); mlp -> tp; within rope { head_dim -> tp }", "E0256"),
        ("data(dp); mlp -> tp repeat", "E0257"),
        ("data(dp); heads, kv_heads -> tp repeat", "E0257"),
        ("data(dp); stage seq over tp", "E0255"),
        ("data(dp); stage layers over tp; stage layers over dp", "E0201"),
        ("data(dp); pipeline(tp, microbatches = 4, stages = [1, 2])", "E0301"),
        ("data(dp); pipeline(tp, microbatches = 4, stages = [1, 1, 2])", "E0301"),
        ("data(dp); pipeline(tp, microbatches = 4, rounds = 2)", "E0242"),
        ("data(dp); ring(tp); gather_kv(tp)", "E0201"),
    ],
)
def test_nothing_is_silent(partition: str, expected: str) -> None:
    found = codes(MESH, partition)
    assert [code for code in found if code != "W0304" or len(found) == 1] == [expected]  # an axis then may lie idle


@pytest.mark.parametrize(
    "partition",
    [
        "data(dp); tensor(tp, sequence = true)",
        "data(dp); heads, mlp -> tp; kv_heads -> tp repeat",
        "data(dp); pipeline(tp, microbatches = 4)",
        "data(dp); pipeline(tp, microbatches = 4, stages = [1, 3])",
        'data(dp); pipeline(tp, microbatches = 4, schedule = "interleaved", rounds = 2)',
        "data(dp); ring(tp)",
        "data(dp); mlp -> tp; params { first(seq, embed) -> .., tp where free }",
        "data(dp); head_dim -> tp",  # gathered for what takes it whole
    ],
)
def test_what_has_effect_is_not_complained_of(partition: str) -> None:
    assert codes(MESH, partition) == []


def test_stages_that_do_not_divide() -> None:
    (found,) = diagnostics("pp = 3", "pipeline(pp, microbatches = 4)")
    assert found.message == "4 layers cannot be cut into pp = 3 stages: 4 % 3 = 1"
    assert found.helps == ("`pp` may be 1, 2 or 4",)


def test_all_options_of_a_pipeline_are_read() -> None:
    found = diagnostics("pp = 2", 'pipeline(pp, microbatches = 0, schedule = "x", rounds = 0, stages = odd)')
    assert [d.span.text for d in found if d.span and d.code == "E0242"] == ["0", "0", '"x"', "odd"]


def test_a_stage_stands_outside_of_places() -> None:
    assert "E0241" in codes("pp = 2", "within SwiGLU { stage layers over pp }")


def test_the_weight_that_is_meant() -> None:
    (found,) = diagnostics("dp = 2", "data(dp); params of Llama.tabel { embed -> .., dp }")
    assert (found.code, found.helps) == ("W0305", ("did you mean `Llama.table`?",))
    (found,) = diagnostics("dp = 2", "data(dp); params of Llama.block { embed -> .., dp }")
    assert found.helps == ("`Llama.block` is no weight: name one in it, such as `Llama.block.attention_norm.scale`",)


def test_one_report_where_the_sequence_keeps_an_axis_of_the_heads() -> None:
    assert codes(MESH, "data(dp); ulysses(tp); within attend { seq -> tp }") == ["E0250"]


def test_cures_for_keys_split_over_two_axes_are_rules_of_the_language() -> None:
    (found,) = diagnostics(MESH, "seq -> dp, tp")
    rings = "within attend { exchange kv by ring over dp; exchange kv by ring over tp }"
    assert found.helps[0] == f"say how they travel: `ring(dp)` and `ring(tp)`, or {rings}"
    assert found.helps[1] == "or give the axes to the heads: within attend { seq -> none; heads, kv_heads -> dp, tp }"
    assert codes(MESH, "seq -> dp, tp; within attend { seq -> none; heads, kv_heads -> dp, tp }") == []


def test_an_operation_is_a_place() -> None:
    program = placed(MESH, "data(dp); mlp -> tp; within rope { heads, kv_heads -> tp }", SMALL)
    turned = [
        i.statement.result.placement
        for i in flatten(program).statements
        if isinstance(i.statement, Computed) and isinstance(i.statement.op, Rope)
    ]
    assert turned == [{"batch": ("dp",), "heads": ("tp",)}, {"batch": ("dp",), "kv_heads": ("tp",)}]
