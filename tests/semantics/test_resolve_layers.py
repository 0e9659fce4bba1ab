"""What layers come to: modules with paths, weights with stacks, operations on tensors of known dims."""

from __future__ import annotations

import pytest

from meshc.semantics.program import (
    Attend,
    Combine,
    Concat,
    Contract,
    CrossEntropy,
    Custom,
    Dropout,
    Elementwise,
    Init,
    Invoke,
    Kind,
    Load,
    Lookup,
    Metric,
    Module,
    NextToken,
    Program,
    Reduce,
    Rename,
    Repeat,
    Rope,
    Route,
    Split,
    Statement,
    Update,
    Weight,
)
from tests.semantics.marked import DIMS, model, resolved, sound

LLAMA = 'import "std/llama.mesh"\n'


def program(body: str, layers: str = "", dims: str = DIMS) -> Program:
    """The program of a model that may leave dims of DIMS unused."""
    made, found = resolved(model(body, layers, dims))
    assert [d for d in found if d.code != "W0311"] == []
    assert made is not None
    return made


def statements(body: tuple[Statement, ...]) -> list[Statement]:
    """All statements, also those in repeats and modules called, in the order in which they run."""
    found: list[Statement] = []
    for statement in body:
        found.append(statement)
        match statement:
            case Repeat(body=inner) | Invoke(module=Module(body=inner)):
                found += statements(inner)
            case _:
                pass
    return found


def ops(made: Program, kind: type) -> list:
    return [statement for statement in statements(made.model.body) if isinstance(statement, kind)]


def weights(module: Module) -> dict[str, Weight]:
    found = {".".join(weight.path): weight for weight in module.weights}
    for statement in statements(module.body):
        if isinstance(statement, Invoke):
            found |= {".".join(weight.path): weight for weight in statement.module.weights}
    return found


def shape(value) -> str:
    return " ".join(dim.name for dim in value.dims)


# ---------------------------------------------------------------- the whole


def test_llama():
    made = sound(LLAMA + model("repeat layers { x = LlamaBlock(x) as block }"))
    shapes = {path: shape(weight) for path, weight in weights(made.model).items()}
    assert shapes == {
        "M.table": "vocab embed",
        "M.head": "embed vocab",
        "M.block.attention_norm.scale": "layers embed",
        "M.block.attention.wq": "layers embed heads head_dim",
        "M.block.attention.wk": "layers embed kv_heads head_dim",
        "M.block.attention.wv": "layers embed kv_heads head_dim",
        "M.block.attention.wo": "layers heads head_dim embed",
        "M.block.mlp_norm.scale": "layers embed",
        "M.block.mlp.gate": "layers embed mlp",
        "M.block.mlp.up": "layers embed mlp",
        "M.block.mlp.down": "layers mlp embed",
    }
    (attend,) = ops(made, Attend)
    assert (attend.seq.name, attend.heads.name, attend.kv_heads.name) == ("seq", "heads", "kv_heads")
    assert (attend.causal, attend.window) == (True, None)


def test_mixture_of_experts():
    made = sound(
        'import "std/moe.mesh"\n'
        + model("repeat layers { x = MoeBlock(x) as block }", dims=DIMS + "dims { experts = 8 }\n")
    )
    (route,) = ops(made, Route)
    assert shape(route.result) == "batch seq experts embed"
    assert route.experts.name == "experts"
    gate, up, down = ops(made, Contract)[-4:-1]
    assert [shape(op.result) for op in (gate, up, down)] == ["batch seq experts mlp"] * 2 + ["batch seq experts embed"]
    assert [dim.name for dim in down.over] == ["mlp"]  # experts is batched: a bank
    (combine,) = ops(made, Combine)
    assert shape(combine.result) == "batch seq embed"


def test_options_of_a_route():
    made = program(
        """
  param router: embed -> experts
  state bias: [experts]
  scores = sigmoid(x @ router)
  routed = route(x, by = scores, bias = bias, scale = 2.5, groups = 4, top_groups = 2)
  bias := bias + 0.001 * sign(1 / experts - load(routed))
  loss mean(square(logsumexp(scores, over = experts)))
  x = combine(routed, routed)""",
        dims=DIMS + "dims { experts = 8 }\n",
    )
    (route,) = ops(made, Route)
    assert (route.normalise, route.scale, route.groups, route.top_groups, route.capacity) == (True, 2.5, 4, 2, None)
    (load,) = ops(made, Load)
    assert shape(load.result) == "experts"


def test_one_choice_of_expert_is_weighed_by_its_score():
    made = program(
        """
  param router: embed -> experts
  routed = route(x, by = softmax(x @ router, over = experts), top_k = 1)
  x = combine(routed, routed)""",
        dims=DIMS + "dims { experts = 8 }\n",
    )
    assert [route.normalise for route in ops(made, Route)] == [False]


# ---------------------------------------------------------------- names


