"""A padded dim computes what the unpadded one does, or is refused: NVIDIA/Megatron-LM#1754, of every dim."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from meshc.driver import compile_program
from meshc.job.target import Request

SIZES = {"embed": "6", "heads": "3", "kv_heads": "3", "head_dim": "4", "mlp": "5", "vocab": "11", "seq": "6"}
LLAMA = """import "std/llama.mesh"
dims { batch = 2, seq = %(seq)s, embed = %(embed)s, heads = %(heads)s, kv_heads = %(kv_heads)s, head_dim = %(head_dim)s, mlp = %(mlp)s, vocab = %(vocab)s }
model Tiny(tokens: [batch, seq] of vocab) {
  param table: vocab -> embed
  x = LlamaBlock(table[tokens]) as block
  loss next_token(RMSNorm(x) as norm @ table, tokens)
}
"""
GPT = LLAMA.replace("llama", "gpt").replace("LlamaBlock", "GptBlock").replace("RMSNorm", "LayerNorm")
TOKENS = np.random.default_rng(1).integers(0, 11, (2, 6))


def padded(spec: str, **sizes: str) -> str:
    return spec % {**SIZES, **{name: f"pad({SIZES[name]}, {multiple})" for name, multiple in sizes.items()}}


@pytest.mark.parametrize(
    "sizes",
    [{"embed": "4"}, {"heads": "2", "kv_heads": "2"}, {"mlp": "4"}, {"vocab": "4"}, {"seq": "4"}],
    ids=lambda s: "-".join(s),
)
def test_loss_and_gradients_are_those_without_padding(sizes, build, run):
    rng = np.random.default_rng(0)
    plain = {path: rng.standard_normal(shape) for path, shape in build(padded(LLAMA)).real_shapes.items()}
    loss, grads = run(padded(LLAMA), plain, TOKENS)
    shapes = {p: w.shape for p, w in build(padded(LLAMA, **sizes)).init.eval_shape(0).weights.items()}
    assert "seq" in sizes or any(shapes[path] != plain[path].shape for path in plain)
    filled = {p: np.pad(w, [(0, a - b) for a, b in zip(shapes[p], w.shape, strict=True)]) for p, w in plain.items()}
    loss_padded, grads_padded = run(padded(LLAMA, **sizes), filled, TOKENS)
    assert loss_padded == pytest.approx(loss, rel=1e-6)
    for path, grad in grads.items():
        real = tuple(slice(n) for n in grad.shape)
        np.testing.assert_allclose(grads_padded[path][real], grad, rtol=1e-4, atol=1e-6, err_msg=path)
        assert np.sum(np.abs(grads_padded[path])) == pytest.approx(
            np.sum(np.abs(grads_padded[path][real]))
        )  # padding: 0


@pytest.mark.parametrize(
    ("spec", "sizes", "what", "text"),
    [
        (GPT, {"embed": "4"}, "sums over the padding of `embed`", "mean(x, over = embed)"),
        (GPT, {"head_dim": "3"}, "sums over the padding of `head_dim`", "attend("),
        (
            LLAMA.replace("loss next", "metric size = mean(x)\n  loss next"),
            {"seq": "4"},
            "sums over the padding of `seq`",
            "mean(x)",
        ),
        (
            LLAMA.replace("loss next", "param w: mlp -> embed\n  param v: embed -> mlp\n  x = sigmoid(x @ v) @ w\n  loss next"),
            {"mlp": "4"},
            "sums over the padding of `mlp`",
            "sigmoid(x @ v) @ w",
        ),
        (
            LLAMA.replace(
                "loss next",
                "state seen: [embed] = zeros\n  seen := mean(x, over = [batch, seq]) + 1\n"
                "  loss mean(square(x + seen))\n  loss next",
            ),
            {"embed": "4"},
            "sums over the padding of `embed`",
            "mean(square(x + seen))",
        ),
    ],
)  # fmt: skip
def test_what_would_be_another_number_is_refused(spec, sizes, what, text, tmp_path: Path):
    (tmp_path / "spec.mesh").write_text(padded(spec, **sizes))
    compiled, problems = compile_program(Request(str(tmp_path / "spec.mesh")))
    first = next(d for d in problems if d.severity == "error")
    assert compiled is None
    assert (first.code, first.message) == ("E0299", f"no program is generated for {what} yet")
    assert first.span is not None and first.span.text.startswith(text)
