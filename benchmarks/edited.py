"""A check of 10,000 lines, and one after an edit in 1,000, beside ruff and pyright on Python of the same length.

Times are of the processor; absolute ones depend on the machine and are printed, ratios of what is measured in one run
are bounded.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from benchmarks.lint import COLD
from benchmarks.long_specs import SHAPES, long_spec, python_text
from benchmarks.rows import Row, seconds

ROOT = Path(__file__).resolve().parents[1]
LONG, SHORT = 10_000, 1_000  # lines
REPETITIONS, EDITS = 3, 200


def cold(directory: Path) -> Iterator[Row]:
    """A new process for each: a spec of 10,000 lines, and ruff and pyright on Python of as many."""
    spec, python = directory / "long.mesh", directory / "long.py"
    spec.write_text(long_spec(LONG), encoding="utf-8")
    python.write_text(python_text(LONG), encoding="utf-8")
    commands = {
        "lint": [sys.executable, "-c", COLD, "lint", str(spec)],
        "ruff": [_tool("ruff"), "check", "--no-cache", "--isolated", str(python)],
        "pyright": [_tool("pyright"), "--pythonpath", sys.executable, str(python)],
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(REPETITIONS):
        for name, command in commands.items():
            times[name].append(_work(command))
    section = f"lint, {LONG:,} lines in a new process"
    yield Row(section, "seconds of a processor", min(times["lint"]), None, "s", note=seconds(times["lint"]))
    yield _beside(section, "against pyright on Python of as many lines", times["lint"], times["pyright"], 1)
    yield _beside(section, "against ruff on Python of as many lines", times["lint"], times["ruff"], None)
    for name, shape in SHAPES.items():
        path = directory / f"{name}.mesh"
        path.write_text(shape(LONG), encoding="utf-8")
        runs = [_work([sys.executable, "-c", COLD, "lint", str(path)]) for _ in range(REPETITIONS)]
        yield Row(section, f"many {name}, against many layers", min(runs) / min(times["lint"]), 3, note=seconds(runs))


def again(directory: Path) -> Iterator[Row]:
    """One edit after the other in 1,000 lines: the check after each, against a check of its own of the same text."""
    from meshc.driver import check
    from meshc.job.target import Request
    from meshc.session import Session
    from meshc.source import SourceFile

    text, random = long_spec(SHORT), Random(0)
    session = Session(Request("long.mesh"))
    session.check(text)
    head = text.index("layer ")
    times: dict[str, list[float]] = {"layers": [], "head": [], "alone": []}
    for number in range(EDITS):
        place, edited = _edit(text, random)
        start = time.process_time()
        session.check(edited)
        times["head" if place < head or place > text.index("partition {") else "layers"].append(
            time.process_time() - start
        )
        if number % 10 == 0:
            start = time.process_time()
            check(Request("long.mesh", source=SourceFile("long.mesh", edited)))
            times["alone"].append(time.process_time() - start)
    python = directory / "short.py"
    python.write_text(python_text(SHORT), encoding="utf-8")
    ruff = [_work([_tool("ruff"), "check", "--no-cache", "--isolated", str(python)]) for _ in range(REPETITIONS)]
    pyright = [_work([_tool("pyright"), "--pythonpath", sys.executable, str(python)]) for _ in range(REPETITIONS)]
    section = f"lint, an edit in {SHORT:,} lines"
    yield _beside(section, "of a layer or the model, against a check of its own", times["layers"], times["alone"], 0.2)
    yield Row(section, "99 of 100 are done in", _percentile(times["layers"], 0.99) * 1e3, None, "ms")
    yield Row(section, "of mesh, dims or partition", _percentile(times["head"], 0.5) * 1e3, None, "ms")
    yield _beside(section, "against ruff on Python of as many lines", times["layers"], ruff, None)
    yield _beside(section, "against pyright on Python of as many lines", times["layers"], pyright, 0.1)


def _edit(text: str, random: Random) -> tuple[int, str]:
    """A line somewhere, changed as someone types: its number, a comment behind it, or a line above it."""
    lines = text.splitlines(keepends=True)
    at = random.choice([i for i, line in enumerate(lines) if line.strip(" \n}")])
    line = lines[at].rstrip("\n")
    changed = random.choice(("\n" + line, line + "  # as in the paper", _longer(line)))
    return len("".join(lines[:at])), "".join([*lines[:at], changed + "\n", *lines[at + 1 :]])


def _longer(line: str) -> str:
    return line + " * 2.5" if " = silu" in line or "return" in line else line + " "


def _percentile(times: Sequence[float], share: float) -> float:
    return sorted(times)[min(int(len(times) * share), len(times) - 1)]


def _beside(section: str, name: str, ours: Sequence[float], theirs: Sequence[float], bound: float | None) -> Row:
    """The ratio of the best times: other work on the machine only ever adds to them."""
    return Row(section, name, min(ours) / min(theirs), bound, note=f"{seconds(ours)} against {seconds(theirs)}")


def _work(command: list[str]) -> float:
    """Processor seconds of a command, all its threads together: what else the machine does hardly changes them."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _tool(name: str) -> str:
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        raise RuntimeError(f"{name} is not installed beside {sys.executable}")
    return found
