"""python -m benchmarks [--only SECTION]... [--json FILE]: a table, and exit 1 where a bound is broken."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import against_expert, each_other, edited, lint
from benchmarks.rows import Row, as_json, table

SECTIONS = ("lint", "compiled", "timed", "partitions")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--only", action="append", choices=SECTIONS, help="a section; may be given several times")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="meshc-bench-") as directory:
        rows = list(_rows(given.only or SECTIONS, Path(directory)))
    print(table(rows))
    if given.json:
        given.json.write_text(as_json(rows), encoding="utf-8")
    return 0 if all(row.holds for row in rows) else 1


def _rows(sections: Sequence[str], directory: Path) -> Iterator[Row]:
    if "lint" in sections:
        yield from lint.cold()
        yield from lint.long_lines(directory)
        yield from edited.cold(directory)
        yield from edited.again(directory)
    if "compiled" in sections:
        yield from against_expert.compiled(directory)
    if "timed" in sections:
        yield from against_expert.timed(directory)
    if "partitions" in sections:
        yield from each_other.rows(directory)


if __name__ == "__main__":
    sys.exit(main())
