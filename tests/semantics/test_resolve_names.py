"""Unknown and doubled names, calls that do not fit: each message at its place, with the nearest known name."""

from __future__ import annotations

import pytest

from meshc.diagnostics.codes import TITLES
from tests.semantics.marked import DIMS, model, only, resolved, sound

NORM = "layer Norm(x, eps = 1e-5) { return x * rsqrt(mean(square(x), over = embed) + eps) }\n"

CASES = {
    "E0202": (model("x = x + «y»"), "`y` is not a tensor, constant or dim"),
    "E0203": (model("x = mean(x, over = «embd»)"), "`embd` is not a declared dim"),
    "E0205": (model("x = «sillu»(x)"), "`sillu` is not a layer or function"),
    "E0209": (model("x = Norm(x, «epsilon» = 1e-6)", NORM), "`Norm` has no argument `epsilon`"),
    "E0210 layer": (model("x = Norm(x)", NORM + NORM.replace("Norm", "«Norm»")), "`Norm` is defined twice"),
    "E0210 function": (model("x = x", "layer «rope»(x) { return x }\n"), "`rope` is a function of the language"),
    "E0210 dim": (model("x = x", dims=DIMS + "dims { «seq» = 32 }\n"), "`seq` is defined twice"),
    "E0210 weight": (model("param «table»: [embed]"), "`table` is defined twice"),
    "E0214": (model("x = x") + model("x = x", dims="").replace("M(", "«N»("), "this spec has two models, `M` and `N`"),
    "E0222 many": (model("x = Norm(x, 1e-5, «2, 3»)", NORM), "`Norm` takes 2 arguments, 4 are given"),
    "E0222 few": (model("x = «rope()»"), "`rope` is called without `x`"),
    "E0222 twice": (model("x = Norm(x, 1e-5, «eps» = 1)", NORM), "`Norm` is given `eps` twice"),
    "E0223 tensor": (model("x = x + mean(«embed»)"), "expected a tensor, got the dim `embed`"),
    "E0223 ids": (model("x = table[«x»]"), "expected ids, got the tensor `x`"),
    "E0223 float": (model("x = x + «tokens»"), "expected a tensor, got the ids `tokens`"),
    "E0223 number": (model("x = rope(x, theta = «x»)"), "expected a number, got the tensor `x`"),
    "E0223 text": (model('x = x * «"two"»'), 'expected a tensor, got "two"'),
    "E0223 compared": (model("x = «x < 1»"), "expected numbers, got a tensor"),
    "E0223 option": (model("x = Norm(x, eps = «true»)", NORM), "expected a number, got true"),
    "E0223 dim": (model("x = mean(x, over = «tokens»)"), "expected a dim, got the ids `tokens`"),
    "E0223 rate": (model("x = dropout(x, «1.5»)"), "expected a rate from 0 to below 1, got the number 1.5"),
    "E0231": (
        model("x = A(x)", "layer A(x) { return B(x) }\nlayer B(x) { return «A(x)» }\n"),
        "`A` uses itself",
    ),
    "E0233": (model("x = A(x)", "layer A(x) {\n  return x\n  «x = x * 2»\n}\n"), "this never runs"),
    "E0233 repeat": (model("repeat layers { «return x» }"), "a repeat cannot return"),
    "E0234": (model("a, b = «Norm(x)»", NORM), "`Norm` yields one tensor where 2 are expected"),
    "E0234 nothing": (model("x = «A(x)»", "layer A(x) { loss mean(x) }\n"), "`A` yields nothing where one is expected"),
    "E0239": (
        model("x = f(x)", 'primitive f(x: [batch, seq, embed]) -> [batch, seq, embed] = «"os.system"»\n'),
        '"os.system" does not name a function',
    ),
    "E0210 metric": (
        model("metric size = mean(x)\n  repeat layers { x = x * 2; metric «size» = mean(x) }"),
        "`size` is defined twice",
    ),
    "E0210 in another repeat": (
        model("repeat layers { param v: [embed]; x = x * v }\n  repeat layers { param «v»: [embed]; x = x * v }"),
        "`v` is defined twice",
    ),
    "E0243": ("dims { batch = 4 }\nmodel M(«tokens») { loss mean(tokens) }", "the input `tokens` has no dims"),
    "W0310": (model("param «w»: [embed]"), "`w` is never used"),
    "W0311": (model("x = x", dims=DIMS + "dims { «experts» = 8 }\n"), "no tensor has the dim `experts`"),
    "W0313": (
        model("x = x", NORM.replace("Norm", "«Norm»")),
        "the layer `Norm` is never used, so its body is not checked",
    ),
    "W0313 strategy": (
        model("x = x", "strategy «mine»(a) { batch -> a }\n"),
        "the strategy `mine` is never used, so its body is not checked",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_message_and_place(case: str):
    marked, message = CASES[case]
    found = only(marked)
    assert (found.code, found.message) == (case.split()[0], message)
    assert found.code in TITLES


def test_suggestion_comes_with_an_edit():
    found = only(model("x = mean(x, over = «embd»)"))
    assert found.helps == ("did you mean `embed`?",)
    assert [edit.text for edit in found.edits] == ["embed"]


def test_one_cause_is_reported_once():
    found = only(model("y = «unknown»(x)\n  z = y * 2\n  x = z + y"))
    assert found.code == "E0205"


def test_all_causes_are_reported():
    _, found = resolved(model("a = sillu(x)\n  b = rop(x)\n  x = x + y"))
    assert [d.code for d in found] == ["E0205", "E0205", "E0202"]


def test_what_follows_a_broken_repeat_is_checked():
    _, found = resolved(model("repeat layers { x = sillu(x) }\n  x = mean(x, over = mlp)"))
    assert [d.code for d in found] == ["E0205", "E0230"]


def test_a_layer_called_twice_reports_once_and_says_where_it_is_called():
    found = only(model("x = A(x)\n  x = A(x)", "layer A(x) { return x + «y» }\n"))
    assert [label.text for label in found.labels] == ["no such tensor, constant or dim", "as called here"]
    assert found.labels[1].span.text == "A(x)"


def test_no_model():
    assert only("dims { }").code == "E0213"


def test_no_loss():
    found = only("dims { batch = 4 }\nmodel «M»(x: [batch]) { y = x * 2 }")
    assert (found.code, found.message) == ("E0238", "model `M` has no loss")


def test_unused_input():
    found = only(model("x = x").replace("M(tokens", "M(«labels»: [batch, seq] of vocab, tokens"))
    assert found.code == "W0312"


def test_what_a_repeat_begins_from_is_used_where_its_first_turn_reads_it():
    rows = "dims {{ batch = 4, width = 8 }}\nmodel M({}: [batch, width]) {{\n  repeat 2 {{ {} }}\n  loss mean(x)\n}}"
    sound(rows.format("x", "param w: width -> width'; x = x @ w"))
    assert only(rows.format("«x»", "param w: [batch, width]; x = w * 2")).code == "W0312"


def test_a_broken_item_is_not_the_cause_of_unknown_names():
    _, found = resolved(model("x = A(x)", "layer A(x { return x }\n"))
    assert all(d.code.startswith("E01") for d in found)
    assert found


def test_dim_used_only_in_a_size_is_used():
    program = sound("dims { width = 8, embed = width * 2 }\nmodel M(x: [embed]) { loss mean(x) }")
    assert program.dims["embed"].size == 16
