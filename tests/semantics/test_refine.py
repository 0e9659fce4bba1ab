"""The device mesh of a spec with views and repeats: the coarsest one that all of them fit."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import cast

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from meshc.semantics.placement import place
from meshc.semantics.program import Axis, Program
from meshc.semantics.refine import refine
from meshc.semantics.resolve import resolve
from meshc.source import SourceFile
from tests.semantics.llama import SMALL, codes, placed, weight

MOE = """import "../specs/zoo/models/moe.mesh"
mesh { dp = 4, cp = 2, tp = 2 }
mesh experts = regroup(dp, cp) { rest = 2, ep = 4 }
dims {
  batch = 16, seq = 64, embed = 64, heads = 8, kv_heads = 4, head_dim = 8, mlp = 128
  vocab = 256, layers = 4, experts = 8
}
partition { fsdp(dp); ring(cp); tensor(tp); params { embed -> .., cp }; expert(ep) }
"""


def program(axes: dict[str, int], group=(), view: dict[str, int] | None = None) -> Program:
    views = [SimpleNamespace(name="v", group=tuple(group), axes=[Axis(n, s) for n, s in view.items()])] if view else []
    every = {n: Axis(n, s) for n, s in (axes | (view or {})).items()}
    devices = tuple(Axis(n, s) for n, s in axes.items())
    made = SimpleNamespace(axes=devices, views=tuple(views), rules=(), dims={}, axis=every.__getitem__)
    return cast(Program, made)


def test_a_mesh_alone_is_itself_without_axes_of_one() -> None:
    refined = refine(program({"dp": 4, "cp": 1, "tp": 2}))
    assert refined.sizes == {"dp": 4, "tp": 2}
    assert refined.parts == {"dp": ("dp",), "cp": (), "tp": ("tp",)}


def test_an_axis_is_cut_where_a_view_cuts_it() -> None:
    refined = refine(program({"dp": 4, "cp": 2, "tp": 2}, ("dp", "cp"), {"rest": 2, "ep": 4}))
    assert refined.sizes == {"rest": 2, "dp_ep": 2, "cp": 2, "tp": 2}
    assert refined.parts["dp"] == ("rest", "dp_ep")
    assert refined.parts["ep"] == ("dp_ep", "cp")
    assert refined.declared(("dp_ep", "cp")) == ("ep",)
    assert refined.declared(("rest", "dp_ep")) == ("dp",)
    assert refined.declared(("dp_ep",)) == ("dp",)


FACTORS = st.lists(st.sampled_from([1, 2, 3, 4]), min_size=1, max_size=4)


@given(FACTORS, st.data())
def test_every_axis_says_of_each_device_what_its_parts_say(pieces, data) -> None:
    """Two groupings of one list of factors always fit; device numbers are compared with numpy's."""

    def grouped(prefix: str) -> dict[str, int]:
        ends = sorted(data.draw(st.sets(st.integers(1, len(pieces)))) | {len(pieces)})
        return {f"{prefix}{a}": math.prod(pieces[a:b]) for a, b in zip([0, *ends], ends, strict=False)}

    mesh, view = grouped("m"), grouped("v")
    refined = refine(program(mesh, tuple(mesh), view))
    number = np.arange(math.prod(pieces))
    fine = dict(zip(refined.sizes, np.unravel_index(number, tuple(refined.sizes.values()) or (1,)), strict=False))
    for axes in (mesh, view):
        coarse = dict(zip(axes, np.unravel_index(number, tuple(axes.values())), strict=True))
        for axis, size in axes.items():
            parts = refined.parts[axis]
            sizes = tuple(refined.sizes[p] for p in parts)
            assert math.prod(sizes) == size
            if parts:
                assert (np.ravel_multi_index(tuple(fine[p] for p in parts), sizes) == coarse[axis]).all()


def test_inside_the_view_rules_on_regrouped_axes_say_nothing_and_at_rest_keep_what_is_free() -> None:
    found, problems = resolve(SourceFile("tests/moe.mesh", MOE))
    assert found and not problems
    weights = {w.weight.name: w for w in place(found)[0].weights}
    gate = weights["gate"]  # layers, experts, embed, mlp
    assert gate.use.axes == (("dp_ep", "cp"), (), ("tp",))
    assert gate.rest.axes == ((), ("dp_ep", "cp"), ("rest",), ("tp",))
    assert weights["router"].rest.axes == ((), ("rest", "dp_ep", "cp"), ())


def test_repeated_heads_lie_on_the_outer_part_of_an_axis() -> None:
    made = placed("dp = 2, tp = 8", "fsdp(dp); tensor(tp); kv_heads -> tp repeat", SMALL)
    assert made.sizes == {"dp": 2, "tp_0": 4, "tp_1": 2}
    assert weight(made, "block.attention.wk").use.axes == ((), ("tp_0",), ())
    assert weight(made, "block.attention.wq").use.axes == ((), ("tp_0", "tp_1"), ())


def test_one_repeated_head_lies_whole_on_every_device() -> None:
    one = SMALL.replace("kv_heads = 4", "kv_heads = 1")
    made = placed("dp = 2, tp = 8", "fsdp(dp); tensor(tp); kv_heads -> tp repeat", one)
    assert made.sizes == {"dp": 2, "tp": 8}
    assert weight(made, "block.attention.wk").use.axes == ((), (), ())
    assert weight(made, "block.attention.wq").use.axes == ((), ("tp",), ())


def test_repeated_heads_need_outer_axes_of_their_number() -> None:
    """The outer one of 2 * 3 devices has 2, and no part of it with others 3."""
    three = SMALL.replace("kv_heads = 4", "kv_heads = 3").replace("heads = 8", "heads = 12", 1)
    assert "E0301" in codes("two = 2, three = 3", "heads -> two, three; kv_heads -> two, three repeat", three)
    assert "E0301" not in codes("two = 2, three = 3", "heads -> three, two; kv_heads -> three, two repeat", three)


def test_views_that_do_not_fit_each_other() -> None:
    text = "mesh { dp = 12 }\nmesh a = regroup(dp) { x = 6, y = 2 }\nmesh b = regroup(dp) { u = 4, w = 3 }\n"
    _, problems = resolve(SourceFile("tests/moe.mesh", text))
    found = [d for d in problems if d.code == "E0221"]
    assert [d.message for d in found] == ["`b` and `a` cut `dp` into pieces that do not fit each other"]
    _, problems = resolve(SourceFile("tests/moe.mesh", text.replace("u = 4, w = 3", "u = 3, w = 4")))
    assert not [d for d in problems if d.code == "E0221"]
