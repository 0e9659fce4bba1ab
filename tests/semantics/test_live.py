"""What a model only returns costs a step nothing."""

from __future__ import annotations

from meshc.semantics.collectives import derive
from meshc.semantics.flat import flatten
from meshc.semantics.placement import place
from meshc.semantics.resolve import resolve
from meshc.source import SourceFile
from tests.semantics.llama import placed, spec

MESH, PARTITION = "dp = 2, tp = 4", "data(dp); tensor(tp)"


def test_what_is_only_returned_is_no_part_of_a_step() -> None:
    """The probabilities ask for logits with a whole vocabulary: an all-gather over tp, were they part of it."""
    source = spec(MESH, PARTITION)
    loss = "loss next_token(logits, tokens)"
    assert loss in source.text
    returning = source.text.replace(loss, f"{loss}\n  return softmax(logits, over = vocab), logits")
    program, found = resolve(SourceFile("llama.mesh", returning))
    assert program is not None and found == []
    made, found = place(program)
    assert found == []
    assert [p.value.name for p in made.model.outputs] == ["probabilities", "logits"]
    plain = placed(MESH, PARTITION)
    assert len(made.model.body) > len(plain.model.body)
    assert len(flatten(made).statements) == len(flatten(plain).statements)
    assert [(c.op, c.axes, c.count, c.bytes_per_device) for c in derive(made)] == [
        (c.op, c.axes, c.count, c.bytes_per_device) for c in derive(plain)
    ]
