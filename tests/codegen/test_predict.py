"""What a model returns comes out of its program: whole arrays, the same on any mesh, without targets and dropout."""

from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from meshc import runtime
from meshc.prove import child
from tests.codegen.programs import FEATURES, LLAMA, generated, running, spec

RETURNING = LLAMA.replace("loss next_token(logits, tokens)", "loss next_token(logits, tokens)\n  return logits")
DOUBLE = "train.precision={params: float64, compute: float64}"


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


def program(directory: Path, text: str, *sets: str) -> Any:
    return running(generated(directory, text, *sets, DOUBLE))


def loss_of(logits: np.ndarray, tokens: np.ndarray) -> float:
    """Mean cross entropy of each next token."""
    logits, targets = logits[..., :-1, :], tokens[..., 1:]
    logs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    return -np.take_along_axis(logs, targets[..., None], -1).mean()


@pytest.mark.parametrize("sets", [(), ("train.microsteps=2",)])
def test_logits_are_those_of_the_loss(tmp_path: Path, sets: tuple[str, ...]):
    built = program(tmp_path, spec({"f": 2}, "fsdp(f)", RETURNING), *sets)
    state, batch = built.init(0), child.batch(built, 0)
    logits = np.asarray(built.predict(state, {"tokens": batch["tokens"]})["logits"])
    assert logits.shape == (*batch["tokens"].shape, 32)
    loss, _ = built.grads(state, batch)
    np.testing.assert_allclose(loss_of(logits, np.asarray(batch["tokens"])), loss, rtol=1e-12)


def test_outputs_on_four_devices_and_on_one(tmp_path: Path):
    """With dropout in training, and none here."""
    found = []
    for name, size in (("mesh", 2), ("one", 1)):
        text = spec({"f": size, "t": size}, "fsdp(f); tensor(t, sequence = true)", RETURNING, ", rate = 0.5")
        built = program(tmp_path / name, text)
        (logits,) = built.predict(built.init(0), child.batch(built, 0)).values()
        assert {s.data.shape for s in logits.addressable_shards} == {(8 // size, 8, 32 // size)}
        found.append(np.asarray(logits))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-10, atol=1e-12)
    plain = program(tmp_path / "plain", spec({"f": 1}, "fsdp(f)", RETURNING))
    expected = plain.predict(plain.init(0), child.batch(plain, 0))["logits"]
    np.testing.assert_allclose(found[1], expected, rtol=1e-10, atol=1e-12)


def test_a_model_with_state_and_repeats_in_its_way(tmp_path: Path):
    """The state is read and stays what it was; what the spec leaves unnamed has the name that it has in the program."""
    text = FEATURES.replace(
        "loss next_token(x @ head, tokens)", "loss next_token(x @ head, tokens)\n  return x @ head, x"
    )
    built = program(tmp_path, spec({"f": 2}, "fsdp(f)", text), "train.microsteps=2")
    state, batch = built.init(0), child.batch(built, 0)
    before = {path: np.asarray(value) for path, value in state.carried.items()}
    made = built.predict(state, batch)
    assert {name: value.shape for name, value in made.items()} == {"head": (2, 4, 8, 32), "x": (2, 4, 8, 16)}
    head = np.asarray(state.weights["Llama.head"])
    np.testing.assert_allclose(made["head"], np.asarray(made["x"]) @ head, rtol=1e-10, atol=1e-12)
    assert all((np.asarray(state.carried[path]) == value).all() for path, value in before.items())


def test_a_model_that_returns_nothing_predicts_nothing(tmp_path: Path):
    assert program(tmp_path, spec({"f": 2}, "fsdp(f)")).predict is None


@pytest.mark.parametrize("sets", [(), ("train.microsteps=2",)])
def test_padding_is_no_part_of_outputs(tmp_path: Path, sets: tuple[str, ...]):
    text = spec({"f": 2, "t": 4}, "fsdp(f); tensor(t)", RETURNING, vocab="pad(30, 16)", heads="4", kv_heads="4")
    built = program(tmp_path, text, *sets)
    state, batch = built.init(0), child.batch(built, 0)
    logits = np.asarray(built.predict(state, batch)["logits"])
    assert logits.shape == (*batch["tokens"].shape, 30)
    np.testing.assert_allclose(loss_of(logits, np.asarray(batch["tokens"])), built.grads(state, batch)[0], rtol=1e-12)


PIPELINES = [
    "pipeline(p, microbatches = 4); fsdp(f)",
    'pipeline(p, microbatches = 4, schedule = "gpipe"); tensor(f)',
    'pipeline(p, microbatches = 2, schedule = "interleaved", rounds = 2); fsdp(f)',
    'pipeline(p, microbatches = 1, schedule = "gpipe", stages = [3, 1]); fsdp(f)',
    "pipeline(p, microbatches = 4, stages = [1, 3]); ring(f)",
]


@pytest.mark.parametrize("partition", [PIPELINES[0], *(pytest.param(p, marks=pytest.mark.slow) for p in PIPELINES[1:])])
def test_outputs_of_a_pipeline_are_those_of_one_device(tmp_path: Path, partition: str):
    """Of all microbatches, in order; without dropout and targets."""
    text = spec({"p": 2, "f": 2}, partition, RETURNING, ", rate = 0.5", layers="4")
    built = program(tmp_path / "mesh", text)
    tokens = np.random.default_rng(0).integers(0, 32, (8, 8), dtype=np.int32)
    (logits,) = built.predict(built.init(0), runtime.put(built, {"tokens": tokens})).values()
    one = program(tmp_path / "one", spec({"p": 1, "f": 1}, "fsdp(f)", RETURNING, layers="4"))
    expected = one.predict(one.init(0), {"tokens": tokens})["logits"]
    np.testing.assert_allclose(np.asarray(logits).reshape(8, 8, 32), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.slow
def test_microsteps_of_a_pipeline(tmp_path: Path):
    text = spec({"p": 2, "f": 2}, "pipeline(p, microbatches = 2); data(f)", RETURNING)
    built = program(tmp_path, text, "train.microsteps=2")
    state, batch = built.init(0), child.batch(built, 0)
    logits = np.asarray(built.predict(state, batch)["logits"])
    tokens = np.asarray(batch["tokens"])
    assert logits.shape == (*tokens.shape, 32)
    np.testing.assert_allclose(loss_of(logits, tokens), built.grads(state, batch)[0], rtol=1e-12)


@pytest.mark.parametrize(
    "partition", ["fsdp(f); ring(s)", pytest.param("fsdp(f); gather_kv(s)", marks=pytest.mark.slow)]
)
def test_outputs_are_in_natural_order(tmp_path: Path, partition: str):
    """Whatever the order of the sequence is on devices."""
    found = []
    for name, size in (("mesh", 2), ("one", 1)):
        built = program(tmp_path / name, spec({"f": size, "s": size}, partition, RETURNING))
        tokens = np.random.default_rng(0).integers(0, 32, (8, 8), dtype=np.int32)
        batch = runtime.put(built, {"tokens": tokens})
        found.append(np.asarray(built.predict(built.init(0), batch)["logits"]))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-10, atol=1e-12)
