"""Placements as the zoo states them, read off the placed program."""

from __future__ import annotations

import pytest

from meshc.cost import tables
from meshc.cost.report import report
from meshc.job.model import Optimizer
from meshc.semantics.collectives import Settings, derive
from meshc.semantics.flat import flatten
from meshc.semantics.placed import Computed, Moved, Order, Placed, PlacedProgram
from meshc.semantics.placement import place
from meshc.semantics.program import Attend, Combine
from meshc.semantics.resolve import resolve
from meshc.source import SourceFile
from tests.semantics.llama import BENCH, placed, weight

EASYLM = placed("dp = 2, fsdp = 2, mp = 2", "data(dp); fsdp(fsdp); tensor(mp)")


@pytest.mark.parametrize(
    ("path", "axes"),
    [
        ("table", (("mp",), ("fsdp",))),
        ("block.attention.wq", ((), ("fsdp",), ("mp",), ())),
        ("block.attention.wk", ((), ("fsdp",), ("mp",), ())),
        ("block.attention.wo", ((), ("mp",), (), ("fsdp",))),
        ("block.mlp.gate", ((), ("fsdp",), ("mp",))),
        ("block.mlp.down", ((), ("mp",), ("fsdp",))),
        ("head", (("fsdp",), ("mp",))),
        ("norm.scale", (("fsdp",),)),
    ],
)
def test_row_1_weights_at_rest(path: str, axes) -> None:
    assert weight(EASYLM, path).rest.axes == axes


def test_weights_in_use_are_whole_along_fsdp_only() -> None:
    assert weight(EASYLM, "block.attention.wq").use.axes == ((), ("mp",), ())


def moves(program: PlacedProgram, path: str) -> list[tuple[str, tuple[str, ...]]]:
    """All steps of the values of one module, in order."""
    return [
        (step.kind, step.axes)
        for item in flatten(program).statements
        if ".".join(item.path) == path and isinstance(item.statement, Moved)
        for step in item.statement.steps
        if item.statement.source.value not in {w.weight.value for w in program.weights}
    ]


def test_row_5_two_reductions_a_block_and_one_cast_a_group() -> None:
    program = placed("dp = 2, tp = 2", "data(dp); tensor(tp)")
    for module in ("Llama.block.attention", "Llama.block.mlp"):
        assert moves(program, module) == [("cast", ("tp",)), ("all_reduce", ("tp",))]


def test_row_6_the_reductions_become_scatter_and_gather() -> None:
    program = placed("dp = 2, tp = 2", "data(dp); tensor(tp, sequence = true)")
    for module in ("Llama.block.attention", "Llama.block.mlp"):
        assert moves(program, module) == [("all_gather", ("tp",)), ("reduce_scatter", ("tp",))]
    # Norm scales work on different tokens on each tp shard, so their gradient is summed over tp as well.
    assert weight(program, "norm.scale").summed == ("dp", "tp")


def test_row_7_all_to_alls_at_attentions_ends_only() -> None:
    program = placed("dp = 2, sp = 2", "fsdp(dp); ulysses(sp)")
    assert moves(program, "Llama.block.attention") == [("all_to_all", ("sp",))] * 4  # q, k, v and back
    assert moves(program, "Llama.block.mlp") == []


def test_row_8_weights_gathered_over_both() -> None:
    program = placed("dp = 2, sp = 2", "fsdp(dp); ulysses(sp); params { embed -> .., sp }")
    assert weight(program, "block.attention.wq").rest.axes == ((), ("dp", "sp"), (), ())
    assert weight(program, "block.attention.wq").summed == ()  # both are reduced by the gather's transpose


def test_row_9_heads_on_tp_inside_a_ring() -> None:
    program = placed("dp = 2, cp = 2, tp = 2", "fsdp(dp); ring(cp); tensor(tp)")
    attend = next(
        i.statement
        for i in flatten(program).statements
        if isinstance(i.statement, Computed) and isinstance(i.statement.op, Attend)
    )
    assert attend.result.placement == {"batch": ("dp",), "seq": ("cp",), "heads": ("tp",)}
    permuted = [(c.op, c.axes, c.times, c.backward) for c in attend.inner]
    keys, gradients = ("collective_permute", ("cp",), 1, 1), ("collective_permute", ("cp",), 0, 1)
    assert permuted == [keys, gradients]


