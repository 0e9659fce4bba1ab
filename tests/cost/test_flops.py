"""Operations of products, counted by hand."""

from __future__ import annotations

import pytest

from meshc.cost.flops import operations, products
from meshc.semantics.collectives import Deriver, Settings
from meshc.semantics.flat import flatten
from meshc.semantics.placement import place
from meshc.semantics.resolve import resolve
from meshc.source import SourceFile
from tests.semantics.llama import placed

SMALL = "batch = 16, seq = 64, embed = 64, heads = 8, kv_heads = 4, head_dim = 8, mlp = 128, vocab = 256, layers = 4"
TOKENS, EMBED, MLP, VOCAB = 16 * 64, 64, 128, 256


def counted(program, **settings) -> dict[str, float]:
    """By the name of the result."""
    deriver = Deriver(program, Settings(**settings))
    found: dict[str, float] = {}
    for product in products(flatten(program)):
        found[product.path] = found.get(product.path, 0) + operations(deriver, product)
    return found


def test_a_llama_on_one_device():
    found = counted(placed("dp = 1", "data(dp)", SMALL), remat="none")
    three = 3 * 4  # forward and two ways back, in 4 layers
    assert found["Llama.block.attention.q"] == three * 2 * TOKENS * EMBED * 8 * 8
    assert found["Llama.block.attention.k"] == three * 2 * TOKENS * EMBED * 4 * 8
    assert found["Llama.block.mlp.gate"] == three * 2 * TOKENS * EMBED * MLP
    assert found["Llama.logits"] == 3 * 2 * TOKENS * EMBED * VOCAB
    pairs = 64 * 65 // 2  # of a query and a key at or before it
    assert found["Llama.block.attention.attended"] == three * 2 * 16 * 8 * pairs * (8 + 8)


@pytest.mark.parametrize(
    ("mesh", "partition", "shards"),
    [
        ("dp = 4", "data(dp)", 4),
        ("dp = 2, tp = 2", "data(dp); tensor(tp)", 4),
        ("dp = 2, tp = 2", "fsdp(dp); tensor(tp, sequence = true)", 4),
        ("cp = 4", "ring(cp)", 4),
        ("sp = 4", "ulysses(sp)", 4),
        ("pp = 2, dp = 2", "pipeline(pp, microbatches = 8); data(dp); vocab -> .., pp", 4),
        ("dp = 2", "params { embed -> dp }", 1),
    ],
)
def test_devices_share_the_work(mesh: str, partition: str, shards: int):
    """All of it, or none where nothing of the work is split. (Stages compute anew what they hand on, not counted.)"""
    whole = counted(placed("dp = 1", "data(dp)", SMALL), remat="none")
    there = placed(mesh, partition, SMALL)
    deriver = Deriver(there, Settings(remat="none"))
    own = sum(
        operations(deriver, p) * (1 if there.pipeline is None else _once(deriver, p)) for p in products(flatten(there))
    )
    assert own == pytest.approx(sum(whole.values()) / shards)


def _once(deriver: Deriver, product) -> float:
    """The share that is not computed anew."""
    anew = deriver.runs_again(product.item)
    return 3 / (3 + anew)


def test_what_is_computed_again_counts():
    full, none = (counted(placed("dp = 1", "data(dp)", SMALL), remat=remat) for remat in ("full", "none"))
    assert full["Llama.block.mlp.gate"] == none["Llama.block.mlp.gate"] * 4 / 3
    assert full["Llama.logits"] == none["Llama.logits"]


MOE = """mesh {{ {mesh} }}
mesh experts = regroup({group}) {{ edp = {edp}, ep = {ep} }}
dims {{ batch = 8, seq = 16, embed = 16, mlp = 32, experts = 8, vocab = 64 }}
model Sparse(tokens: [batch, seq] of vocab) {{
  param table: vocab -> embed
  param router: embed -> experts
  param up: [experts] embed -> mlp
  param down: [experts] mlp -> embed
  x = table[tokens]
  routed = route(x, by = softmax(x @ router, over = experts), top_k = 2)
  h = gelu(routed @ up)
  loss next_token(combine(h @ down, routed) @ table, tokens)
}}
partition {{
  fsdp(dp)
  expert(ep)
}}
"""


@pytest.mark.parametrize(("edp", "ep"), [(1, 4), (2, 2), (4, 1)])
def test_experts_share_tokens(edp: int, ep: int):
    """2 of 8 experts for each of 128 tokens, on 4 devices in even shares."""
    program, found = resolve(SourceFile("m.mesh", MOE.format(mesh="dp = 4", group="dp", edp=edp, ep=ep)))
    assert program is not None, found
    result, more = place(program)
    assert more == []
    assert counted(result, remat="none")["Sparse.up"] == 3 * 2 * 8 * 16 * 2 * 16 * 32 / 4
