"""Tensors that do not fit: what each primitive asks of dims, told with the dims that were given."""

from __future__ import annotations

import pytest

from meshc.diagnostics.cures import untried
from tests.semantics.marked import DIMS, model, only

QKV = (
    "param wq: embed -> heads, head_dim\n  param wk: embed -> kv_heads, head_dim\n"
    "  q = x @ wq\n  k = x @ wk\n  param wo: heads, head_dim -> embed"
)
NORM = "layer Norm(x: [batch, seq, embed]) { return x }\n"
EXPERTS = DIMS + "dims { experts = 8 }\n"
ROUTER = "param router: embed -> experts\n  s = softmax(x @ router, over = experts)"
HALVES = DIMS + "dims { half = 32, third = 16 }\n"

CASES = {
    "E0224": (
        model("m = mean(x, over = seq)\n  x = x + Norm(«m»)", NORM),
        "`x` is [batch, seq, embed], [batch, embed] is given",
    ),
    "E0223 ids for tensor": (model("x = Norm(«tokens»)", NORM), "expected a tensor, got the ids `tokens`"),
    "E0223 number for tensor": (model("x = Norm(«3»)", NORM), "expected a tensor, got the number 3"),
    "E0225": (model("param w: mlp -> heads\n  x = «x @ w»"), "`x` and `w` have no dim to contract"),
    "E0226": (model("param «w»: embed -> embed\n  x = x @ w"), "a tensor cannot have the dim `embed` twice"),
    "E0226 stack": (model("repeat layers { param «w»: [layers]; x = x * mean(w) }"), None),
    "E0227 of": (
        model("param t: [mlp, embed]\n  x = x + «t[tokens]»"),
        "`tokens` counts `vocab`, and `t` has no such dim",
    ),
    "E0228 dims": (
        model("m = mean(x, over = [seq, embed])\n  x = x + «attend(m, m, m)»"),
        "attention needs a sequence, heads and a head dim",
    ),
    "E0228 key": (
        model(f"{QKV}\n  param wv: embed -> heads, head_dim\n  x = «attend(q, k, x @ wv)» @ wo"),
        "keys and values differ in `kv_heads`",
    ),
    "E0228 query": (
        model(f"{QKV}\n  x = «attend(q, mean(k, over = seq) + mean(k, over = batch), k)» @ wo"),
        None,
    ),
    "E0228 end": (
        model(
            "param wq: embed -> heads, head_dim\n  param wk: embed -> kv_heads, mlp\n  x = «attend(x @ wq, x @ wk, x @ wk)»"
        ),
        "queries end in `head_dim`, keys in `mlp`",
    ),
    "E0228 sinks": (
        model(
            f"{QKV}\n  param wv: embed -> kv_heads, head_dim\n  param s: [kv_heads]\n"
            "  x = attend(q, k, x @ wv, sinks = «s») @ wo"
        ),
        "`s` is [kv_heads], must be [heads]",
    ),
    "E0223 cap": (
        model(f"{QKV}\n  param wv: embed -> kv_heads, head_dim\n  x = attend(q, k, x @ wv, cap = «0») @ wo"),
        "expected a positive number, got the number 0",
    ),
    "E0223 scaling": (
        model('x = rope(x, scaling = «"ntk"», factor = 2.0)'),
        'expected "linear" or "llama3" or "yarn", got "ntk"',
    ),
    "E0222 factor": (model('x = rope(x, scaling = «"linear"»)'), "`rope` is called without `factor`"),
    "E0222 original": (model('x = rope(x, scaling = «"yarn"», factor = 2.0)'), "`rope` is called without `original`"),
    "E0223 turns": (
        model('x = rope(x, scaling = "llama3", factor = 2.0, original = 64, low = 4, high = «4»)'),
        "expected a number above `low` (4), got the number 4",
    ),
    "E0223 theta": (model("x = rope(x, theta = «1»)"), "expected a number above 1, got the number 1"),
    "E0229 join": (
        model("param w: embed -> half\n  x = «concat(x @ w, x @ w, along = mlp)» @ table", dims=HALVES),
        "cannot put [batch, seq, half], [batch, seq, half] side by side",
    ),
    "E0229 split": (
        model("a, b = «split(x, along = embed, into = [half, third])»\n  x = x", dims=HALVES),
        "`half` (32) + `third` (16) is 48, and `embed` is 64",
    ),
    "E0223 into nothing": (
        model("x = split(x, along = embed, into = «[]»)"),
        "expected dims to split into, got an empty list",
    ),
    "E0217 product": (model("x = x * («1e200 * 1e200»)"), "this number is too large"),
    "E0217 power": (model("x = x * -(«(10**64)**64»)"), "this number is too large"),
    "E0217 function": (model("x = x * «square(1e300)»"), "this number is too large"),
    "E0217 exponential": (model("x = x * «exp(1000)»"), "this number is too large"),
    "E0217 root": (model("x = x * «rsqrt(0)»"), "division by zero"),
    "E0223 imaginary": (model("x = x * («(-8) ** 0.5»)"), "expected a number, got no number"),
    "E0223 logarithm": (model("x = x * log(«-1»)"), "expected a tensor, got the number -1"),
    "E0229 padded": (
        model(
            "param w: embed -> p\n  a, b = «split(x @ w, along = p, into = [half, third])»\n  x = x",
            dims=HALVES + "dims { p = pad(47, 16) }\n",
        ),
        "a padded dim cannot be joined or split",
    ),
    "E0234": (
        model(
            "a, b, c = «split(x, along = embed, into = [half, third, third, third])»", dims=HALVES.replace("32", "16")
        ),
        "`split` yields 4 tensors where 3 are expected",
    ),
    "E0230": (model("x = x + mean(x, over = «mlp»)"), "`x` has no dim `mlp`"),
    "E0230 softmax": (model("x = softmax(x, over = «mlp»)"), "`x` has no dim `mlp`"),
    "E0230 rope": (model("m = mean(x, over = seq)\n  x = x + «rope(m)»"), "`m` has no dim `seq`"),
    "E0230 along": (model("x = rope(x, along = «mlp»)"), "`x` has no dim `mlp`"),
    "E0230 odd": (
        model("x = «rope(x)»", dims=DIMS.replace("embed = 64", "embed = 65")),
        "rope turns pairs, and `embed` is 65",
    ),
    "E0232": (
        model("repeat layers { «x» = 2 }"),
        "expected a tensor, got the number 2",
    ),
    "E0232 dims": (
        model("h = x\n  repeat layers { h = «mean(h, over = seq)» }\n  x = x + h"),
        "`h` enters a turn of the repeat as [batch, seq, embed] and leaves it as [batch, embed]",
    ),
    "E0232 number": (model("n = 2\n  repeat layers { «n» = x }"), "`n` is not a tensor before the repeat"),
    "E0235 input": (
        model("x = A(x, tokens)", "layer A(x, t: [batch, seq] of vocab) { loss next_token(x, «t»)\n return x }\n"),
        "`t` is not an input of the model",
    ),
    "E0235 vocab": (
        model("loss next_token(«x», tokens)"),
        "`tokens` counts `vocab`, and the logits are [batch, seq, embed]",
    ),
    "E0235 dims": (
        model("loss cross_entropy(«mean(x @ table, over = seq)», tokens)"),
        "the logits are [batch, vocab], and `tokens` asks for [batch, seq, vocab]",
    ),
    "E0236": (model("param s: [embed] = «uniform»(0.1)\n  x = x * s"), "`uniform(0.1)` is not an initial value"),
    "E0236 text": (model('param s: [embed] = «"ones"»\n  x = x * s'), '`"ones"` is not an initial value'),
    "E0236 negative": (
        model("param s: [embed] = normal(«-0.1»)\n  x = x * s"),
        "a standard deviation of -0.1 is not an initial value",
    ),
    "E0237": (model("«s» := mean(x, over = [batch, seq])"), "`s` is not a state of this layer"),
    "E0237 twice": (
        model("state s: [embed] = zeros\n  s := s * 2\n  «s» := s + 1"),
        "`s` is updated twice",
    ),
    "E0237 repeat": (
        model("state s: [embed] = zeros\n  repeat layers { «s» := s * 2 }"),
        "`s` is updated in a repeat that does not hold it",
    ),
    "E0224 state": (model("state s: [embed]\n  s := «s + x»"), "`s` is [embed], [batch, seq, embed] is given"),
    "E0240": (
        model(f"{QKV}\n  x = «attend(q, k, k)» @ wo", dims=DIMS.replace("kv_heads = 4", "kv_heads = 3")),
        "`heads` (8) is not a multiple of `kv_heads` (3)",
    ),
    "E0244": (model(f"{ROUTER}\n  r = route(x, by = «mean(s, over = seq)»)\n  x = x", dims=EXPERTS), None),
    "E0244 many": (
        model(f"{ROUTER}\n  r = route(x, by = s, top_k = «9»)\n  x = x", dims=EXPERTS),
        "each token is sent to 9 of 8 `experts`",
    ),
    "E0244 groups": (
        model(f"{ROUTER}\n  r = route(x, by = s, groups = «3»)\n  x = x", dims=EXPERTS),
        "8 `experts` make no 3 even groups",
    ),
    "E0244 top groups": (
        model(f"{ROUTER}\n  r = route(x, by = s, top_k = 3, groups = 4, top_groups = «1»)\n  x = x", dims=EXPERTS),
        "each token is sent to 3 `experts`, and 1 groups have 2",
    ),
    "E0244 one": (
        model(f"{ROUTER}\n  r = route(x, by = s, top_k = 1, normalise = «true»)\n  x = x", dims=EXPERTS),
        "the router would get no gradient",
    ),
    "E0244 combine": (model(f"{ROUTER}\n  x = combine(x, «s»)", dims=EXPERTS), "`s` is not what `route` yields"),
    "E0244 dims": (
        model(f"{ROUTER}\n  r = route(x, by = s)\n  x = combine(«x», r)", dims=EXPERTS),
        "`combine` asks for [batch, seq, experts, …], got [batch, seq, embed]",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_message_and_place(case: str):
    marked, message = CASES[case]
    found = only(marked)
    if message is not None:
        assert found.message == message
    assert found.code == ("E0223" if case == "E0232" else case.split()[0])


def test_a_product_that_cannot_be_shows_the_dims_of_both():
    found = only(model("param w: mlp -> heads\n  x = «x @ w»"))
    assert found.labels[0].text == "[batch, seq, embed] @ [mlp, heads]"


def test_heads_offer_the_legal_counts():
    found = only(model(f"{QKV}\n  x = attend(q, k, k) @ wo", dims=DIMS.replace("kv_heads = 4", "kv_heads = 3")))
    assert untried([found])[0].helps == ("kv_heads may be 1, 2, 4 or 8", "or heads may be 6 or 9")