def test_row_11_sequence_on_both_and_heads_on_sp_inside() -> None:
    program = placed("dp = 2, cp = 2, sp = 2", "fsdp(dp); ring(cp); ulysses(sp)")
    assert program.inputs[0].placement == {"batch": ("dp",), "seq": ("cp", "sp")}


def test_row_3_zero_1_reduces_once_and_gathers_the_update() -> None:
    first = weight(placed("dp = 4", "zero1(dp)", microsteps=2), "block.mlp.up")
    assert (first.rest.axes, first.grads.axes) == (((), (), ()), ((), (), ()))
    assert [s.kind for s in first.to_grads] == []
    assert [s.kind for s in first.to_optimizer] == ["reduce_scatter"]
    assert [s.kind for s in first.to_rest] == ["all_gather_invariant"]


def test_row_3_zero_2_reduces_each_microstep() -> None:
    second = weight(placed("dp = 4", "zero2(dp)", microsteps=2), "block.mlp.up")
    assert [s.kind for s in second.to_grads] == ["reduce_scatter"]
    assert [s.kind for s in second.to_optimizer] == []


def test_row_4_gathers_never_cross_replicas() -> None:
    program = placed("dp_replicate = 2, dp_shard = 4", "data(dp_replicate); fsdp(dp_shard)")
    axes = {(c.op, c.axes) for c in derive(program) if not c.tensor.endswith("cross_entropy")}
    assert axes == {
        ("all-gather", ("dp_shard",)),
        ("reduce-scatter", ("dp_shard",)),
        ("all-reduce", ("dp_replicate",)),
    }


def test_row_12_weights_over_dp_shard_and_cp_together() -> None:
    program = placed(
        "dp_replicate = 2, dp_shard = 2, cp = 2, tp = 2",
        "data(dp_replicate); fsdp(dp_shard); ring(cp); tensor(tp); params { embed -> .., cp }",
    )
    wq = weight(program, "block.attention.wq")
    assert wq.rest.axes == ((), ("dp_shard", "cp"), ("tp",), ())
    assert wq.summed == ("dp_replicate",)


def test_row_13_the_distributed_optimizer() -> None:
    program = placed("dp = 2, cp = 2, tp = 2", "data(dp); ring(cp); tensor(tp); optimizer { embed -> .., dp, cp }")
    wq = weight(program, "block.attention.wq")
    assert wq.rest.axes == ((), (), ("tp",), ())
    assert wq.optimizer.axes == ((), ("dp", "cp"), ("tp",), ())
    assert [(s.kind, s.axes) for s in wq.to_optimizer] == [("reduce_scatter", ("dp", "cp"))]


def megabytes(mesh: str, partition: str, remat="attention") -> float:
    return sum(c.bytes_per_device for c in derive(placed(mesh, partition, BENCH), Settings(remat=remat))) / 1e6


def test_traffic_of_the_published_meshes() -> None:
    """27.8 M parameters, f32: weights of a layer 2,949,120, table and head 2,097,152 each, norms 512 each.

    Each weight is gathered and its gradient scattered, 7/8 of its bytes both times.
    """
    weights = 8 * (2_949_120 + 2 * 512) + 2 * 2_097_152 + 512
    tolerance = 1e-4  # the loss's all-reduce, a few bytes
    assert megabytes("fsdp = 8", "fsdp(fsdp, gathered = kept)") == pytest.approx(2 * 7 / 8 * weights * 4e-6, tolerance)
    regathered = 7 / 8 * 8 * (2_949_120 + 2 * 512) * 4e-6
    again = megabytes("fsdp = 8", "fsdp(fsdp, gathered = again)")
    assert again == pytest.approx(2 * 7 / 8 * weights * 4e-6 + regathered, tolerance)
    assert megabytes("fsdp = 4, tp = 2", "fsdp(fsdp, gathered = kept); tensor(tp)") < 155


