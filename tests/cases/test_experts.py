"""Experts over devices: where banks lie, and that gradients do not know over how many."""

from __future__ import annotations

import numpy as np
import pytest

MODEL = """dims {{ batch = 8, seq = 8, embed = {embed}, mlp = {mlp}, experts = {experts}, vocab = 32 }}
model Sparse(tokens: [batch, seq] of vocab) {{
  param table: vocab -> embed
  param router: embed -> experts
  param up: [experts] embed -> mlp
  param down: [experts] mlp -> embed
  x = table[tokens]
  routed = route(x, by = softmax(x @ router, over = experts))
  loss 0.1 * load_balance(routed)
  loss next_token((x + combine(silu(routed @ up) @ down, routed)) @ table, tokens)
}}
"""


def spec(head: str, partition: str, embed: int = 8, mlp: int = 16, experts: int = 8) -> str:
    sizes = {"embed": embed, "mlp": mlp, "experts": experts}
    return f"{head}\n{MODEL.format(**sizes)}partition {{\n  {partition}\n}}\n"


BORROWED = "mesh { dp_shard = 4, tp = 1 }\nmesh experts = regroup(dp_shard, tp) { ep = 4, etp = 1 }"
BORROWING = "fsdp(dp_shard)\n  tensor(tp)\n  expert(ep, tensor = etp)"


def local(program, path: str) -> set[tuple[int, ...]]:
    return {s.data.shape for s in program.init(0).weights[path].addressable_shards}


@pytest.mark.parametrize(
    ("head", "partition"),
    [(BORROWED, BORROWING), ("mesh { ep = 4, tp = 1 }", "data(ep)\n  tensor(tp)\n  expert(ep)")],
    ids=["borrowed from the data axis", "an axis of its own"],
)
def test_an_axis_of_size_one_beside_experts_is_no_axis(build, head: str, partition: str):
    """pytorch/torchtitan#2184: with tensor parallelism of 1 the run asked for an axis that was not there.

    16 experts on 4 devices: 4 each.
    """
    program = build(spec(head, partition, experts=16))
    assert local(program, "Sparse.up") == {(4, 8, 16)}
    assert dict(program.mesh.shape) == {"dp_shard" if "dp_shard" in head else "ep": 4}


@pytest.mark.parametrize(
    ("experts", "partition", "shape"),
    [
        (4, "params of Sparse.up { embed -> dp_shard }\n  expert(ep)", (1, 256, 256)),
        (8, "params of Sparse.up { embed -> dp_shard }\n  expert(ep)", (2, 256, 256)),
        (8, "within experts { experts -> dp_shard, ep }", (1, 512, 256)),
    ],
)
def test_banks_lie_on_both_axes(build, experts: int, partition: str, shape: tuple[int, ...]):
    """pytorch/torchtitan#1561: banks of 4 or 8 experts on data-shard 2 x ep 4. (Of 4 on all 8: see divisibility.md.)"""
    text = spec("mesh { dp_shard = 2, ep = 4 }", f"data(dp_shard)\n  {partition}", 512, 256, experts)
    assert local(build(text), "Sparse.up") == {shape}


DISPATCHED = spec("mesh { dp = 1, ep = 1 }", "fsdp(dp)\n  data(ep)\n  expert(ep)")
EQUAL = spec("mesh { dp = 1, ep = 1 }", "fsdp(dp)\n  expert(ep)")
REGROUPED = spec("mesh { dp = 1 }\nmesh experts = regroup(dp) { edp = 1, ep = 1 }", "fsdp(dp)\n  expert(ep)")


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        (DISPATCHED, ("mesh.ep=2",)),
        (DISPATCHED, ("mesh.ep=4",)),
        (DISPATCHED, ("mesh.dp=2", "mesh.ep=4")),
        (EQUAL, ("mesh.dp=2", "mesh.ep=4")),
        (REGROUPED, ("mesh.dp=8", "mesh.edp=2", "mesh.ep=4")),
    ],
    ids=["ep 2", "ep 4", "dp 2, ep 4", "tokens equal along ep", "ep borrowed from dp"],
)
def test_gradients_of_experts_do_not_grow_with_their_axis(run, text: str, sizes: tuple[str, ...]):
    """deepspeedai/DeepSpeed#5618: of the same global batch, gradients were 4 times as large with ep 4, 2 with ep 2."""
    source = np.random.default_rng(0)
    shapes = {"table": (32, 8), "router": (8, 8), "up": (8, 8, 16), "down": (8, 16, 8)}
    weights = {f"Sparse.{name}": 0.5 * source.standard_normal(shape) for name, shape in shapes.items()}
    tokens = source.integers(0, 32, (8, 8))
    loss, grads = run(text, weights, tokens, *sizes)
    loss_one, grads_one = run(text, weights, tokens)
    assert loss / loss_one == pytest.approx(1, abs=1e-6)
    for path, grad in grads.items():
        assert np.linalg.norm(grad) / np.linalg.norm(grads_one[path]) == pytest.approx(1, abs=1e-5), path
        np.testing.assert_allclose(grad, grads_one[path], rtol=1e-3, atol=1e-6, err_msg=path)
