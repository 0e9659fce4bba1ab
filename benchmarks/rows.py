"""What a benchmark yields: a number, its spread, the bound it must keep; printed as a table or JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Row:
    """One figure. `bound` is the largest it may be (None: for information); it is judged to the bound's decimals.

    `spread` is (smallest, largest) of the repetitions that `value` is the median of.
    """

    section: str
    name: str
    value: float
    bound: float | None = None
    unit: str = "x"
    spread: tuple[float, float] | None = None
    note: str = ""
    decimals: int = 2

    @property
    def holds(self) -> bool:
        return self.bound is None or round(self.value, self.decimals) <= self.bound


def ratio_row(section: str, name: str, ours: Sequence[float], theirs: Sequence[float], bound: float | None) -> Row:
    """The ratio of the medians of interleaved repetitions; the spread is that of the pairs' ratios."""
    pairs = [a / b for a, b in zip(ours, theirs, strict=True)]
    note = f"{seconds(ours)} against {seconds(theirs)}"
    return Row(section, name, median(ours) / median(theirs), bound, "x", (min(pairs), max(pairs)), note)


def seconds(times: Sequence[float]) -> str:
    """Median and range, in ms or s."""
    factor, unit = (1e3, "ms") if median(times) < 1 else (1, "s")
    return f"{median(times) * factor:.3g} ({min(times) * factor:.3g}-{max(times) * factor:.3g}) {unit}"


def table(rows: Sequence[Row]) -> str:
    """Columns: figure, value, bound, spread, note; a line before each section."""
    cells = [_cells(row) for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(4)]
    lines, section = [], None
    for row, texts in zip(rows, cells, strict=True):
        if row.section != section:
            section = row.section
            lines += ["", section]
        aligned = [texts[0].ljust(widths[0]), *(t.rjust(w) for t, w in zip(texts[1:4], widths[1:], strict=True))]
        lines.append("  " + "  ".join([*aligned, texts[4]]).rstrip())
    broken = sum(not row.holds for row in rows)
    return "\n".join([*lines[1:], "", f"{len(rows)} figures, {broken or 'none'} above the bound"])


def _cells(row: Row) -> tuple[str, str, str, str, str]:
    bound = "" if row.bound is None else f"<= {row.bound:g}{'' if row.holds else '  BROKEN'}"
    spread = "" if row.spread is None else f"{row.spread[0]:.2f}-{row.spread[1]:.2f}"
    return row.name, f"{row.value:.{row.decimals}f} {row.unit}", bound, spread, row.note


def as_json(rows: Sequence[Row]) -> str:
    return json.dumps([{**asdict(row), "holds": row.holds} for row in rows], indent=2)
