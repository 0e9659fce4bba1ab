"""What a program says of its inputs."""

from __future__ import annotations

from pathlib import Path

from meshc.driver import compile_program
from meshc.job.target import Request

SPEC = """
dims { batch = 4, seq = 16, embed = 32, vocab = pad(61, 8), classes = 3 }
layer Embed(ids: [batch, seq] of vocab) {
  param table: vocab -> embed
  return table[ids]
}
model Tiny(tokens: [batch, seq] of vocab, label: [batch] of classes) {
  param head: embed -> classes
  x = Embed(tokens)
  loss cross_entropy(mean(x, over = seq) @ head, label)
}
"""


def test_ids_end_where_the_input_says_wherever_they_are_looked_up(tmp_path: Path):
    """In a layer the input has another name; without an end, ids were drawn as floats, and files of them refused."""
    (tmp_path / "spec.mesh").write_text(SPEC)
    compiled, problems = compile_program(Request(str(tmp_path / "spec.mesh")))
    assert compiled is not None, problems
    lines = [line.strip() for line in compiled.files["train.py"].splitlines() if "runtime.Input(" in line]
    assert [line.partition("high=")[2].partition(")")[0] for line in lines] == ["61", "3"]
