"""Each spec of specs/models computes what its reference in `transformers` does, from the same weights, in float32.

The spec is taken as it is, with smaller sizes and on one device; the reference's side are the fixtures beside, made by
make.py. The full-size spec has as many parameters as the reference's, and lints clean on the slice that it names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from meshc.cost.report import Report
from meshc.driver import Checked, check, compile_program, formatted
from meshc.job.target import Request
from meshc.prove import child
from tests.reference import weights

ROOT = Path(__file__).parents[2]
HOME = Path(__file__).parent
SPECS = {path.stem: path for path in sorted((ROOT / "specs" / "models").glob("*.mesh"))}
REFERENCE = json.loads((HOME / "parameters.json").read_text(encoding="utf-8"))["parameters"]
ATOL = 1e-4

PLAIN = "batch=4 seq=24 vocab=48 embed=16 heads=4 mlp=24"
GROUPED = f"{PLAIN} kv_heads=2 head_dim=16"
SMALL = {
    "llama2_7b": (weights.LLAMA, f"{PLAIN} head_dim=4 layers=2"),
    "llama3_8b": (weights.LLAMA, f"{GROUPED} layers=2"),
    "llama31_70b": (weights.LLAMA, f"{GROUPED} layers=2"),
    "gptj_6b": (weights.GPTJ, f"{PLAIN} embed=32 heads=2 head_dim=16 rotary_dim=8 layers=2"),
    "gpt2_xl": (weights.GPT2, f"{PLAIN} head_dim=4 layers=2"),
    "roberta_large": (weights.ROBERTA, f"{PLAIN} head_dim=4 layers=2"),
    "mixtral_8x7b": (weights.MIXTRAL, f"{GROUPED} layers=2"),
    "qwen3_8b": (weights.QWEN3, f"{GROUPED} layers=2"),
    "qwen3_30b_a3b": (weights.QWEN3_MOE, f"{GROUPED} layers=2 experts=8 active=3"),
    "gemma2_9b": (weights.GEMMA2, f"{GROUPED} pairs=2 window=5"),
    "gemma3_27b": (weights.GEMMA3, f"{GROUPED} groups=1 near=5 last=2 window=5"),
    "deepseek_v3": (
        weights.DEEPSEEK,
        f"{PLAIN} q_lora=12 kv_lora=8 nope_dim=8 rope_dim=16 v_dim=6 dense_mlp=24 mlp=12 dense_layers=1 layers=2 "
        "experts=16 active=3 expert_groups=4 active_groups=2",
    ),
    "gpt_oss_20b": (weights.GPT_OSS, f"{GROUPED} pairs=1 window=5 experts=8 active=3"),
}
# RoBERTa's table of positions has two rows that no token uses.
MORE_THERE = {"roberta_large": 2 * 1024}


def test_every_spec_has_its_reference():
    assert set(SPECS) == set(SMALL) == set(REFERENCE)


def test_fixtures_are_small():
    assert sum(path.stat().st_size for path in HOME.iterdir() if path.suffix in (".npz", ".json")) < 1e6


# ---------------------------------------------------------------- logits


def built(directory: Path, text: str, sizes: str, axis_size: int) -> Any:
    """The program of a spec with some sizes, each axis of the mesh of the same one."""
    axes = [f"mesh.{axis}={axis_size}" for axis in _axes(text)]
    path = directory / "small.mesh"
    path.write_text(text, encoding="utf-8")
    sets = (*sizes.split(), *axes, "train.precision={params: float32, compute: float32}")
    compiled, problems = compile_program(Request(str(path), None, _last_of_each(sets)))
    assert compiled is not None, [f"{d.code} {d.message}" for d in problems]
    program = directory / "train.py"
    program.write_text(compiled.files["train.py"], encoding="utf-8")
    return child.build(str(program))


def _axes(text: str) -> Iterator[str]:
    """Names of all axes that a spec declares."""
    for block in re.findall(r"^mesh[^{]*\{([^}]*)\}", text, re.MULTILINE):
        yield from re.findall(r"^\s*(\w+)\s*=", block, re.MULTILINE)


def _last_of_each(sets: tuple[str, ...]) -> tuple[str, ...]:
    return tuple({setting.partition("=")[0]: setting for setting in sets}.values())


def predicted(program: Any, table: weights.Table, fixture: Any) -> np.ndarray:
    """Logits of the program with the reference's weights."""
    state = program.init.eval_shape(0)
    model = next(iter(state.weights)).partition(".")[0]
    entries = {f"{model}.{path}": entry for path, entry in table.items()}
    assert sorted(entries) == sorted((*state.weights, *state.carried))
    made = {path: _made(entries[path], fixture, shape) for path, shape in (state.weights | state.carried).items()}
    state = state._replace(
        weights={path: made[path] for path in state.weights}, carried={path: made[path] for path in state.carried}
    )
    return np.asarray(program.predict(state, {"tokens": jnp.asarray(fixture["tokens"])})["logits"])


def _made(entry: weights.Entry, fixture: Any, shape: jax.ShapeDtypeStruct) -> jax.Array:
    return jnp.asarray(entry(fixture, "").astype(shape.dtype).reshape(shape.shape))


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("axis_size", [1, 2], ids=["one", "mesh"])
def test_logits_are_the_references(tmp_path: Path, name: str, axis_size: int):
    """On one device, and with the spec's own partition on a mesh with two devices along each axis."""
    table, sizes = SMALL[name]
    fixture = np.load(HOME / f"{name}.npz")
    program = built(tmp_path, SPECS[name].read_text(encoding="utf-8"), sizes, axis_size)
    found = predicted(program, table, fixture)
    np.testing.assert_allclose(found, fixture["logits"], rtol=0, atol=ATOL)


# ---------------------------------------------------------------- full size


def checked(name: str) -> Checked:
    return check(Request(str(SPECS[name]), stated_slice(name)))


def explained(name: str) -> tuple[Report, int]:
    """What `meshc explain` tells of a training that keeps only what enters each layer; the memory of a chip."""
    settings = ("train.remat=full", "train.precision.compute=bfloat16")
    compiled, problems = compile_program(Request(str(SPECS[name]), stated_slice(name), settings), emit=False)
    assert compiled is not None, problems
    assert compiled.target.slice is not None
    return compiled.report, compiled.target.slice.hbm_bytes


def stated_slice(name: str) -> str:
    found = re.search(r" on ([a-z0-9]+-\d+)", SPECS[name].read_text(encoding="utf-8").partition("import")[0])
    assert found, "the comment at the top says on which slice"
    return found[1]


@pytest.mark.parametrize("name", SPECS)
def test_the_full_size_lints_clean_on_its_slice_and_has_the_published_parameters(name: str):
    found = checked(name)
    assert [f"{d.code} {d.message}" for d in found.diagnostics] == []
    assert found.placed is not None
    count = REFERENCE[name] - MORE_THERE.get(name, 0)
    assert f"{count:,}" in SPECS[name].read_text(encoding="utf-8").partition("import")[0]
    told, hbm = explained(name)
    assert told.parameters == count
    assert told.memory.total < 0.7 * hbm  # the rest is for what XLA needs besides: logits, gathered layers
    text, laid_out, problems = formatted(str(SPECS[name]))
    assert (laid_out, problems) == (text, [])
