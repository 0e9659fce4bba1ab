"""How long `meshc lint` takes: cold, against the start of Python; and by the line, of long specs."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.long_specs import long_spec
from benchmarks.rows import Row, ratio_row

REPETITIONS, LONG_REPETITIONS = 9, 3
ROOT = Path(__file__).resolve().parents[1]
MODEL = ROOT / "specs" / "models" / "llama3_8b.mesh"
COLD = "from meshc.cli import main; main()"
IMPORTS = "import sys; from meshc.cli import cli; cli.main(['lint', {!r}], standalone_mode=False); print(*sys.modules)"
NEVER = {"jax", "jaxlib", "flax", "optax", "orbax", "numpy"}
"""What checking must not import: jax, and what takes as long."""


def cold() -> Iterator[Row]:
    """`meshc lint` in a new process, against `python -c pass` in another, in turn."""
    bare, lint = [], []
    for _ in range(REPETITIONS):
        bare.append(seconds_of([sys.executable, "-c", "pass"]))
        lint.append(seconds_of([sys.executable, "-c", COLD, "lint", str(MODEL)]))
    yield ratio_row("lint", "cold lint of llama3_8b against python -c pass", lint, bare, 15)
    command = [sys.executable, "-c", IMPORTS.format(str(MODEL))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found = NEVER & set(done.stdout.splitlines()[-1].split())
    yield Row("lint", "imports of jax and its like", len(found), 0, "", note=" ".join(sorted(found)), decimals=0)


def seconds_of(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    return time.perf_counter() - start


def long_lines(directory: Path) -> Iterator[Row]:
    """Time per line of 10,000 lines, against that of 1,000."""
    from meshc.driver import check
    from meshc.job.target import Request

    paths = {lines: directory / f"{lines}.mesh" for lines in (1_000, 10_000)}
    times: dict[int, list[float]] = {lines: [] for lines in paths}
    for lines, path in paths.items():
        path.write_text(long_spec(lines), encoding="utf-8")
    check(Request(str(paths[1_000]), None, ()))  # imports and the parse table
    for _ in range(LONG_REPETITIONS):
        for lines, path in paths.items():
            start = time.perf_counter()
            found = check(Request(str(path), None, ()))
            times[lines].append((time.perf_counter() - start) / lines)
            if found.failed:
                raise RuntimeError(f"{path}: {found.diagnostics[0].message}")
    yield ratio_row("lint", "a line of 10,000 against one of 1,000", times[10_000], times[1_000], 1.3)
    yield Row("lint", "lines a second, of 10,000", 1 / median(times[10_000]), unit="", decimals=0)