def test_instances_are_named_by_alias_layer_and_count():
    norm = "layer Norm(x) {\n param scale: [embed] = ones\n return x * scale }\n"
    made = program("x = Norm(x)\n  x = Norm(x)\n  x = Norm(x) as last\n  x = Norm(x)", norm)
    paths = [path for path in weights(made.model) if path.endswith("scale")]
    assert paths == ["M.Norm.scale", "M.Norm_2.scale", "M.last.scale", "M.Norm_3.scale"]


def test_values_are_named_by_the_spec_or_by_their_part():
    made = sound(LLAMA + model("repeat layers { x = LlamaBlock(x) as block }"))
    products = [(op.result.name, op.result.named) for op in ops(made, Contract)]
    assert products == [
        ("q", False), ("k", False), ("v", True), ("o", False),
        ("gate", False), ("up", False), ("down", False), ("head", False),
    ]  # fmt: skip
    assert [(op.result.name, op.result.named) for op in ops(made, Rope)] == [("q", True), ("k", True)]


def test_modules_of_an_import_with_a_name():
    made = sound('import "std/llama.mesh" as m\n' + model("repeat layers { x = m.LlamaBlock(x) as block }"))
    assert "M.block.attention.wq" in weights(made.model)


# ---------------------------------------------------------------- weights


@pytest.mark.parametrize(
    ("declared", "init"),
    [
        ("embed -> mlp", Init("fan_in", fan_in=64)),
        ("embed, mlp -> heads, head_dim", Init("fan_in", fan_in=64 * 128)),
        ("[heads] embed -> mlp", Init("fan_in", fan_in=64)),  # a bank is no input
        ("[embed]", Init("normal", 0.02)),
        ("[embed] = ones", Init("constant", 1.0)),
        ("[embed] = zeros", Init("constant", 0.0)),
        ("embed -> mlp = normal(0.1)", Init("normal", 0.1)),
        ("[embed] = -0.5", Init("constant", -0.5)),
        ("[embed] = normal(1 / embed ** 0.5)", Init("normal", 0.125)),
    ],
)
def test_initial_values(declared: str, init: Init):
    made, _ = resolved(model(f"param w: {declared}\n  x = x * mean(w)"))
    assert made is not None
    assert weights(made.model)["M.w"].init == init


def test_a_padded_fan_in_counts_real_inputs():
    made, _ = resolved(model("param w: p -> embed\n  x = x + mean(w)", dims=DIMS + "dims { p = pad(100, 64) }\n"))
    assert made is not None
    assert weights(made.model)["M.w"].init == Init("fan_in", fan_in=100)


def test_a_layers_constants_reach_initial_values():
    layer = "layer A(x, scale = 0.02) {\n param w: [embed] = normal(scale)\n return x * w }\n"
    made = program("x = A(x, scale = 0.5)", layer)
    assert weights(made.model)["M.A.w"].init == Init("normal", 0.5)


# ---------------------------------------------------------------- products


def test_a_tied_head_contracts_the_tables_columns():
    made = sound("dims { batch = 4, embed = 8, vocab = 16 }\nmodel M(t: [batch] of vocab) {\n param table: vocab -> embed\n"
                 " x = table[t]\n loss cross_entropy(x @ table, t) }")  # fmt: skip
    (product,) = ops(made, Contract)
    assert [dim.name for dim in product.over] == ["embed"]
    assert shape(product.result) == "batch vocab"
    (lookup,) = ops(made, Lookup)
    assert (lookup.row.name, shape(lookup.result)) == ("vocab", "batch embed")
    (loss,) = ops(made, CrossEntropy)
    assert loss.ids is made.model.inputs[0]
    assert loss.ids.kind is Kind.INT


def test_a_square_weight_yields_the_plain_dim():
    made = program("param w: embed -> embed'\n  x = x @ w")
    (product, *_) = ops(made, Contract)
    (rename,) = ops(made, Rename)
    assert [dim.name for dim in product.over] == ["embed"]
    assert (shape(product.result), shape(rename.result)) == ("batch seq embed'", "batch seq embed")
    assert (rename.result.name, rename.result.named) == ("x", True)


def test_elementwise_broadcasts_by_name():
    made = program("param w: [embed]\n  a = w * x\n  b = mean(x, over = seq) + mean(x, over = batch)\n  x = a + b")
    products = {op.result.name: shape(op.result) for op in ops(made, Elementwise)}
    assert products["a"] == "batch seq embed"  # of the operand that has all
    assert products["b"] == "batch embed seq"  # in the order in which they appear


def test_constants_are_folded():
    made = program("x = x * (2 / sqrt(head_dim * 2) - 0.25)")
    (op,) = ops(made, Elementwise)
    assert op.operands[1] == 0.25


def test_parts():
    dims = DIMS + "dims { half = 32 }\n"
    made = program("a, b = split(x, along = embed, into = [half, half])\n  x = concat(b, a, along = embed)", dims=dims)
    assert [(op.part.name, op.start, op.result.name) for op in ops(made, Split)] == [
        ("half", 0, "a"),
        ("half", 32, "b"),
    ]
    (join,) = ops(made, Concat)
    assert [operand.name for operand in join.operands] == ["b", "a"]
    assert shape(join.result) == "batch seq embed"


