"""What a pipeline cuts, what it counts, and what goes from stage to stage."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from meshc.runtime import pipeline as runtime
from meshc.semantics.pipeline import Pipeline
from meshc.semantics.placement import place
from meshc.semantics.resolve import resolve
from meshc.semantics.schedule import Schedule
from meshc.source import SourceFile

CASES = [
    (kind, stages, microbatches, rounds)
    for kind, rounds in (("gpipe", 1), ("1f1b", 1), ("interleaved", 1), ("interleaved", 2), ("interleaved", 3))
    for stages in (1, 2, 3, 4)
    for microbatches in (1, 2, 5, 8)
]


@pytest.mark.parametrize(("kind", "stages", "microbatches", "rounds"), CASES)
def test_it_is_counted_as_it_runs(kind: str, stages: int, microbatches: int, rounds: int):
    counted = Schedule(kind, stages, microbatches, rounds)
    tables = runtime.schedule(kind, stages, microbatches, rounds)  # type: ignore[arg-type]
    assert (counted.ticks, counted.live, counted.cotangents) == (tables.ticks, tables.live, tables.cotangents)
    assert counted.hops == tables.sends.sum() == tables.returned.sum()
    assert counted.slots * stages == tables.forward.busy == tables.backward.busy
    assert counted.idle_share() == pytest.approx(tables.idle_share)


@pytest.mark.parametrize(("kind", "stages", "microbatches", "rounds"), CASES)
def test_each_slot_finds_what_the_one_before_has_sent(kind: str, stages: int, microbatches: int, rounds: int):
    """Followed tick by tick: what arrives is what the next virtual stage works on, and a place holds what it is read as."""
    s = runtime.schedule(kind, stages, microbatches, rounds)  # type: ignore[arg-type]
    last, stash, sent, back = stages * rounds - 1, {}, {}, {}
    left: set[int] = set()
    for tick in range(s.ticks):
        arriving, returning, sent, back = sent, back, {}, {}
        for device in range(stages):
            i, k = s.forward.microbatch[tick, device], s.forward.round[tick, device] * stages + device
            if i >= 0:
                assert (k == 0 and s.enters[tick] == i) or arriving[device] == (i, k - 1)
                stash[device, s.forward.place[tick, device]] = (i, k)
                sent[(device + 1) % stages] = (i, k)
                if k == last:
                    assert s.leaves[tick] == i
                    left.add(int(i))
        for device in range(stages):
            i, k = s.backward.microbatch[tick, device], s.backward.round[tick, device] * stages + device
            if i >= 0:
                assert stash[device, s.backward.place[tick, device]] == (i, k)
                assert int(i) in left if k == last else returning[device] == (i, k + 1)
                back[(device - 1) % stages] = (i, k)
                assert (k == 0) == (s.returns[tick] == i)
        assert not sent or s.sends[tick] or all(k == last for _, k in sent.values())
    assert left == set(range(microbatches))


@pytest.mark.parametrize(("microbatches", "stages", "rounds"), [(4, 2, 1), (8, 4, 1), (8, 4, 2), (16, 4, 4)])
def test_the_idle_share_of_even_stages(microbatches: int, stages: int, rounds: int):
    """(stages - 1) / (rounds * microbatches + stages - 1): Megatron-LM, arXiv:2104.04473, section 2.2."""
    kind = "1f1b" if rounds == 1 else "interleaved"
    expected = (stages - 1) / (rounds * microbatches + stages - 1)
    assert Schedule(kind, stages, microbatches, rounds).idle_share() == pytest.approx(expected)


def test_an_uneven_stage_keeps_the_others_waiting():
    """Two stages of 3 and 1 layers, 2 microbatches: ticks of 3, 3 and 1 layers; each device has 3 + 3 or 1 + 1."""
    assert Schedule("1f1b", 2, 2).idle_share([3, 1]) == pytest.approx(1 - (6 + 2) / (2 * 7))


def test_what_waits_is_bounded_by_the_stages_but_for_gpipe():
    assert [Schedule("1f1b", 4, m).live for m in (4, 8, 32)] == [4, 7, 7]  # 2 * stages - 1
    assert [Schedule("gpipe", 4, m).live for m in (4, 8, 32)] == [4, 8, 32]


# ---------------------------------------------------------------- what is cut

MODEL = """mesh {{ pp = 2 }}
dims {{ batch = 8, seq = 4, embed = 8, first = 3, layers = 5 }}
layer Block(x: [batch, seq, embed]) {{
  param up: embed -> embed'
  h = x @ up
  return x + tanh(h)
}}
model Tiny(x: [batch, seq, embed]) {{
  param gain: [embed]
  {before}
  {repeats}
  {after}
}}
partition {{ pipeline(pp, microbatches = 4{options}) }}
"""


def cut(repeats: str, before: str = "h = x * gain", after: str = "loss square(h)", options: str = "") -> Pipeline:
    text = MODEL.format(repeats=repeats, before=before, after=after, options=options)
    program, problems = resolve(SourceFile("tiny.mesh", text))
    assert program is not None and not [d for d in problems if d.severity == "error"]
    placed, problems = place(program)
    assert placed.pipeline is not None and not problems
    return placed.pipeline


TWO = "repeat first { h = Block(h) as a }; repeat layers { h = Block(h) as b }"


def test_repeats_in_a_row_are_cut_together():
    assert cut(TWO).cut.turns == ((3, 0), (1, 4))
    assert cut(TWO, options=", stages = [2, 6]").cut.turns == ((2, 1), (0, 5))
    interleaved = cut(TWO, options=', schedule = "interleaved", rounds = 2')
    assert interleaved.cut.turns == ((2, 1, 0, 0), (0, 1, 2, 2))


def test_a_stack_at_rest_has_room_for_the_most_turns_of_a_stage():
    """Of `first` virtual stages 0 to 3 have 2, 1, 0, 0: device 0 holds 0 and 2, device 1 holds 1 and 3."""
    interleaved = cut(TWO, options=', schedule = "interleaved", rounds = 2')
    assert interleaved.cut.order(0) == (0, 1, -1, -1, 2, -1, -1, -1)
    assert interleaved.cut.order(1) == (-1, -1, 1, 2, 0, -1, 3, 4)
    for number, turns in enumerate(interleaved.cut.turns):
        assert interleaved.cut.order(number) == runtime.order(turns, 2)


def test_nothing_is_lost_in_the_cut():
    """30 layers over 4 stages are 30 layers (NVIDIA/Megatron-LM#1304)."""
    order = np.array(runtime.order((8, 8, 7, 7), 4))
    assert sorted(order[order >= 0]) == list(range(30))


def test_what_is_carried_goes_from_stage_to_stage():
    (slot,) = cut(TWO).slots
    assert [carry is not None for carry in slot.carries] == [True, True]


def test_what_later_layers_read_of_earlier_statements_travels_along():
    pipeline = five("h = Block(h) as b; h = h + y", before="h = x * gain; y = x + gain")
    assert [any(slot.carries) for slot in pipeline.slots] == [True, False]
    pipeline = five("h = Block(h) as b", after="loss square(h - x * gain)")
    assert len(pipeline.slots) == 1  # x is an input: each microbatch has its own
    pipeline = five("h = Block(h) as b", before="h = x * gain; y = h", after="loss square(h - y)")
    assert [any(slot.carries) for slot in pipeline.slots] == [True, False]


def five(layer: str, **others: str) -> Pipeline:
    return cut(f"repeat layers {{ {layer} }}", options=", stages = [3, 2]", **others)


def test_a_weight_that_layers_share_is_known():
    pipeline = five("h = Block(h) as b; h = h * gain")
    assert [weight.weight.dotted for weight in pipeline.shared] == ["Tiny.gain"]


def test_a_state_that_layers_read_has_no_gradients_that_they_add_up():
    before = "state usual: [embed] = ones; h = x * gain; usual := mean(mean(h, over = seq), over = batch)"
    pipeline = five("h = Block(h) as b; h = h * gain * usual", before=before)
    assert [weight.weight.dotted for weight in pipeline.shared] == ["Tiny.gain"]


def test_permutes_of_idle_slots_are_counted():
    """Two stages of 3 and 2 layers, 4 microbatches: 5 ticks in which some stage has work, and 3 places on each device."""
    pipeline = five("h = Block(h) as b")
    (repeat,) = pipeline.repeats
    assert pipeline.turns_of_a_step(repeat) == Fraction(4 * 5, 2)
    assert pipeline.permuted(repeat) * pipeline.turns_of_a_step(repeat) == (4 + 2 - 1) * 3


def test_what_lies_between_two_repeats_cannot_be_read_later():
    text = "repeat first { h = Block(h) as a }; repeat layers { y = Block(h) as b; h = y }"
    pipeline = cut(text, after="loss square(h)")
    assert not pipeline.trouble
    pipeline = cut("repeat first { h = Block(h) as a }; y = h; repeat layers { h = Block(h) as b; h = h + y }")
    assert [what for what, *_ in pipeline.trouble] == ["a tensor between two repeats in stages that is read later"]