def test_full_remat_repeats_the_first_reduction_of_a_block_only() -> None:
    """The layer's output is not needed to compute its gradients, so its last all-reduce does not run again."""
    program = placed("dp = 2, tp = 2", "data(dp); tensor(tp)")
    backward = {
        c.tensor for c in derive(program, Settings(remat="full")) if c.axes == ("tp",) and c.phase == "backward"
    }
    forward_again = {t for t in backward if t.endswith((".o", ".down"))}
    assert forward_again == {"Llama.block.attention.o"}


def test_microsteps_repeat_fsdps_traffic_and_not_data_parallels() -> None:
    once = derive(placed("dp = 2, fsdp = 2", "data(dp); fsdp(fsdp)"))
    twice = derive(placed("dp = 2, fsdp = 2", "data(dp); fsdp(fsdp)", microsteps=2))

    def total(found, axis: str, op: str) -> int:
        return sum(c.bytes_per_device for c in found if c.axes == (axis,) and c.op == op)

    assert total(twice, "fsdp", "reduce-scatter") == 2 * total(once, "fsdp", "reduce-scatter")
    assert total(twice, "dp", "all-reduce") == total(once, "dp", "all-reduce")


EXPERTS = """mesh { tp = 2 }
dims { batch = 4, seq = 8, embed = 16, experts = 4, vocab = 32 }
model M(tokens: [batch, seq] of vocab) {
  param table: vocab -> embed
  param router: embed -> experts
  x = table[tokens]
  routed = route(x, by = softmax(x @ router, over = experts))
  x = combine(routed, routed)
  loss next_token(x @ table, tokens)
}
partition { experts -> tp; seq -> .., tp where free }
"""


def test_experts_on_the_axis_of_the_sequence_change_places_to_be_combined() -> None:
    program, found = resolve(SourceFile("experts.mesh", EXPERTS))
    assert program is not None and not found
    result, found = place(program)
    assert not found
    (combined,) = (
        i.statement
        for i in flatten(result).statements
        if isinstance(i.statement, Computed) and isinstance(i.statement.op, Combine)
    )
    assert [x.placement for x in combined.operands if isinstance(x, Placed)] == [{"experts": ("tp",)}] * 2
    assert combined.result.placement == {"seq": ("tp",)}


def test_the_order_of_a_sequence_is_told() -> None:
    """Of axes in mesh order, from the outermost through the last one in zigzag order: sp, which is within, cuts chunks."""
    inner = placed("dp = 2, cp = 4, sp = 2", "fsdp(dp); ring(cp); ulysses(sp)")
    outer = placed("sp = 2, cp = 4", "ulysses(sp); ring(cp)")
    assert (inner.orders, outer.orders) == ({"seq": Order(4)}, {"seq": Order(8)})
    assert placed("dp = 2", "data(dp)").orders == {}
    shown = tables.text(report(inner, (), Settings(), Optimizer()))
    assert "  seq lies in zigzag order: of 8 chunks, part i of 4 has chunks i and 7 - i\n" in shown


def test_keys_go_over_several_axes_in_two_ways() -> None:
    """Gathered over b, then round a: a block is that of two devices, its gradients as wide as sums."""
    program = placed("a = 4, b = 2", "ring(a); gather_kv(b)")
    statements = [i.statement for i in flatten(program).statements if isinstance(i.statement, Computed)]
    (attend,) = (s for s in statements if isinstance(s.op, Attend))
    block = 2 * 16 * 64 // 8 * 4 * 8  # k and v of [batch, seq, kv_heads, head_dim]
    assert [(c.op, c.axes, c.local_elements // block, c.times, c.backward) for c in attend.inner] == [
        ("all_gather", ("b",), 1, 1, 1),
        ("reduce_scatter", ("b",), 1, 0, 1),
        ("collective_permute", ("a",), 2, 3, 3),
        ("collective_permute", ("a",), 2, 0, 3),
    ]
    assert attend.inner[-1].width == "sum"
