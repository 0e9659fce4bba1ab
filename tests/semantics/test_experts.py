"""Where tokens lie between `route` and `combine`, what their way there and back moves, and how much room they take."""

from __future__ import annotations

from pathlib import Path

import pytest

from meshc.semantics.collectives import Settings, derive
from meshc.semantics.flat import flatten
from meshc.semantics.placed import Computed, Moved, Placed, PlacedProgram
from meshc.semantics.placement import place
from meshc.semantics.program import Combine, Contract, Load, LoadBalance, Route
from meshc.semantics.resolve import resolve
from meshc.semantics.routing import lying
from meshc.source import SourceFile
from tests.codegen.experts import text

ZOO = Path(__file__).parents[2] / "specs" / "zoo"


def placed(spec: str, microsteps: int = 1) -> PlacedProgram:
    program, found = resolve(SourceFile("experts.mesh", spec))
    assert program is not None and not found
    result, found = place(program, microsteps)
    assert not found
    return result


def row(name: str) -> PlacedProgram:
    program, found = resolve(SourceFile(str(ZOO / name), (ZOO / name).read_text()))
    assert program is not None and not found
    return place(program)[0]


def computed(program: PlacedProgram, kind: type) -> list[Computed]:
    found = (i.statement for i in flatten(program).statements)
    return [s for s in found if isinstance(s, Computed) and isinstance(s.op, kind)]


def tokens(program: PlacedProgram) -> dict[str, tuple[str, ...]]:
    """Of the tokens as `route` takes them."""
    (route,) = computed(program, Route)
    (x, *_) = route.operands
    assert isinstance(x, Placed)
    return x.placement


def moves(program: PlacedProgram, name: str) -> list[list[tuple[str, tuple[str, ...]]]]:
    """The ways of the tensors of one name."""
    found = (i.statement for i in flatten(program).statements)
    of_it = (s for s in found if isinstance(s, Moved) and s.source.value.name == name)
    return [[(step.kind, step.axes) for step in s.steps] for s in of_it]


# ---------------------------------------------------------------- where tokens lie


def test_tokens_stay_where_they_are_split_over_all_of_the_view():
    program = row("17_moe_ulysses.mesh")
    assert tokens(program) == {"batch": ("edp", "dp_ep"), "seq": ("sp",)}
    assert computed(program, Route)[0].result.placement == {"batch": ("edp",), "experts": ("dp_ep", "sp")}


def test_tokens_are_gathered_along_the_experts_mlp_and_summed_when_they_are_back():
    program = row("16_moe_tensor.mesh")
    assert tokens(program) == {"batch": ("dp_shard_mod_ep", "ep")}
    down = computed(program, Contract)[-2]
    assert down.result.layout.partial == ("cp", "tp")
    assert moves(program, "combined") == [[("reduce_scatter", ("cp",)), ("all_reduce", ("tp",))]]


def test_equal_tokens_are_cut_along_the_sequence_before_they_are_sent():
    program = row("16_moe_no_tensor.mesh")
    assert tokens(program) == {"batch": ("dp_shard_mod_ep", "dp_shard_ep"), "seq": ("cp", "tp")}
    assert moves(program, "combined") == [[("all_gather_invariant", ("tp",))]]


def test_the_batch_is_cut_where_the_sequence_does_not_divide():
    spec = text({"ep": 8}, "expert(ep)").replace("seq = 16", "seq = 12")
    assert tokens(placed(spec)) == {"batch": ("ep",)}


def test_two_axes_may_cut_two_dims():
    view = ("a, b", {"ep": 8})
    spec = text({"a": 4, "b": 2}, "expert(ep)", view).replace("seq = 16", "seq = 6").replace("batch = 8", "batch = 4")
    assert tokens(placed(spec)) == {"batch": ("a",), "seq": ("b",)}


def test_tensor_parallelism_outside_the_view_holds_inside():
    """Zoo, row 15: dp_shard_mod_ep and ep are dp_shard and cp, factored anew; banks rest on both, and on tp."""
    program = row("15_moe.mesh")
    (gate,) = (w for w in program.weights if w.weight.name == "gate")
    assert gate.use.axes == (("cp",), (), ("tp",))
    assert gate.rest.axes[1:] == (("cp",), ("dp_shard",), ("tp",))
    assert gate.summed == ("dp_replicate",)
    assert tokens(program) == {"batch": ("dp_replicate", "dp_shard"), "seq": ("cp",)}