def test_reductions_default_to_all_dims():
    made = program("x = x * mean(x) + sum(x, over = [batch, seq]) + max(x, over = embed)")
    assert [(op.function, shape(op.result)) for op in ops(made, Reduce)] == [
        ("mean", ""), ("sum", "embed"), ("max", "batch seq"),
    ]  # fmt: skip


def test_dropout_masks_have_paths_and_rate_zero_is_nothing():
    block = "repeat layers { x = LlamaBlock(x, rate = 0.1) as block }"
    made = sound(LLAMA + model(block))
    assert [".".join(op.path) for op in ops(made, Dropout)] == ["M.block.dropout", "M.block.dropout_2"]
    assert ops(sound(LLAMA + model(block.replace("0.1", "0.0"))), Dropout) == []


def test_primitives():
    made = program(
        "x = f(x, tokens)",
        'primitive f(x: [batch, seq, embed], t: [batch, seq] of vocab) -> [batch, embed, seq] = "my.code:f" { whole seq }\n',
    )
    (op,) = ops(made, Custom)
    assert (op.name, op.target, [dim.name for dim in op.whole]) == ("f", "my.code:f", ["seq"])
    assert shape(op.result) == "batch embed seq"


# ---------------------------------------------------------------- repeats


def test_a_repeat_carries_what_it_assigns_and_hides_what_it_makes():
    made = program("y = x\n  repeat layers { h = x * 2; x = h }\n  x = x + y")
    (repeat,) = ops(made, Repeat)
    (carry,) = repeat.carries
    assert repeat.count.name == "layers"
    assert (carry.start.name, carry.end.name, carry.after.name) == ("x", "h", "x")
    _, found = resolved(model("repeat layers { h = x * 2; x = h }\n  x = x + h"))
    assert "E0202" in [d.code for d in found]


def test_repeats_nest_and_follow_each_other():
    made = program(
        "repeat 2 {\n repeat layers { x = A(x) as inner }\n x = A(x) as outer }\n  repeat 2 { x = A(x) as last }",
        "layer A(x) {\n param w: [embed] = ones\n return x * w }\n",
    )
    stacks = {path: [dim.name for dim in weight.stack] for path, weight in weights(made.model).items()}
    assert stacks["M.inner.w"] == ["repeat_2", "layers"]
    assert stacks["M.outer.w"] == ["repeat_2"]
    assert stacks["M.last.w"] == ["repeat_2"]


def test_repeats_of_one_number_inside_each_other_have_dims_of_their_own():
    made = program("repeat 2 { repeat 2 { x = A(x) } }", "layer A(x) {\n param w: [embed] = ones\n return x * w }\n")
    assert [dim.name for dim in weights(made.model)["M.A.w"].dims] == ["repeat_2", "repeat_2_in_1", "embed"]


def test_a_carry_that_is_only_replaced():
    made = program("repeat layers {\n param w: [embed]\n x = x * w\n }")
    assert shape(weights(made.model)["M.w"]) == "layers embed"


# ---------------------------------------------------------------- layers


def test_dim_parameters():
    layer = "layer Mlp(x, hidden = mlp) {\n param up: embed -> hidden\n param down: hidden -> embed\n return (x @ up) @ down }\n"
    made = program("x = Mlp(x)\n  x = Mlp(x, hidden = heads) as small", layer)
    found = weights(made.model)
    assert shape(found["M.Mlp.up"]) == "embed mlp"
    assert shape(found["M.small.up"]) == "embed heads"


def test_layers_may_return_several():
    made = program("a, b = Two(x)\n  x = a + b", "layer Two(x) { return x * 2, x * 3 }\n")
    (invoke,) = ops(made, Invoke)
    assert [value.name for value in invoke.outputs] == ["a", "b"]
    assert len(invoke.module.outputs) == 2


def test_ids_keep_what_they_count_inside_layers():
    made = program(
        "x = x + Look(tokens)", "layer Look(t: [batch, seq] of vocab) {\n param e: vocab -> embed\n return e[t] }\n"
    )
    assert [op.row.name for op in ops(made, Lookup)] == ["vocab", "vocab"]


def test_losses_metrics_and_states():
    made = program(
        "x = A(x)",
        "layer A(x) {\n state mean_x: [embed] = zeros\n metric size = mean(square(x))\n"
        " mean_x := mean_x * 0.9 + mean(x, over = [batch, seq]) * 0.1\n loss 0.01 * mean(x)\n return x - mean_x }\n",
    )
    (metric,), (update,), (loss,) = ops(made, Metric), ops(made, Update), ops(made, NextToken)
    assert metric.path == ("M", "A", "size")
    assert (update.weight.path, update.weight.trained) == (("M", "A", "mean_x"), False)
    assert loss.seq.name == "seq"


def test_the_user_may_define_a_std_layer_anew():
    own = "layer SwiGLU(x) { return x * 2 }\n"
    made = sound(LLAMA + model("repeat layers { x = LlamaBlock(SwiGLU(x)) as block }", own))
    found = weights(made.model)
    assert "M.block.mlp.gate" in found  # std layers keep calling their own
    assert not any(path.startswith("M.SwiGLU") for path in found)
