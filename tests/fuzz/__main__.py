"""python -m tests.fuzz: changed specs and jobs through the whole checker; exit 1 where one breaks it.

A text is drawn from the seed and its number alone, so `--only NUMBER` does again what failed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.fuzz.examine import SLICES, complaints
from tests.fuzz.mutate import drawn

PIECE = 500


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=20_000, help="how many (default 20,000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", type=int, metavar="NUMBER", help="this one alone, and show its text")
    given = parser.parse_args(arguments)
    if given.only is not None:
        print(drawn(given.seed, given.only)[1].text)
        return _told(piece(given.seed, [given.only])[1])
    begin = time.monotonic()
    kinds: Counter[str] = Counter()
    failed = 0
    for counted, wrong in _pieces(given.seed, given.inputs, given.workers):
        kinds += counted
        failed += len(wrong)
        _told(wrong)
        if sum(kinds.values()) % 20_000 < PIECE:
            print(f"{sum(kinds.values()):,} inputs, {failed} broken, {time.monotonic() - begin:.0f} s", flush=True)
    counts = ", ".join(f"{count:,} of {kind}" for kind, count in sorted(kinds.items()))
    print(f"{sum(kinds.values()):,} inputs ({counts}) with seed {given.seed}: {failed} broken")
    return 1 if failed else 0


def _pieces(seed: int, inputs: int, workers: int) -> Iterator[tuple[Counter[str], list[str]]]:
    numbers = [range(begin, min(begin + PIECE, inputs)) for begin in range(0, inputs, PIECE)]
    with ProcessPoolExecutor(workers) as pool:
        yield from pool.map(piece, [seed] * len(numbers), numbers)


def piece(seed: int, numbers: Iterable[int]) -> tuple[Counter[str], list[str]]:
    """How many of each kind, and what was wrong."""
    kinds: Counter[str] = Counter()
    wrong = []
    with tempfile.TemporaryDirectory(prefix="meshc-fuzz-") as directory:
        for number in numbers:
            kind, text = drawn(seed, number)
            kinds[kind] += 1
            said = complaints(text, Path(directory), SLICES[number % len(SLICES)])
            wrong += [f"--seed {seed} --only {number} ({kind} of {text.name}): {what}" for what in said]
    return kinds, wrong


def _told(wrong: Sequence[str]) -> int:
    for line in wrong:
        print(line, flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
