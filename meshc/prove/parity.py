"""Parity: two runs of one model, on a mesh and on one device, compared number by number.

Only numpy here; the runs are made in a child process (child.py). The bounds are those of float64 with the
summation order of a mesh; a gradient is compared by norm and beside the norm of all of them, for one that is zero in
theory is noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from meshc.prove.model import Measure

INITIAL = 1e-13
LOSS = 1e-10
GRADIENT = 1e-8
"""Of |g| + 0.01 |all g|, which is `|d| <= 1e-8 |g| + 1e-10 |all g|`."""
PARAMETER = 1e-9
METRIC = 1e-8
"""Of what a step logs besides its loss, as of gradients: of its own norm over the steps and 0.01 of all metrics'."""
OPTIMIZER_LOSS = 1e-8
"""After steps of the spec's own optimizer: Adam divides rounding by a gradient that is nearly zero."""
SINGLE_LOSS = 1e-5
"""Of a float32 run."""

ROUNDED = 10
"""How many times more two orders of summation may differ than numbers moved to their neighbours change things.

On a mesh sums are added up in another order: every number on the way is rounded anew. So it is where each weight and
input is moved to the next number beside it. What that changes on one device is measured, and is as much as a mesh does:
of specs/zoo and specs with experts the mesh's gradients were away 0.03 to 0.7 times as far.
"""
DRAWS = 3
"""How often numbers are moved; the largest change counts."""

Arrays = Mapping[str, np.ndarray]
Floor = Callable[[], float]
"""The change that is measured for `rounding`: only where something fails without it."""


def losses(
    claim: str, mesh: Sequence[float], one: Sequence[float], bound: float, floor: Floor | None = None
) -> list[Measure]:
    """Relative difference of each step's loss."""

    def measured(rounded: float) -> list[Measure]:
        return [
            Measure(claim, f"step {i}", _share(abs(a - b), abs(b) + rounded / bound), bound)
            for i, (a, b) in enumerate(zip(mesh, one, strict=True), 1)
        ]

    return _beyond_rounding(measured, floor, bound * max(1.0, *map(abs, one)))


def arrays(claim: str, mesh: Arrays, one: Arrays, bound: float, floor: Floor | None = None) -> list[Measure]:
    """Each array's difference by norm, of its own norm and a hundredth of all arrays' together."""
    if missing := set(mesh) ^ set(one):
        return [Measure(claim, f"{path} (only in one of them)", float("inf"), bound) for path in sorted(missing)]
    whole = norm(one.values())

    def measured(rounded: float) -> list[Measure]:
        scale = 0.01 * whole + rounded / bound
        return [Measure(claim, path, _relative(mesh[path], one[path], scale), bound) for path in one]

    return _beyond_rounding(measured, floor, bound * 0.01 * max(1.0, whole))


def _beyond_rounding(measured: Callable[[float], list[Measure]], floor: Floor | None, most: float) -> list[Measure]:
    found = measured(0.0)
    return found if floor is None or all(m.holds for m in found) else measured(rounding(floor(), most))


def rounding(moved: float, most: float) -> float:
    """What of a difference is rounding, where numbers moved to their neighbours change things by `moved`.

    Nothing, where that is more than `most`: then something was chosen otherwise (another expert).
    """
    return ROUNDED * moved if moved <= most else 0.0


def distance(a: Arrays, b: Arrays) -> float:
    """Between all arrays of one and of the other, by norm."""
    return norm(a[path].astype(np.float64) - b[path] for path in b)


def norm(values: Iterable[np.ndarray]) -> float:
    return float(np.sqrt(sum(np.sum(np.square(v, dtype=np.float64)) for v in values)))


def _relative(a: np.ndarray, b: np.ndarray, scale: float) -> float:
    if a.shape != b.shape:
        return float("inf")
    return _share(norm([a.astype(np.float64) - b.astype(np.float64)]), norm([b]) + scale)


def _share(difference: float, scale: float) -> float:
    return difference / scale if scale else difference
