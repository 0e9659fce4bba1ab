"""Bytes that a compiler may save: counted by hand for small programs."""

from __future__ import annotations

import pytest

from meshc.prove.equivalences import saved
from meshc.semantics.collectives import Settings
from meshc.semantics.placement import place
from meshc.semantics.resolve import resolve
from meshc.source import SourceFile

BATCH, SEQ, EMBED, MLP, HEADS, FLOAT = 4, 8, 16, 32, 2, 4


def found(partition: str, body: str, layers: int = 2, microsteps: int = 1, items: str = "") -> dict:
    text = f"""{items}
mesh {{ dp = 2, tp = 2 }}
dims {{ batch = {BATCH}, seq = {SEQ}, embed = {EMBED}, mlp = {MLP}, heads = {HEADS}, layers = {layers} }}
model M(x: [batch, seq, embed]) {{
{body}
  loss mean(square(x))
}}
partition {{ {partition} }}
"""
    program, problems = resolve(SourceFile("small.mesh", text))
    assert program is not None, problems
    return saved(place(program, microsteps)[0], Settings(remat="full"))


MLP_LAYER = """
layer Mlp(x: [batch, seq, embed]) {
  param up: embed -> mlp
  param down: mlp -> embed
  return tanh(x @ up) @ down
}
"""
SIDE_BY_SIDE = "  repeat layers { a = Mlp(x) as one; b = Mlp(x) as two; x = x + a + b }"
WEIGHT = EMBED * MLP * FLOAT // 2  # what each of two devices sends of a gathered `up` or `down`


def test_a_weight_outside_the_layers_is_gathered_once_a_step():
    body = "  param up: embed -> mlp\n  param down: mlp -> embed\n  x = tanh(x @ up) @ down"
    assert sum(found("fsdp(dp); fsdp(tp)", body).values()) == 0
    once = found("fsdp(dp); data(tp)", body, microsteps=4)
    assert once == {("dp",): 2 * WEIGHT * 3}  # two weights, three of four microsteps


def test_a_repeat_of_one_turn_is_merged_with_its_backward_pass():
    body = "  repeat layers { x = Mlp(x) as mlp }"
    several, single = (found("fsdp(dp); data(tp)", body, layers, items=MLP_LAYER) for layers in (2, 1))
    assert not any(several.values())
    assert single == {("dp",): 2 * WEIGHT}


ATTENTION = """
layer Attention(x: [batch, seq, embed]) {
  param q, k, v: embed -> heads, mlp
  param o: heads, mlp -> embed
  return attend(x @ q, x @ k, x @ v) @ o
}
"""


@pytest.mark.parametrize(
    ("layers", "stages", "travels"),
    [
        (2, "", 2),  # in the pass that makes residuals anew of each layer, beside attention's own backward pass
        (1, "", 2),  # in the pass that makes residuals anew and in attention's own backward pass
        (2, "pipeline(dp, microbatches = 2)", 3),  # in the latter, in each of 2 + 2 - 1 ticks: all stages compute
    ],
)
def test_keys_that_travel_again_in_one_turn_do_not(layers: int, stages: str, travels: int):
    """Each device has 2 of 4 rows, or of 2 microbatches of 2, and half of the sequence; keys and values are alike."""
    body = "  repeat layers { x = x + Attention(x) as a }"
    keys = BATCH // 2 * SEQ // 2 * 2 * HEADS * MLP * FLOAT
    merged = found(f"{stages or 'data(dp)'}; ring(tp)", body, layers, items=ATTENTION)
    assert sum(merged.values()) == merged.get(("tp",), 0) == travels * keys


def test_layers_that_stand_side_by_side_move_what_both_read_once():
    """Sequence parallel: x is gathered for both, and what both return is scattered and added."""
    activation = BATCH // 2 * SEQ * EMBED * FLOAT // 2  # what each of two devices sends of a gathered one
    beside = found("data(dp); tensor(tp, sequence = true)", SIDE_BY_SIDE, items=MLP_LAYER)
    again = 2  # the gather of x, forward and, for remat is full, backward
    assert beside == {("tp",): 2 * (again + 1) * activation}  # two turns; and the way back of the second scatter
    apart = SIDE_BY_SIDE.replace("Mlp(x) as two", "Mlp(2 * x) as two").replace("x + a + b", "x + a * b")
    assert not any(found("data(dp); tensor(tp, sequence = true)", apart, items=MLP_LAYER).values())


ROUTED = """
  param router: embed -> mlp
  state bias: [mlp]
  param up: [mlp] embed -> heads
  param down: [mlp] heads -> embed
  routed = route(x, by = sigmoid(x @ router), bias = bias)
  bias := bias + load(routed)
  loss load_balance(routed)
  x = combine(tanh(routed @ up) @ down, routed)
"""


def test_tokens_of_one_routing_are_counted_once():
    """A load and a loss of `mlp` experts: of two equal all-reduces of a count for each, over 4 devices, one is saved."""
    assert found("data(dp); data(tp)", ROUTED) == {("dp", "tp"): 2 * (4 - 1) / 4 * MLP * FLOAT}
    assert not any(found("data(dp); data(tp)", ROUTED.replace("  loss load_balance(routed)", "")).values())
