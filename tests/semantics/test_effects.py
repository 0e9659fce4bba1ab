"""Rules without effect, and rules that ask for what cannot be: none is dropped silently."""

from __future__ import annotations

import pytest

from meshc.diagnostics.model import Diagnostic
from meshc.semantics.checks import CHECKS, Context
from meshc.semantics.flat import flatten
from meshc.semantics.overrides import override
from meshc.semantics.placed import Computed
from meshc.semantics.placement import place
from meshc.semantics.program import Rope
from meshc.semantics.resolve import resolve
from meshc.source import SourceFile
from tests.semantics.llama import SMALL, codes, diagnostics, placed, spec

MESH = "dp = 2, tp = 2"
OWN = """layer Own(x) {
  param q: width -> heads, head_dim
  param k: width -> kv_heads, head_dim
  param o: heads, head_dim -> width
  param up: width -> ff
  param down: ff -> width
  x = x + attend(x @ q, x @ k, x @ k) @ o
  return x + gelu(x @ up) @ down
}"""


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
        ("data(dp); data(tp); stage layers over tp", "E0261"),
        ("data(dp); pipeline(tp, microbatches = 4)", "W0307"),
        ("data(dp); pipeline(tp, microbatches = 4, stages = [4, 0])", "E0301"),
        ("data(dp); pipeline(tp, microbatches = 4, stages = [1, 2])", "E0301"),
        ("data(dp); pipeline(tp, microbatches = 4, stages = [1, 1, 2])", "E0301"),
        ("data(dp); pipeline(tp, microbatches = 4, rounds = 2)", "E0242"),
        ("data(dp); ring(tp); gather_kv(tp)", "E0201"),
    ],
)
def test_nothing_is_silent(partition: str, expected: str) -> None:
    found = codes(MESH, partition)
    assert [code for code in found if code != "W0304" or len(found) == 1] == [expected]  # an axis then may lie idle


def test_of_an_undeclared_dim_nothing_more_is_told():
    errors = [code for code in codes(MESH, "data(dp); tensor(tp); kvheads -> tp repeat") if code.startswith("E")]
    assert errors == ["E0203"]  # and not that it is no kv heads


@pytest.mark.parametrize(
    "partition",
    [
        "data(dp); tensor(tp, sequence = true)",
        "data(dp); heads, mlp -> tp; kv_heads -> tp repeat",
        "data(dp); pipeline(tp, microbatches = 4); vocab -> .., tp",
        "data(dp); pipeline(tp, microbatches = 8, stages = [2, 2]); vocab -> .., tp",
        'data(dp); pipeline(tp, microbatches = 4, schedule = "interleaved", rounds = 2); vocab -> .., tp',
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
    assert found.helps == (
        "`pp` may be 1, 2 or 4",
        "or name the layers of each: stages = [2, 1, 1]",
        "or layers may be 3 or 6",
    )


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


def idle(text: str) -> list[Diagnostic]:
    program, found = resolve(SourceFile("own.mesh", text))
    assert program is not None, found
    result, more = place(program)
    return [*found, *more, *(d for check in CHECKS for d in check(Context(result)))]


@pytest.mark.parametrize(
    ("use", "message", "where"),
    [
        ("fsdp(dp)", "`fsdp` splits no weights at rest in this program", "params"),
        ("zero1(dp)", "`zero1` splits no optimizer state in this program", "optimizer"),
        ("zero2(dp)", "`zero2` splits no gradients or optimizer state in this program", "grads, optimizer"),
    ],
)
def test_a_strategy_that_finds_no_state_to_split_says_so(use: str, message: str, where: str) -> None:
    text = spec(MESH, f"{use}; heads -> tp", SMALL.replace("mlp", "ff")).text.replace('import "std/llama.mesh"', OWN)
    text = text.replace("embed", "width").replace("LlamaBlock(x) as block", "Own(x)").replace("RMSNorm(x) as norm", "x")
    found = idle(text)
    assert [(d.code, d.message) for d in found] == [("W0305", message)]
    assert found[0].helps[1] == f"or write rules for yours in its place: {where} {{ DIM -> .., dp }}"
    assert idle(text.replace("width", "embed")) == []


def test_an_operation_is_a_place() -> None:
    program = placed(MESH, "data(dp); mlp -> tp; within rope { heads, kv_heads -> tp }", SMALL)
    turned = [
        i.statement.result.placement
        for i in flatten(program).statements
        if isinstance(i.statement, Computed) and isinstance(i.statement.op, Rope)
    ]
    assert turned == [{"batch": ("dp",), "heads": ("tp",)}, {"batch": ("dp",), "kv_heads": ("tp",)}]


def test_attention_that_would_run_along_the_batch() -> None:
    """`attend` reads dims by place, so a tensor without heads would have the sequence for them."""
    text = """mesh { dp = 2 }
dims { batch = 4, seq = 8, embed = 8, vocab = 32 }
model M(tokens: [batch, seq] of vocab) {
  param table: vocab -> embed
  x = table[tokens]
  loss next_token(attend(x, x, x) @ table, tokens)
}
partition { data(dp) }
"""
    program, found = resolve(SourceFile("m.mesh", text))
    assert program is not None
    result, more = place(program)
    (said,) = [*found, *more, *(d for check in CHECKS for d in check(Context(result)))]
    assert (said.code, said.message) == ("E0228", "attention would run along `batch`, with `seq` as its heads")


@pytest.mark.parametrize(
    ("heads", "kv_heads", "helps"),
    [
        ("pad(3, 4)", "heads", ("pad them alike: kv_heads = pad(3, 4)",)),
        ("pad(6, 4)", "2", ()),  # 8 heads are no 3 * 2: they would share other kv heads than the 6 do
    ],
)
def test_heads_are_padded_with_their_kv_heads(heads: str, kv_heads: str, helps: tuple[str, ...]) -> None:
    dims = SMALL.replace("heads = 8, kv_heads = 4", f"heads = {heads}, kv_heads = {kv_heads}")
    (found,) = diagnostics("dp = 2", "data(dp)", dims)
    assert (found.code, found.helps) == ("E0240", helps)
    dims = SMALL.replace("heads = 8, kv_heads = 4", "heads = pad(6, 4), kv_heads = pad(3, 4)")
    assert codes("dp = 2", "data(dp)", dims) == []


def test_a_star_of_an_override() -> None:
    star = (override("mesh.dp", "*"),)
    _, found = resolve(spec("dp = 2", "data(dp)"), star)
    assert [(d.code, d.span.text) for d in found if d.span] == [("E0219", "mesh.dp")]  # where it is written
    _, found = resolve(spec("dp = 2", "data(dp)"), (override("batch", "*"),))
    assert [d.code for d in found] == ["E0116"]


@pytest.mark.parametrize("target", ["ops:lambda", "class.ops:f", "ops:f()", "ops", ":f", "ops:", "a b:f"])
def test_a_primitive_names_what_python_can_import(target: str) -> None:
    text = spec("dp = 2", "data(dp)").text.replace("model", f'primitive f(x) -> [batch] = "{target}"\nmodel')
    _, found = resolve(SourceFile("m.mesh", text))
    assert [d.code for d in found if d.severity == "error"] == ["E0239"]
