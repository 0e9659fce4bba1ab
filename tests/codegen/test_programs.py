"""Generated programs run, and say on a mesh what they say on one device. The zoo's are proven in tests/prove."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from meshc.prove import child
from tests.codegen.programs import FEATURES, generated, running, spec

NESTED = """import "std/llama.mesh"

mesh {{ {mesh} }}

dims {{
  {dims}
  outer = 2
}}

layer Group(x: [batch, seq, embed]) {{
  state hits: [embed] = zeros
  repeat layers {{ x = LlamaBlock(x, rate = 0.1) }}
  hits := hits + mean(mean(square(x), over = seq), over = batch)
  return x
}}

model Llama(tokens: [batch, seq] of vocab) {{
  param table: vocab -> embed
  x = table[tokens]
  repeat outer {{
    param bias: [embed] = normal(0.1)
    x = Group(x)
    repeat layers {{
      param gain: [embed] = normal(1.0)
      x = x + SwiGLU(RMSNorm(x)) * gain
    }}
    x = x + bias
  }}
  metric size = mean(square(x), over = embed)
  loss next_token(x @ table, tokens)
}}

partition {{
  {partition}
}}
"""


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


def pair(directory: Path, text: str, mesh: dict[str, int], partition: str, *sets: str) -> tuple[Any, Any]:
    """The program of a spec on a mesh, and on one device."""
    sets = (*sets, "train.precision={params: float64, compute: float64}")
    programs = []
    for name, axes in (("mesh", mesh), ("one", dict.fromkeys(mesh, 1))):
        programs.append(running(generated(directory / name, spec(axes, partition, text), *sets)))
    return programs[0], programs[1]


def largest(found: Mapping[str, jax.Array | np.ndarray], expected: Mapping[str, jax.Array | np.ndarray]) -> float:
    """The largest difference, as a share of the largest value of its tensor."""
    assert found.keys() == expected.keys()
    return max(
        (
            float(
                np.abs(np.asarray(a) - np.asarray(expected[path])).max()
                / (np.abs(np.asarray(expected[path])).max() + 1e-30)
            )
            for path, a in found.items()
        ),
        default=0.0,
    )


@pytest.mark.slow
@pytest.mark.parametrize(("text", "sets"), [(FEATURES, ()), (FEATURES, ("train.microsteps=2",)), (NESTED, ())])
def test_features_on_four_devices_and_on_one(tmp_path: Path, text: str, sets: tuple[str, ...]):
    """State, metrics and losses in repeats, repeats in repeats, weights of a repeat, a primitive, dropout."""
    many, one = pair(tmp_path, text, {"f": 2, "t": 2}, "fsdp(f); tensor(t, sequence = true)", *sets)
    states = many.init(0), one.init(0)
    assert largest(states[0].weights, states[1].weights) == 0
    (_, grads), (_, expected) = (p.grads(s, child.batch(p, 0)) for p, s in zip((many, one), states, strict=True))
    assert largest(grads, expected) < 1e-10
    for step in range(2):
        (a, metrics), (b, expected) = (
            p.step(s, child.batch(p, step)) for p, s in zip((many, one), states, strict=True)
        )
        states = a, b
        assert largest(metrics, expected) < 1e-8 and len(metrics) > 3
        assert largest(a.carried, b.carried) < 1e-8
    assert any(np.asarray(x).any() for x in states[0].carried.values())


def test_the_optimizer_changes_what_its_groups_say(tmp_path: Path):
    job = 'train: {steps: 4, optimizer: {name: sgd, groups: [{match: "Llama.table", frozen: true}]}}'
    program = running(generated(tmp_path, spec({"f": 2}, "fsdp(f)"), job=job))
    before = program.init(0)
    held = {path: np.asarray(w) for path, w in before.weights.items()}
    after, _ = program.step(before, child.batch(program, 0))
    same = {path for path, w in after.weights.items() if (np.asarray(w) == held[path]).all()}
    assert same == {"Llama.table"}
