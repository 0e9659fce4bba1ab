"""The loop: from a program, data and a run directory to trained weights, a checkpoint and a curve."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import jax

from .canonical import Layout, layout
from .checkpoint import Checkpoint, Position, Store, load_weights
from .data.batches import batches, open_source
from .data.sources import Source
from .disk import local_path
from .distributed import is_first
from .errors import UserError
from .interrupts import Interrupt, interrupts
from .metrics import EVENTS, FILE, Record, Report, record, report
from .program import Program, State

AT_THE_END = Checkpoint()


@dataclass(frozen=True)
class Result:
    """How a run ended: updates made, the last loss (None where no step was left to do), and where its files are."""

    step: int
    loss: float | None
    out: Path


def train(
    program: Program,
    *,
    steps: int,
    data: Source,
    out: str | Path,
    checkpoint: Checkpoint = AT_THE_END,
    seed: int = 0,
    resume: bool | Literal["auto"] = False,
    init_from: str | None = None,
    non_finite: Literal["stop", "continue"] = "stop",
) -> Result:
    """Makes updates up to number `steps`, those before a resume included, and saves the last state.

    out: the run directory: metrics.jsonl, tensorboard/, checkpoints/
    resume: go on from the newest complete checkpoint; True where there must be one, "auto" where there may be
    init_from: weights of another run, for a run that starts; the optimizer starts anew
    non_finite: what to do where the loss or the gradient norm is not a number

    Ctrl-C or SIGTERM ends the step, saves, and exits with 130 or 143; a second one stops at once. Raises `UserError`.
    """
    out = Path(out).expanduser()
    samples = open_source(data, program, seed)
    kept = out / local_path(checkpoint.dir)
    store = Store(kept, checkpoint.keep)
    shapes = layout(program, seed)
    _say(_header(program, shapes, data))
    state, start = _start(program, shapes, store, seed, resume, init_from)
    if start.step:
        _say(_resumed(program, data, start))
    if start.step >= steps:
        _say(f"already at step {start.step}; --steps {steps} asks for no more")
        return Result(start.step, None, out)
    run = _Run(program, shapes, store, checkpoint, start, steps, non_finite, str(data))
    try:
        with interrupts() as interrupt, report(out, start.step, steps) as written:
            with batches(program, samples, start.samples, steps - start.step) as stream:
                run.steps(state, stream, written, interrupt)
            store.finish()
    finally:
        store.close()
    if interrupt.number is not None:
        print(f"stopped by {interrupt.name} after step {run.step}; --resume goes on from there", file=sys.stderr)
        raise SystemExit(128 + interrupt.number)
    loss = float(run.last["loss"])
    _say(f"step {run.step}  loss {loss:.4f}  in {time.perf_counter() - run.began:.1f} s")
    _say(f"metrics     {out / FILE}, tensorboard --logdir {out / EVENTS}\ncheckpoint  {kept / str(run.step)}")
    return Result(run.step, loss, out)


def _start(
    program: Program, shapes: Layout, store: Store, seed: int, resume: bool | str, init_from: str | None
) -> tuple[State, Position]:
    """The state before the first step: drawn, taken over or restored."""
    newest = store.latest()
    if resume and newest is not None:
        state, position = store.restore(shapes, newest)
        if position.seed != seed:
            raise UserError(
                f"the checkpoint was made with seed {position.seed}, this run has seed {seed}",
                "data and dropout follow from the seed: keep it, or start another run",
            )
        return state, position
    if resume is True:
        raise UserError(f"nothing to resume: no checkpoint in `{store.directory}`", "leave out --resume to start")
    if newest is not None:
        raise UserError(
            f"`{store.directory}` holds a run, up to step {newest}",
            "--resume goes on with it, another --out starts anew",
        )
    state = program.init(seed)
    if init_from is not None:
        jax.tree.map(lambda array: array.delete(), state.weights)  # the room of one set of weights is enough
        state = state._replace(weights=load_weights(init_from, shapes))
    return state, Position(seed=seed)


@dataclass
class _Run:
    """The steps of one run, and where it is."""

    program: Program
    shapes: Layout
    store: Store
    checkpoint: Checkpoint
    start: Position
    until: int
    non_finite: str
    data: str
    step: int = 0
    last: Record = field(default_factory=dict)
    began: float = field(default_factory=time.perf_counter)
    mark: float = field(default_factory=time.perf_counter)  # when the step before ended

    def steps(self, state: State, stream: Iterator[dict[str, jax.Array]], written: Report, stop: Interrupt) -> None:
        """One step is handed to the devices before the one before it is waited for: they need not idle between."""
        running: dict[str, jax.Array] | None = None
        for step, batch in enumerate(stream, self.start.step + 1):
            self.step = step
            state, metrics = self.program.step(state, batch)
            if running is not None:
                self._conclude(self.step - 1, running, written)
            running = metrics
            if self._saves() or stop.number is not None:
                self._conclude(self.step, running, written)
                running = None
                self.store.save(self.shapes, state, self._position())
                self.mark = time.perf_counter()  # saving is no part of the next step
            if stop.number is not None:
                return

    def _conclude(self, step: int, metrics: dict[str, jax.Array], written: Report) -> None:
        """Waits for the step to end, and reports it."""
        values: dict[str, Any] = jax.device_get(metrics)
        now = time.perf_counter()
        self.last = record(step, values, self.program.tokens_per_step, now - self.mark)
        self.mark = now
        written.write(self.last)
        for name in ("loss", "grad_norm"):
            if self.non_finite == "stop" and not math.isfinite(self.last[name]):
                raise UserError(f"`{name}` is {self.last[name]} at step {step}", self._after_non_finite())

    def _after_non_finite(self) -> str:
        self.store.finish()
        newest = self.store.latest()
        saved = "no checkpoint was written" if newest is None else f"the last checkpoint is of step {newest}"
        return f"lower the learning rate or clip gradients; {saved}; non_finite: continue goes on regardless"

    def _saves(self) -> bool:
        every = self.checkpoint.every
        return self.step == self.until or (every is not None and self.step % every == 0)

    def _position(self) -> Position:
        done = self.step - self.start.step
        samples = self.start.samples + done * self.program.batch_size
        return Position(self.step, samples, self.start.seed, self.program.spec_hash, self.data)


def _header(program: Program, shapes: Layout, data: Source) -> str:
    """What runs, on what."""
    devices = list(program.mesh.devices.flat)
    axes = " x ".join(f"{name} {size}" for name, size in program.mesh.shape.items()) or "one device"
    parameters = sum(math.prod(leaf.real_shape) for leaf in shapes.weights().values())
    lines = [
        f"devices     {len(devices)} x {devices[0].device_kind}, mesh {axes}",
        f"model       {program.name}, {parameters:,} parameters",
        f"data        {data}",
        f"a step      {program.batch_size} samples, {program.tokens_per_step:,} tokens",
    ]
    return "\n".join(lines)


def _resumed(program: Program, data: Source, start: Position) -> str:
    """From where, and what is not as it was; both may be meant."""
    lines = [f"resumed     at step {start.step}, sample {start.samples}"]
    if start.spec_hash != program.spec_hash:
        lines.append("note        the spec is not the one that this checkpoint was made with")
    if start.data != str(data):
        lines.append(f"note        the data were {start.data}")
    return "\n".join(lines)


def _say(text: str) -> None:
    if is_first():
        print(text, flush=True)
