"""HLO text as data: shapes, operands, calls, and how often a loop turns."""

from __future__ import annotations

import re

import pytest

from meshc.prove import hlo
from meshc.prove.flops import product_flops


def test_a_tuple_with_comments_and_tiled_layouts():
    found = hlo.instruction(
        "  ROOT %t.1 = (f32[2,3]{1,0:T(8,128)S(1)}, /*index=1*/bf16[], pred[<=4]) "
        "tuple(f32[2,3]{1,0} %a, %b-c, %d.2), metadata={}"
    )
    assert found.root
    assert found.shapes == (hlo.Shape("f32", (2, 3)), hlo.Shape("bf16", ()), hlo.Shape("pred", (4,)))
    assert found.operands == ("a", "b-c", "d.2")


@pytest.mark.parametrize(
    ("shape", "num_bytes"),
    [
        (hlo.Shape("f32", (3, 4)), 48),
        (hlo.Shape("bf16", (3,)), 6),
        (hlo.Shape("pred", ()), 1),
        (hlo.Shape("s4", (3,)), 2),
        (hlo.Shape("f8e4m3fn", (5,)), 5),
        (hlo.Shape("c128", (2,)), 32),
    ],
)
def test_bytes_of_a_shape(shape: hlo.Shape, num_bytes: int):
    assert shape.num_bytes == num_bytes


def test_text_that_is_not_hlo():
    with pytest.raises(hlo.MalformedHlo):
        hlo.parse("HloModule empty")
    with pytest.raises(hlo.MalformedHlo):
        hlo.instruction("  %x = f32[2] unfinished(%y")


def loops(text: str) -> list[int | None]:
    module = hlo.parse(text)
    return [
        module.trip_count(run.instruction, run.computation)
        for run in module.executed()
        if run.instruction.opcode == "while"
    ]


def test_trip_counts_that_xla_found(compiled: dict[str, str]):
    assert loops(compiled["nested"]) == [4, 3]
    assert loops(compiled["until_small"]) == [None]


def test_trip_counts_read_off_the_condition(compiled: dict[str, str]):
    """The same programs with XLA's note taken out of the text."""
    bare = {name: re.sub(r'"known_trip_count":\{"n":"\d+"\}', "", text) for name, text in compiled.items()}
    assert loops(bare["scanned"]) == [5]
    assert loops(bare["nested"]) == [4, 3]
    assert loops(bare["until_small"]) == [None]


def test_products_inside_a_scan_count_each_turn(compiled: dict[str, str]):
    # six turns of [8, 16] @ [16, 16]
    assert product_flops(compiled["products"]) == 6 * 2 * 8 * 16 * 16


def test_where_an_instruction_comes_from(compiled: dict[str, str]):
    module = hlo.parse(compiled["all_reduce"])
    (reduced,) = [r.instruction for r in module.executed() if r.instruction.opcode == "all-reduce"]
    assert reduced.op_name.endswith("psum")
    assert module.num_partitions == 8
