"""Measures one case in a process with its devices: python -m benchmarks.child compile|steps TRAIN.py -- EXPERT'S FLAGS

Prints one JSON object. The expert's program runs with `--steps 0`, which sets it up and compiles it; then its names are
used.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import runpy
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax

from meshc.prove import child as programs
from meshc.prove.flops import product_flops
from meshc.prove.wire import collectives, total_bytes

EXPERT = Path(__file__).parent / "baseline" / "expert.py"
COMPILATIONS, STEPS, WARM_UP = 3, 9, 2


class Expert:
    """The hand-written program, set up."""

    def __init__(self, arguments: list[str]) -> None:
        sys.argv = [str(EXPERT), *arguments]
        with contextlib.redirect_stdout(io.StringIO()):
            names = runpy.run_path(str(EXPERT), run_name="__main__")
        self.mesh, self.train_step = names["mesh"], names["train_step"]
        self.state, self.batch = (names["params"], names["opt"]), names["b"]
        self.axes = {axis: size for axis, size in self.mesh.shape.items() if size > 1}

    def compile(self) -> jax.stages.Compiled:
        with jax.set_mesh(self.mesh):
            return self.train_step.lower(*self.state, *self.batch).compile()

    def step(self, compiled: jax.stages.Compiled) -> None:
        with jax.set_mesh(self.mesh):
            *state, loss = compiled(*self.state, *self.batch)
        self.state = tuple(state)
        float(loss)


class Generated:
    """The program that meshc wrote."""

    def __init__(self, path: str) -> None:
        self.program = programs.build(path)
        self.state, self.batch = self.program.init(0), programs.batch(self.program, 0)
        self.axes = dict(self.program.mesh.shape)

    def compile(self) -> jax.stages.Compiled:
        step: Any = self.program.step
        return step.lower(self.state, self.batch).compile()

    def step(self, compiled: Callable[..., Any]) -> None:
        self.state, metrics = compiled(self.state, self.batch)
        float(metrics["loss"])


def figures(program: Expert | Generated, compiled: jax.stages.Compiled) -> dict[str, float]:
    """Of one device and step. `xla_flops` is XLA's own count, which takes a loop's body once."""
    text, memory = compiled.as_text() or "", compiled.memory_analysis()
    costs: Any = compiled.cost_analysis()
    if memory is None:
        raise RuntimeError("this XLA does not tell how much memory a program takes")
    return {
        "flops": product_flops(text),
        "xla_flops": costs["flops"],
        "wire_bytes": total_bytes(collectives(text, program.axes)),
        "peak_bytes": memory.argument_size_in_bytes + memory.temp_size_in_bytes,
        "argument_bytes": memory.argument_size_in_bytes,
        "temp_bytes": memory.temp_size_in_bytes,
    }


def measure_compile(path: str, arguments: list[str]) -> dict[str, Any]:
    """What XLA says of both, and the seconds of tracing, lowering and compiling, the first of each pair in turn."""
    both = {"generated": Generated(path), "expert": Expert(arguments)}
    found: dict[str, Any] = {name: {"seconds": []} for name in both}
    for turn in range(COMPILATIONS):
        for name in list(both)[:: 1 if turn % 2 else -1]:
            program = both[name]
            jax.clear_caches()
            start = time.perf_counter()
            compiled = program.compile()
            found[name]["seconds"].append(time.perf_counter() - start)
            found[name] |= figures(program, compiled)
    return found


def measure_steps(path: str, arguments: list[str]) -> dict[str, Any]:
    """Seconds of interleaved steps, the first of each pair in turn, and how often the generated step was compiled."""
    both = {"generated": Generated(path), "expert": Expert(arguments)}
    with counted_compilations() as compilations:
        steps: dict[str, Any] = {"generated": both["generated"].program.step, "expert": both["expert"].compile()}
        found: dict[str, Any] = {name: {"seconds": []} for name in both}
        for turn in range(WARM_UP + STEPS):
            for name in list(both)[:: 1 if turn % 2 else -1]:
                start = time.perf_counter()
                both[name].step(steps[name])
                if turn >= WARM_UP:
                    found[name]["seconds"].append(time.perf_counter() - start)
    return {**found, "compilations": sum("jit(step)" in text for text in compilations)}


@contextlib.contextmanager
def counted_compilations():
    """The messages of what is compiled inside."""
    messages: list[str] = []

    class Collect(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if (text := record.getMessage()).startswith("Compiling "):
                messages.append(text)

    handler, logger = Collect(), logging.getLogger("jax")
    logger.addHandler(handler)
    jax.config.update("jax_log_compiles", True)
    try:
        yield messages
    finally:
        jax.config.update("jax_log_compiles", False)
        logger.removeHandler(handler)


def measure_alone(paths: list[str], steps: int = 0) -> list[dict[str, Any]]:
    """Figures of generated programs, and the seconds of interleaved steps of each."""
    programs_ = [Generated(path) for path in paths]
    compiled = [program.compile() for program in programs_]
    found: list[dict[str, Any]] = [figures(p, c) | {"seconds": []} for p, c in zip(programs_, compiled, strict=True)]
    for turn in range(WARM_UP + steps if steps else 0):
        order = range(len(programs_))[:: 1 if turn % 2 else -1]
        for i in order:
            start = time.perf_counter()
            programs_[i].step(compiled[i])
            if turn >= WARM_UP:
                found[i]["seconds"].append(time.perf_counter() - start)
    return found


if __name__ == "__main__" and sys.argv[1].startswith("alone"):
    print(json.dumps(measure_alone(sys.argv[2:], STEPS if sys.argv[1] == "alone-steps" else 0)))
elif __name__ == "__main__":
    what, train, _, *rest = sys.argv[1:]
    print(json.dumps({"compile": measure_compile, "steps": measure_steps}[what](train, rest)))
