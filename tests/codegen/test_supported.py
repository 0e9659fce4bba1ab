"""What no program is generated for says what to write in its place, and that is built."""

from __future__ import annotations

from pathlib import Path

import pytest

from meshc.driver import compile_program
from meshc.job.target import Request

SPEC = """import "std/llama.mesh"
mesh {{ pp = 2 }}
dims {{
  batch = 8, seq = 8, embed = 16, heads = 4, kv_heads = 2, head_dim = 4, mlp = 32, vocab = 64, dense = 2, layers = 2
}}
model Llama(tokens: [batch, seq] of vocab) {{
  param table: vocab -> embed
  x = table[tokens]
{body}
}}
partition {{
  pipeline(pp, microbatches = 4)
  vocab -> .., pp
}}
"""
LAYERS = "  repeat layers { x = LlamaBlock(x) as block }\n"
LOSS = "  loss next_token((x + y) @ table, tokens)\n"
LATER = "  repeat dense { x = LlamaBlock(x) as first }\n  y = x\n" + LAYERS + LOSS
BOTH = LATER.replace("as block }", "as block; y = y + x }")
KEPT = (
    "  repeat dense { x = LlamaBlock(x) as first }\n  y = x\n",
    "  kept = x\n  repeat dense { x = LlamaBlock(x) as first; kept = x }\n",
)
KEEP = "keep it: kept = x before the repeat that makes it and in there at the end, and read kept later"
OUTPUT = "  y = 2 * x\n" + LAYERS + "  loss next_token(x @ table, tokens)\n  return y\n"


def built(directory: Path, text: str, *sets: str):
    (directory / "spec.mesh").write_text(text, encoding="utf-8")
    compiled, problems = compile_program(Request(str(directory / "spec.mesh"), sets=sets))
    return compiled, [d for d in problems if d.severity == "error"]


@pytest.mark.parametrize(
    ("body", "what", "cure", "edits"),
    [
        (LATER, "a tensor between two repeats in stages that is read later", KEEP, (KEPT, ("x + y", "x + kept"))),
        (
            BOTH,
            "a tensor that two stages' repeats begin from",
            KEEP,
            (KEPT, ("y = y + x", "kept = kept + x"), ("x + y", "x + kept")),
        ),
        (OUTPUT, "outputs from before a pipeline's stages", "compute it behind them: 1 * y", (("return y", "return 1 * y"),)),
    ],
    ids=["read later", "begun from twice", "an output"],
)  # fmt: skip
def test_what_a_pipeline_cannot_hand_on(body, what, cure, edits, tmp_path: Path):
    compiled, [problem] = built(tmp_path, SPEC.format(body=body))
    assert compiled is None
    assert (problem.code, problem.message) == ("E0299", f"no program is generated for {what} yet")
    assert problem.helps == (cure,)
    for old, new in edits:
        assert old in body, old
        body = body.replace(old, new)
    compiled, problems = built(tmp_path, SPEC.format(body=body))
    assert compiled is not None, problems


PADDED = """dims { batch = 8, seq = 8, embed = pad(15, 4), vocab = 64 }
model Tiny(tokens: [batch, seq] of vocab) {
  param table: vocab -> embed
  state last: [batch, embed] = zeros
  x = table[tokens]
  last := mean(x, over = seq)
  loss 0.1 * mean(x - last)
  loss next_token(x @ table, tokens)
}
"""


def test_a_sum_over_padding(tmp_path: Path):
    compiled, [problem] = built(tmp_path, PADDED)
    assert compiled is None
    assert problem.helps == ("make embed 16, of which all counts, or 15 on axes that divide it",)
    assert built(tmp_path, PADDED, "embed=16")[0] and built(tmp_path, PADDED, "embed=15")[0]


def test_a_state_of_each_row(tmp_path: Path):
    compiled, [problem] = built(tmp_path, PADDED, "embed=16", "train.microsteps=2")
    assert compiled is None
    assert problem.helps == ("give it no dim `batch`, or take the batch in one microstep",)
    assert built(tmp_path, PADDED, "embed=16", "train.microsteps=1")[0]
