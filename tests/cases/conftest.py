"""Programs generated from small specs, each built once a session."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import jax
import numpy as np
import pytest

from meshc.driver import compile_program
from meshc.job.target import Request
from meshc.runtime.data.batches import drawn_inputs, put
from meshc.runtime.mesh import make_mesh
from meshc.runtime.program import Program, State

Build = Callable[..., Program]
Run = Callable[..., tuple[float, dict[str, np.ndarray]]]


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """`build(spec, "mesh.tp=2", …)`: the program of a spec with these sizes, on the first of the 8 devices."""
    built: dict[tuple[str, ...], Program] = {}

    def program(spec: str, *sets: str) -> Program:
        key = (spec, *sets)
        if key not in built:
            built[key] = _built(spec, sets, tmp_path_factory.mktemp("program"))
        return built[key]

    return program


@pytest.fixture(scope="session")
def run(build: Build) -> Run:
    """Loss and gradients, as numpy arrays, of a spec with these weights and tokens."""

    def run(spec: str, weights: dict[str, np.ndarray], tokens: np.ndarray, *sets: str):
        program = build(spec, *sets)
        placed = {
            path: jax.device_put(np.float32(w), jax.sharding.NamedSharding(program.mesh, program.placement[path]))
            for path, w in weights.items()
        }
        [name] = drawn_inputs(program)
        loss, grads = program.grads(State(np.int32(0), placed, {}, ()), put(program, {name: tokens}))
        return float(loss), {path: np.asarray(g) for path, g in grads.items()}

    return run


def _built(spec: str, sets: tuple[str, ...], directory: Path) -> Program:
    (directory / "spec.mesh").write_text(spec)
    compiled, problems = compile_program(Request(str(directory / "spec.mesh"), sets=sets))
    assert compiled is not None, problems
    for name, text in compiled.files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text)
    module = _imported(directory / "train.py")
    return module.build(make_mesh(module.MESH, jax.devices()[: int(np.prod(list(module.MESH.values()), initial=1))]))


def _imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"case_{path.parent.name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
