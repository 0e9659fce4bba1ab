"""What a run says of itself: metrics.jsonl, tensorboard events, and a progress bar or plain lines. Only process 0 does.

metrics.jsonl has one object a step: `step` (updates made, from 1), `loss`, `grad_norm`, `learning_rate`, `tokens` (of
this step), `step_seconds`, `tokens_per_second`, and the spec's own metrics under their path. `step_seconds` is the time
between the ends of two steps, waiting for data included; the first one contains compilation.
"""

from __future__ import annotations

import json
import math
import os
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol

from .distributed import is_first
from .errors import UserError

FILE = "metrics.jsonl"
EVENTS = "tensorboard"
LINES = 50  # at most about so many plain lines, however long the run
FLUSH_SECONDS = 5.0

Record = dict[str, float | int]


def record(step: int, metrics: Mapping[str, Any], tokens: int, seconds: float) -> Record:
    """One step's object, in the order of the file."""
    values = {name: float(value) for name, value in metrics.items()}
    first = {name: values.pop(name) for name in ("loss", "grad_norm", "learning_rate")}
    timing = {"tokens": tokens, "step_seconds": seconds, "tokens_per_second": tokens / seconds}
    return {"step": step} | first | timing | values


class Sink(Protocol):
    def write(self, row: Record) -> None: ...
    def close(self) -> None: ...


class JsonLines:
    """metrics.jsonl, flushed after each step; what an earlier run wrote after `start` is cut off."""

    def __init__(self, out: Path, start: int) -> None:
        path = out / FILE
        kept = [line for line in _lines(path) if _step(line) <= start] if start else []
        replacement = path.with_suffix(".jsonl.tmp")
        replacement.write_text("".join(line + "\n" for line in kept))
        replacement.replace(path)
        self.file = path.open("a")

    def write(self, row: Record) -> None:
        finite = {name: value if math.isfinite(value) else None for name, value in row.items()}  # JSON has no NaN
        print(json.dumps(finite), file=self.file, flush=True)

    def close(self) -> None:
        self.file.close()


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def _step(line: str) -> float:
    """The step of a line; infinity where a killed run left it half written."""
    try:
        return json.loads(line)["step"]
    except (json.JSONDecodeError, KeyError, TypeError):
        return float("inf")


class Events:
    """Tensorboard event files. Written here and not in tensorboardX's thread, which blocks for ever on a full disk."""

    def __init__(self, out: Path, start: int) -> None:
        from tensorboardX.proto.event_pb2 import Event, SessionLog
        from tensorboardX.record_writer import RecordWriter

        folder = out / EVENTS
        folder.mkdir(parents=True, exist_ok=True)
        # tensorboard reads the files of a folder in the order of their names; the end keeps two of one second apart.
        name = f"events.out.tfevents.{int(time.time()):010}.{socket.gethostname()}.{os.getpid()}.{start}"
        self.event, self.writer = Event, RecordWriter(str(folder / name))
        self.flushed = time.monotonic()
        self._write(step=0, file_version="brain.Event:2")
        # Tells tensorboard to forget what an interrupted run logged from here on.
        self._write(step=start + 1, session_log=SessionLog(status=SessionLog.START))

    def _write(self, **fields: Any) -> None:
        self.writer.write(self.event(wall_time=time.time(), **fields).SerializeToString())

    def write(self, row: Record) -> None:
        from tensorboardX.proto.summary_pb2 import Summary

        values = [Summary.Value(tag=name, simple_value=value) for name, value in row.items() if name != "step"]
        self._write(step=int(row["step"]), summary=Summary(value=values))
        if time.monotonic() - self.flushed > FLUSH_SECONDS:
            self.writer.flush()
            self.flushed = time.monotonic()

    def close(self) -> None:
        self.writer.close()


class Bar:
    """A progress bar with loss and tokens/s, for a terminal."""

    def __init__(self, start: int, steps: int) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self.progress = Progress(
            TextColumn("step"),
            MofNCompleteColumn(),
            BarColumn(),
            TextColumn("loss {task.fields[loss]:.4f}"),
            TextColumn("{task.fields[rate]:,.0f} tokens/s"),
            TimeRemainingColumn(),
        )
        self.task = self.progress.add_task("", total=steps, completed=start, loss=float("nan"), rate=0.0)
        self.progress.start()

    def write(self, row: Record) -> None:
        self.progress.update(self.task, completed=row["step"], loss=row["loss"], rate=row["tokens_per_second"])

    def close(self) -> None:
        self.progress.stop()


class PlainLines:
    """A line now and then, for a log file: the first step, the last one, and evenly between."""

    def __init__(self, start: int, steps: int) -> None:
        self.start, self.steps = start, steps
        self.every = max(1, -(-(steps - start) // LINES))

    def write(self, row: Record) -> None:
        step = int(row["step"])
        if step in (self.start + 1, self.steps) or step % self.every == 0:
            speed = f"{row['tokens_per_second']:,.0f} tokens/s"
            print(f"step {step}/{self.steps}  loss {row['loss']:.4f}  {speed}", flush=True)

    def close(self) -> None:
        return None


class Report:
    """All that this process writes: nothing but on process 0. What the disk refuses is a `UserError`."""

    def __init__(self, out: Path, start: int, steps: int, stack: ExitStack) -> None:
        self.out = out
        self.sinks: list[Sink] = []
        if is_first():
            with writing(out):
                out.mkdir(parents=True, exist_ok=True)
                # Opened one by one, so that each is closed also where the next one fails.
                for opened in (JsonLines, Events):
                    self._add(opened(out, start), stack)
                self._add(Bar(start, steps) if sys.stdout.isatty() else PlainLines(start, steps), stack)

    def _add(self, sink: Sink, stack: ExitStack) -> None:
        self.sinks.append(sink)
        stack.callback(sink.close)

    def write(self, row: Record) -> None:
        with writing(self.out):
            for sink in self.sinks:
                sink.write(row)


@contextmanager
def report(out: Path, start: int, steps: int) -> Iterator[Report]:
    """The report of updates `start + 1` to `steps`."""
    stack = ExitStack()
    try:
        yield Report(out, start, steps, stack)
    finally:
        with writing(out):
            stack.close()


@contextmanager
def writing(out: Path) -> Iterator[None]:
    """A run directory that cannot be written is the user's to put right."""
    try:
        yield
    except OSError as problem:
        reason = problem.strerror or (os.strerror(problem.errno) if problem.errno else str(problem))
        where = problem.filename or out
        raise UserError(f"cannot write `{where}`: {reason}", "make room, or choose another --out") from None
