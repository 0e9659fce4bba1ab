"""Programs with routed experts say on a mesh what they say on one device, in float64."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from meshc.prove import child
from tests.codegen.experts import SIGMOID, pair, text
from tests.codegen.test_programs import largest

MESHES = {
    "experts on the axis of the batch": ({"ep": 4}, "data(ep); expert(ep)", None),
    "tokens equal along the experts": ({"dp": 2, "ep": 4}, "fsdp(dp); expert(ep)", None),
    "a view, with tensor parallelism of its own": (
        {"dp": 4, "tp": 2},
        "fsdp(dp); tensor(tp, sequence = true); expert(ep, tensor = etp)",
        ("dp, tp", {"edp": 2, "ep": 2, "etp": 2}),
    ),
    "experts over three axes": (
        {"dp": 2, "cp": 2, "tp": 2},
        "fsdp(dp); data(cp); tensor(tp); expert(ep, tensor = etp)",
        ("dp, cp, tp", {"ep": 8, "etp": 1}),
    ),
    "an mlp over two axes": (
        {"dp": 2, "sp": 2, "tp": 2},
        "fsdp(dp); seq -> .., sp; tensor(tp); expert(ep, tensor = etp)",
        ("dp, sp, tp", {"ep": 2, "etp": 4}),
    ),
    "a part of each token to a device": (
        {"dp": 2, "wide": 2, "ep": 2},
        "data(dp); data(ep); embed -> wide; expert(ep)",
        None,
    ),
    "a sequence in zigzag order": (
        {"dp": 2, "cp": 4},
        "fsdp(dp); seq -> .., cp zigzag; expert(ep)",
        ("dp, cp", {"edp": 2, "ep": 4}),
    ),
}
ZIGZAG = "a sequence in zigzag order"
VIEW = "a view, with tensor parallelism of its own"


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


def agree(directory: Path, spec: str, *sets: str) -> tuple[Any, Any]:
    """Initial weights, the loss and every gradient; the programs."""
    many, one = pair(directory, spec, *sets)
    states = many.init(0), one.init(0)
    assert largest(states[0].weights, states[1].weights) == 0
    (loss, grads), (expected_loss, expected) = (
        p.grads(s, child.batch(p, 0)) for p, s in zip((many, one), states, strict=True)
    )
    assert float(loss) == pytest.approx(float(expected_loss), rel=1e-12)
    assert largest(grads, expected) < 1e-9
    assert all(np.asarray(g).any() for g in expected.values())
    return many, one


@pytest.mark.slow
@pytest.mark.parametrize("mesh", MESHES)
def test_on_every_mesh(tmp_path: Path, mesh: str):
    axes, partition, view = MESHES[mesh]
    programs = agree(tmp_path, text(axes, partition, view))
    if mesh == VIEW:
        after, expected = (p.step(p.init(0), child.batch(p, 0))[0] for p in programs)
        assert largest(after.carried, expected.carried) < 1e-12
        assert largest(after.carried, programs[1].init(0).carried) > 1e-3


WIDE = """mesh { dp = 2, wide = 2 }

dims { batch = 8, seq = 8, embed = 8, mlp = 16, vocab = 16, experts = 4 }

model Wide(tokens: [batch, seq] of vocab) {
  param table: vocab -> embed
  param router: embed -> experts
  param up: [experts] embed -> mlp
  param down: [experts] mlp -> embed
  x = table[tokens]
  routed = route(x, by = softmax(x @ router, over = experts), top_k = 2)
  loss 0.1 * load_balance(routed)
  loss next_token((x + combine(silu(routed @ up) @ down, routed)) @ table, tokens)
}

partition {
  data(dp)
  embed -> wide
}
"""


@pytest.mark.slow
def test_each_device_is_sent_a_part_of_a_token(tmp_path: Path):
    """Its scores are equal there, and the gradients of their uses are summed: those of the shares once."""
    agree(tmp_path, WIDE)


@pytest.mark.slow
@pytest.mark.parametrize("mesh", [VIEW, "an mlp over two axes"])
@pytest.mark.parametrize(
    "parts",
    [
        {"down_bias": ""},
        {"scores": SIGMOID, "options": "top_k = 3, scale = 2.5, groups = 4, top_groups = 2"},
        {"options": "top_k = 1"},
        {"options": "top_k = 2, normalise = false"},
        {"options": "top_k = 2, capacity = 0.75"},
    ],
    ids=lambda parts: next(iter(reversed(parts.values()))) or "no bias",
)
def test_with_every_option(tmp_path: Path, mesh: str, parts: dict[str, str]):
    axes, partition, view = MESHES[mesh]
    agree(tmp_path, text(axes, partition, view, **parts))


@pytest.mark.slow
def test_a_capacity_knows_no_order_of_devices(tmp_path: Path):
    axes, partition, view = MESHES[ZIGZAG]
    programs = agree(tmp_path, text(axes, partition, view, options="top_k = 2, capacity = 0.75"))
    told = [p.step(p.init(0), child.batch(p, 0))[1] for p in programs]
    dropped, expected = (float(metrics["Mixture.experts.routed.dropped"]) for metrics in told)
    assert dropped == pytest.approx(expected, rel=1e-12) and 0.25 <= dropped < 1  # there is room for 3/4 of all


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["train.remat=full", "train.remat=dots", "train.remat=none", "train.microsteps=2"])
def test_with_every_setting(tmp_path: Path, setting: str):
    axes, partition, view = MESHES[VIEW]
    agree(tmp_path, text(axes, partition, view, options="top_k = 2, capacity = 1.25"), setting)
