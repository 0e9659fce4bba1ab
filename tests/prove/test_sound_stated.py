"""What a program leaves out of what its spec states, where no number shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from meshc.driver import compile_program
from meshc.job.target import Request
from meshc.prove.sound.stated import dropped

SPEC = """\
import "std/llama.mesh"
mesh {{ a = 2, b = 2 }}
dims {{ batch = 8, seq = 16, embed = 16, heads = 8, kv_heads = 4, head_dim = 2, mlp = 32, vocab = 32, layers = 2 }}
model Llama(tokens: [batch, seq] of vocab) {{
  param table: vocab -> embed
  x = table[tokens]
  repeat layers {{ x = LlamaBlock(x) as block }}
  loss next_token(RMSNorm(x) as norm @ table, tokens)
}}
partition {{ {rules} }}
"""


def left_out(tmp_path: Path, rules: str, error: tuple[str, str] | None = None) -> str:
    """What the program of such rules, made without the check, leaves out; for its own errors, or for another one."""
    path = tmp_path / "spec.mesh"
    path.write_text(SPEC.format(rules=rules), encoding="utf-8")
    compiled, diagnostics = compile_program(Request(str(path)), unchecked=True)
    assert compiled is not None
    return dropped(compiled.placed, [error] if error else [(d.code, d.message) for d in diagnostics])


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("data(a); mlp -> b, b", "`b` stands twice in one rule"),
        ("data(a); mlp, embed -> b", "`b` splits both `embed` and `mlp`"),
        ("data(a); heads -> none; kv_heads -> b", "`heads` and `kv_heads` lie on different axes"),
        ("data(a); seq -> .., b", "attention needs whole keys"),
        ("data(a); stage embed over b", "`embed` is not what the model repeats"),
        ("data(a); pipeline(b, microbatches = 2, stages = [3, 2])", "2 stages of 5 layers are named"),
        ('data(a); pipeline(b, microbatches = 2, schedule = "interleaved", rounds = 2)', "cannot be cut into"),
    ],
)
def test_a_claim_that_the_program_does_not_hold_is_found(tmp_path: Path, rules: str, said: str):
    assert said in left_out(tmp_path, rules)


@pytest.mark.parametrize(
    ("rules", "error"),
    [
        ("data(a); tensor(b)", ("E0252", "`heads` and `kv_heads` lie on different axes inside `attend`")),
        ("data(a); ring(b)", ("E0253", "attention needs whole keys, but `seq` is split over `b` (2)")),
        ("data(a); pipeline(b, microbatches = 2)", ("E0255", "`layers` is not what the model repeats")),
        ("data(a); pipeline(b, microbatches = 2)", ("E0301", "2 layers cannot be cut into b = 2 stages")),
    ],
)
def test_an_error_about_what_the_program_does_hold_is_not_believed(tmp_path: Path, rules: str, error: tuple[str, str]):
    assert left_out(tmp_path, rules, error) == ""
