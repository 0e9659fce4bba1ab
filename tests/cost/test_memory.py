"""Bytes of state on a device, against figures worked out from the shapes; and what waits for the backward pass."""

from __future__ import annotations

import pytest

from meshc.cost.memory import Memory, memory
from meshc.job.model import Optimizer
from meshc.semantics.collectives import Settings
from meshc.semantics.placed import PlacedProgram
from meshc.semantics.placement import place
from meshc.semantics.resolve import resolve
from meshc.source import SourceFile
from tests.semantics.llama import placed

GIB = 2**30

EMBEDDING = """mesh { data = 64 }
dims { batch = 64, seq = 8, vocab = 128256, embed = 6144 }
model Embedding(tokens: [batch, seq] of vocab) {
  param table: vocab -> embed
  x = table[tokens]
  loss square(x)
}
partition { %s }
"""


def program(partition: str) -> PlacedProgram:
    found, problems = resolve(SourceFile("embedding.mesh", EMBEDDING % partition))
    assert found is not None and not problems
    return place(found)[0]


def held(program: PlacedProgram, settings: Settings | None = None, **optimizer) -> Memory:
    return memory(program, settings or Settings(), Optimizer(**optimizer))


@pytest.mark.parametrize(
    ("partition", "weights", "moments"),
    [
        ("data(data)", 2.936, 5.871),  # both moments inherit the replicated layout
        ("zero1(data)", 2.936, 5.871 / 64),
        ("fsdp(data)", 2.936 / 64, 5.871 / 64),
    ],
)
def test_a_replicated_embedding_and_its_moments(partition: str, weights: float, moments: float) -> None:
    """128,256 x 6,144 float32 is 2.936 GiB, and Adam keeps twice that (a public report on 64 GPUs)."""
    found = held(program(partition))
    assert found.params / GIB == pytest.approx(weights, abs=5e-4)
    assert found.optimizer / GIB == pytest.approx(moments, abs=5e-4)


@pytest.mark.parametrize(
    ("optimizer", "numbers"),
    [("sgd", 0), ("lion", 128256 * 6144), ("lamb", 2 * 128256 * 6144), ("adafactor", 128256 + 6144)],
)
def test_each_optimizer_keeps_what_its_paper_says(optimizer: str, numbers: int) -> None:
    assert held(program("data(data)"), name=optimizer).optimizer == 4 * numbers


def test_momentum_is_one_moment_more() -> None:
    assert held(program("data(data)"), name="sgd", momentum=0.9).optimizer == 4 * 128256 * 6144


def test_gathered_weights_wait_only_where_they_are_kept() -> None:
    again = held(placed("fsdp = 4", "fsdp(fsdp)"), Settings(remat="full"))
    kept = held(placed("fsdp = 4", "fsdp(fsdp, gathered = kept)"), Settings(remat="full"))
    # A block: q, o 64 x 8 x 8; k, v 64 x 4 x 8; gate, up, down 64 x 128; two norms of 64. Four blocks; float32.
    block = 2 * 64 * 8 * 8 + 2 * 64 * 4 * 8 + 3 * 64 * 128 + 2 * 64
    outside = 2 * 256 * 64 + 64  # table, head, norm: gathered once, whatever the option
    assert kept.gathered_weights - again.gathered_weights == 4 * 4 * block
    assert again.gathered_weights <= 4 * outside


def test_full_remat_keeps_the_input_of_each_layer() -> None:
    found = held(placed("fsdp = 4", "fsdp(fsdp)"), Settings(remat="full")).activations
    more = held(placed("fsdp = 4", "fsdp(fsdp)"), Settings(remat="none")).activations
    layer_input = 16 // 4 * 64 * 64 * 4
    assert 4 * layer_input <= found < more


def test_compute_precision_halves_what_waits_and_not_the_state() -> None:
    wide = held(placed("fsdp = 4", "fsdp(fsdp)"))
    half = held(placed("fsdp = 4", "fsdp(fsdp)"), Settings(compute_bytes=2))
    assert (half.params, 2 * half.activations) == (wide.params, wide.activations)  # ids are inputs, not counted again


def test_state_is_carried_in_float32_whatever_weights_are() -> None:
    text = EMBEDDING.replace("  loss", "  state seen: [embed] = zeros\n  seen := mean(x, over = [batch, seq])\n  loss")
    found, _ = resolve(SourceFile("embedding.mesh", text % "data(data)"))
    assert found is not None
    for param_bytes, width in ((2, 4), (4, 4), (8, 8)):
        assert held(place(found)[0], Settings(param_bytes=param_bytes)).state == width * 6144


def test_microsteps_keep_one_microbatch() -> None:
    once = held(placed("fsdp = 4", "fsdp(fsdp)")).activations
    twice = held(placed("fsdp = 4", "fsdp(fsdp)", microsteps=2)).activations
    assert 2 * twice == once


def test_frozen_weights_have_no_moments() -> None:
    assert held(program("data(data)"), groups=({"match": "*.table", "frozen": True},)).optimizer == 0


@pytest.mark.parametrize(("schedule", "inputs"), [("1f1b", 3 + 1), ("gpipe", 8 + 8)])
def test_inputs_of_stages_that_wait(schedule: str, inputs: int) -> None:
    """Of two stages: 2 * 2 - 1 inputs and a cotangent, whatever the microbatches are, or all 8 of each; and of a stage's
    two layers their inputs."""
    text = """mesh { pp = 2 }
dims { batch = 16, embed = 64, layers = 4 }
model Tiny(x: [batch, embed]) {
  param gain: [embed]
  h = x * gain
  repeat layers { param bias: [embed]; h = h + bias }
  loss h
}
partition { pipeline(pp, microbatches = 8, schedule = "%s") }
"""
    found, problems = resolve(SourceFile("tiny.mesh", text % schedule))
    assert found is not None and not problems
    assert held(place(found)[0]).activations == (inputs + 2) * 2 * 64 * 4  # 2 rows a microbatch, float32


def test_gradients_of_several_microbatches_add_up_in_float32() -> None:
    for microsteps, width in ((1, 2), (2, 4)):
        found = held(placed("fsdp = 4", "fsdp(fsdp)", microsteps=microsteps), Settings(param_bytes=2))
        assert found.gradients / width == found.params / 2


def test_gradients_add_up_where_their_place_is_and_in_a_pipeline_where_weights_rest() -> None:
    """ZeRO-2 over 2 devices: half of each gradient; a pipeline has many microbatches under way, and their sums whole."""
    alone = held(placed("dp = 2", "zero2(dp)"))
    assert 2 * alone.gradients == alone.params
    once, twice = (
        held(placed("pp = 2, dp = 2", "pipeline(pp, microbatches = 2)\n  zero2(dp)", microsteps=n)) for n in (1, 2)
    )
    assert once.gradients == once.params
    assert 2 * twice.gradients == 3 * twice.params  # of a microstep, and half as much of all
