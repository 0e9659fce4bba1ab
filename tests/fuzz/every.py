"""python -m tests.fuzz.every: each spec under specs/ as it looks while it is typed, and with each of its tokens missing.

Every such text gives diagnostics and no exception, and at most three errors.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from meshc.driver import check
from meshc.job.target import Request
from tests.fuzz.corpus import ROOT, Seed
from tests.fuzz.examine import complaints

MOST = 3
"""Errors of a text that one typed so far, or in which one token is missing."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="every", description=__doc__)
    parser.add_argument("specs", nargs="*", type=Path, help="default: all under specs/")
    parser.add_argument("--letters", action="store_true", help="every prefix, not only those that end with a token")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args(arguments)
    paths = [path.resolve() for path in given.specs] or sorted((ROOT / "specs").rglob("*.mesh"))
    paths.sort(key=lambda path: -path.stat().st_size)
    tried = broken = 0
    with ProcessPoolExecutor(given.workers) as pool:
        for number, said in pool.map(of_spec, paths, [given.letters] * len(paths)):
            tried += number
            broken += len(said)
            print("\n".join(said), end="\n" if said else "", flush=True)
    print(f"{tried:,} texts of {len(paths)} specs: {broken} broken")
    return 1 if broken else 0


def of_spec(path: Path, letters: bool) -> tuple[int, list[str]]:
    """How many texts of a spec were tried, and what was wrong with them. Beside it lies what it imports."""
    said: list[str] = []
    tried = 0
    with tempfile.TemporaryDirectory(prefix="meshc-every-") as directory:
        shutil.copytree(path.parent, directory, dirs_exist_ok=True)
        for name, text in _texts(Seed(path.name, path.read_text(encoding="utf-8")), letters):
            tried += 1
            wrong = complaints(Seed(path.name, text), Path(directory)) or _too_many(Path(directory))
            said += [f"{path.relative_to(ROOT)}, {name}: {what}" for what in wrong]
    return tried, said


def _texts(seed: Seed, letters: bool) -> Iterator[tuple[str, str]]:
    text = seed.text
    ends = range(len(text)) if letters else [start for start, _ in seed.tokens]
    yield from ((f"its first {end} letters", text[:end]) for end in ends)
    for start, end in seed.tokens:
        yield f"without {text[start:end]!r} at {start}", text[:start] + text[end:]


def _too_many(directory: Path) -> list[str]:
    found = check(Request(str(directory / "spec.mesh"))).diagnostics
    errors = [f"{d.code} {d.message}" for d in found if d.severity == "error"]
    return [f"{len(errors)} errors: {'; '.join(errors)}"] if len(errors) > MOST else []


if __name__ == "__main__":
    sys.exit(main())