# ---------------------------------------------------------------- what moves


def test_experts_of_their_own_mesh_sum_no_activations():
    """Zoo, row 17: what is summed are gradients, the loss, and two numbers for each expert."""
    program = row("17_moe_ulysses.mesh")
    weights = {w.weight.dotted for w in program.weights}
    sums = {c.tensor for c in derive(program) if c.op == "all-reduce"} - weights
    moe = "Mixtral.block.moe"
    assert sums == {"Mixtral.cross_entropy", f"{moe}: tokens of each expert", f"{moe}: scores of each expert"}


@pytest.mark.parametrize("ragged", [False, True])
def test_bytes_of_tokens_there_and_back(ragged: bool):
    """128 tokens over ep 4, each to 2 of 8 experts: 32 a device, 8 floats each and a weight.

    In blocks for each of 4 devices, with room for 32 * 2 rows, 3 of which leave; or the 32 * 2 rows, 3 of 4 leave.
    """
    program = placed(text({"ep": 4}, "data(ep); expert(ep)", options="top_k = 2"))
    found = [c for c in derive(program, Settings(ragged=ragged)) if c.op == "all-to-all"]
    rows = 32 * 2 * 3 // 4 if ragged else 32 * 2 * 3
    layers, ways = 2, 2  # forward and backward
    sent = sum(c.bytes_per_device for c in found if ": tokens" in c.tensor)
    assert sent == 4 * 8 * rows * layers * ways * 2  # to the experts and back
    weights = sum(c.bytes_per_device for c in found if c.tensor.endswith(": weights of tokens"))
    assert weights == 4 * 32 * 2 * 3 * layers * ways


def test_full_remat_sends_tokens_once_more_and_counts_them_once():
    program = placed(text({"ep": 4}, "data(ep); expert(ep)"))
    none, full = (derive(program, Settings(remat=remat)) for remat in ("none", "full"))

    def of(found, tensor: str) -> int:
        return sum(c.count for c in found if c.tensor.endswith(f": {tensor}"))

    assert of(full, "tokens to their experts") == of(none, "tokens to their experts") * 3 // 2
    assert of(full, "tokens back from their experts") == of(none, "tokens back from their experts")
    assert of(full, "rows for each expert") == of(none, "rows for each expert") == 2


def test_two_numbers_for_each_expert_are_summed_over_all_tokens():
    program = placed(text({"dp": 2, "ep": 4}, "fsdp(dp); expert(ep)"))
    (balance,), (load,) = computed(program, LoadBalance), computed(program, Load)
    assert [(c.op, c.axes, c.local_elements) for c in balance.inner] == [("all_reduce", ("dp", "ep"), 8)] * 2
    assert [(c.op, c.axes, c.local_elements) for c in load.inner] == [("all_reduce", ("dp", "ep"), 8)]


# ---------------------------------------------------------------- room


def test_a_device_has_room_for_all_that_could_come():
    """2 experts of 8 on each of 4 devices: all of 4 * 32 tokens could choose both."""
    program = placed(text({"ep": 4}, "data(ep); expert(ep)"))
    dims, layout = lying(computed(program, Route)[0].result, program)
    assert [(d.name, d.size) for d in dims] == [("slots", 4 * 4 * 32 * 2), ("embed", 8)]
    assert layout.axes == (("ep",), ())


def test_a_capacity_bounds_it():
    """1.25 times the even share of 128 * 2 choices, 32, is 40 for each of 2 experts."""
    program = placed(text({"ep": 4}, "data(ep); expert(ep)", options="top_k = 2, capacity = 1.25"))
    dims, _ = lying(computed(program, Route)[0].result, program)
    assert dims[0].size == 4 * 2 * 40


def test_a_microstep_has_its_own_tokens():
    program = placed(text({"ep": 4}, "data(ep); expert(ep)"), microsteps=2)
    dims, _ = lying(computed(program, Route)[0].result, program)
    assert dims[0].size == 4 * 4 * 16 * 2
    combined = computed(program, Combine)[0].result
    assert lying(combined, program)[0][0].size == 4
