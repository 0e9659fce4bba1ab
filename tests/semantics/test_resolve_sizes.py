"""Sizes of dims and axes: arithmetic in any order, padding, overrides, `*`, second views, and what is refused."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshc.semantics.meshes import common_refinement
from meshc.semantics.overrides import override
from tests.semantics.marked import only, resolved, sound

MODEL = "\nmodel M(x: [n]) { loss mean(x) }"

DIMS = {
    "E0203": ("n = «m» + 1", "`m` is not a declared dim"),
    "E0216": ("n = a, a = b + 1, b = «n»", "the size of `n` depends on itself"),
    "E0216 self": ("n = «n»", "the size of `n` depends on itself"),
    "E0217 zero": ("n = «0»", "`n` is 0"),
    "E0217 negative": ("n = «3 - 5»", "`n` is -2"),
    "E0217 float": ("n = «2.5»", "`2.5` is not an integer"),
    "E0217 text": ('n = «"8"»', '`"8"` is not an integer'),
    "E0217 inexact": ("n = «10 / 4»", "10 / 4 is not an integer"),
    "E0217 by zero": ("n = «8 / (4 - 4)»", "division by zero"),
    "E0217 large": ("n = «10 ** 30»", "this size is too large"),
    "E0217 beyond": ("n = «2 ** 31»", "this size is too large"),
    "E0217 endless": ("n = «10 ** 10 ** 10»", "this size is too large"),
    "E0217 fraction": ("n = «2 ** -1»", "2 ** -1 is not an integer"),
    "E0217 pad": ("n = 1 + «pad(3, 4)»", "`pad` stands alone"),
    "E0217 multiple": ("n = pad(3, «0»)", "`multiple` is 0"),
    "E0222": ("n = «pad(3)»", "`pad` is called without `multiple`"),
    "E0205": ("n = «padd»(3, 4)", "`padd` is not a layer or function"),
}


@pytest.mark.parametrize("case", DIMS)
def test_dims(case: str):
    marked, message = DIMS[case]
    found = only(f"dims {{ {marked} }}{MODEL}")
    assert (found.code, found.message) == (case.split()[0], message)


def test_dims_in_any_order():
    program = sound(f"dims {{ n = heads * head_dim, head_dim = 8 }}\ndims {{ heads = 2 ** 3 - 14 // 4 % 2 }}{MODEL}")
    assert {name: dim.size for name, dim in program.dims.items()} == {"n": 56, "head_dim": 8, "heads": 7}


def test_a_chain_of_dims_may_be_as_long_as_the_spec():
    chain = ", ".join(f"d{i} = d{i + 1} + 1" for i in range(5000))
    program = sound(f"dims {{ n = d0, {chain}, d5000 = 1 }}{MODEL}")
    assert program.dims["n"].size == 5001


def test_padding_keeps_the_real_size():
    program = sound("dims { n = pad(50257, 128), half = (n - 1) / 2 }\nmodel M(x: [n, half]) { loss mean(x) }")
    assert (program.dims["n"].size, program.dims["n"].real) == (50304, 50257)
    assert program.dims["half"].size == 25128  # of the real size


def test_overrides_of_dims_and_axes():
    text = f"mesh {{ a = 2, b = 4 }}\ndims {{ n = 64 }}{MODEL}"
    program = sound(text, (override("n", 128), override("mesh.a", "8")))
    assert program.dims["n"].size == 128
    assert [(axis.name, axis.size) for axis in program.axes] == [("a", 8), ("b", 4)]


def test_an_override_with_a_star_takes_what_is_left():
    text = f"mesh {{ a = 2, b = * }}\ndims {{ n = 64 }}{MODEL}"
    program = sound(text, (override("mesh.a", "*"), override("mesh.b", 2)), devices=16)
    assert [axis.size for axis in program.axes] == [8, 2]


@pytest.mark.parametrize(
    ("key", "value", "code", "text"),
    [
        ("m", 4, "E0208", "m"),
        ("mesh.c", 4, "E0208", "mesh.c"),
        ("n", 0, "E0217", "0"),
        ("n", "many", "E0217", "many"),
        ("n", True, "E0217", "True"),
        ("n", 2.5, "E0217", "2.5"),
        ("mesh.a", -2, "E0217", "-2"),
    ],
)
def test_a_wrong_override_is_pointed_at(key: str, value: int | str, code: str, text: str):
    _, found = resolved(f"mesh {{ a = 2 }}\ndims {{ n = 64 }}{MODEL}", (override(key, value),))
    assert [d.code for d in found] == [code]
    assert found[0].span is not None
    assert (found[0].span.source.name, found[0].span.text) == ("--set", text)


def test_an_override_of_an_axis_is_named_in_full():
    _, found = resolved(f"mesh {{ tp = 2 }}\ndims {{ n = 64 }}{MODEL}", (override("tp", 4),))
    assert [(d.code, d.helps) for d in found] == [("E0208", ("did you mean `mesh.tp`?",))]


# ---------------------------------------------------------------- the mesh

MESH = {
    "E0218": ("mesh { a = *, «b = *» }", "two axes have the size `*`"),
    "E0219": (
        "mesh { a = 3, «b = *» }",
        "nothing is left for `b`: the other axes take 3, which does not divide 8 devices",
    ),
    "E0217": ("mesh { a = «0» }", "`a` is 0"),
    "E0210": ("mesh { a = 2, «a» = 4 }", "`a` is defined twice"),
    "E0210 again": ("mesh { a = 8 }\n«mesh { b = 8 }»", "this spec has two mesh blocks"),
    "E0204": ("mesh { a = «b» * 2 }", "`b` is not a mesh axis"),
    "E0220": (
        "mesh { dp = 4, tp = 2 }\nmesh «experts» = regroup(dp) { edp = 4, ep = 2 }",
        "`experts` regroups 4 devices into 8",
    ),
    "E0221": (
        "mesh { dp = 2, cp = 3 }\nmesh «experts» = regroup(dp, cp) { edp = 3, ep = 2 }",
        "`experts` cuts the devices where the mesh does not",
    ),
    "E0221 order": (
        "mesh { dp = 2, cp = 2 }\nmesh «experts» = regroup(cp, dp) { ep = 4 }",
        "`experts` names the axes out of mesh order",
    ),
    "E0204 group": ("mesh { dp = 2, cp = 2 }\nmesh experts = regroup(dp, «cq») { ep = 4 }", "`cq` is not a mesh axis"),
    "E0207": (
        "mesh { dp = 2 }\n«mesh expert = regroup(dp) { ep = 2 }»",
        "`expert` is not a layer or primitive to be within",
    ),
    "E0210 view": ("mesh { dp = 2 }\nmesh experts = regroup(dp) { «dp» = 2 }", "`dp` is defined twice"),
}


@pytest.mark.parametrize("case", MESH)
def test_mesh(case: str):
    marked, message = MESH[case]
    found = only(f"{marked}\ndims {{ n = 64 }}{MODEL}", devices=8)
    assert (found.code, found.message) == (case.split()[0], message)


def test_a_star_without_a_slice():
    found = only(f"mesh {{ «a = *» }}\ndims {{ n = 64 }}{MODEL}")
    assert found.code == "E0219"
    assert "--slice cpu-8" in found.helps[0]


def test_views_may_have_a_star():
    text = "mesh { dp = 4, sp = 2 }\nmesh experts = regroup(dp, sp) { edp = *, ep = 4 }\ndims { n = 64 }"
    (view,) = sound(text + MODEL).views
    assert (view.name, view.group, [axis.size for axis in view.axes]) == ("experts", ("dp", "sp"), [2, 4])


def test_an_axis_and_a_dim_may_share_a_name():
    program = sound(f"mesh {{ n = 2 }}\ndims {{ n = 64 }}{MODEL}")
    assert (program.axes[0].size, program.dims["n"].size) == (2, 64)


def test_the_two_factorisations_are_shown():
    found = only(
        "mesh { dp = 2, cp = 3 }\nmesh «experts» = regroup(dp, cp) { edp = 3, ep = 2 }\ndims { n = 64 }" + MODEL
    )
    assert found.labels[0].text == "dp (2) * cp (3) against edp (3) * ep (2)"


@given(st.lists(st.integers(1, 6), max_size=4), st.lists(st.integers(1, 6), max_size=4))
def test_a_refinement_groups_into_both(one: list[int], other: list[int]):
    """It multiplies to what both multiply to, and each cut of either is one of its cuts."""
    if math.prod(one) != math.prod(other):
        return
    fine = common_refinement(one, other)
    if fine is None:
        return
    assert math.prod(fine) == math.prod(one)
    cuts = {math.prod(fine[i:]) for i in range(len(fine) + 1)}
    assert all(math.prod(sizes[i:]) in cuts for sizes in (one, other) for i in range(len(sizes)))


def test_refinements_by_hand():
    assert common_refinement([4, 2], [2, 4]) == [2, 2, 2]
    assert common_refinement([2, 2, 2], [8]) == [2, 2, 2]
    assert common_refinement([2, 3], [3, 2]) is None
