"""Parity: two runs of one model, on a mesh and on one device, compared number by number.

Only numpy here; the runs are made in a child process (child.py). The bounds are those of float64 with the
summation order of a mesh; a gradient is compared by norm and beside the norm of all of them, for one that is zero in
theory is noise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from meshc.prove.model import Measure

INITIAL = 1e-13
LOSS = 1e-10
GRADIENT = 1e-8
"""Of |g| + 0.01 |all g|, which is `|d| <= 1e-8 |g| + 1e-10 |all g|`."""
PARAMETER = 1e-9
OPTIMIZER_LOSS = 1e-8
"""After steps of the spec's own optimizer: Adam divides rounding by a gradient that is nearly zero."""
SINGLE_LOSS = 1e-5
"""Of a float32 run."""

Arrays = Mapping[str, np.ndarray]


def losses(claim: str, mesh: Sequence[float], one: Sequence[float], bound: float) -> list[Measure]:
    """Relative difference of each step's loss."""
    return [
        Measure(claim, f"step {i}", abs(a - b) / abs(b) if b else abs(a), bound)
        for i, (a, b) in enumerate(zip(mesh, one, strict=True), 1)
    ]


def arrays(claim: str, mesh: Arrays, one: Arrays, bound: float) -> list[Measure]:
    """Each array's difference by norm, of its own norm and a hundredth of all arrays' together."""
    if missing := set(mesh) ^ set(one):
        return [Measure(claim, f"{path} (only in one of them)", float("inf"), bound) for path in sorted(missing)]
    whole = _norm(list(one.values()))
    return [Measure(claim, path, _relative(mesh[path], one[path], whole), bound) for path in one]


def _relative(a: np.ndarray, b: np.ndarray, whole: float) -> float:
    if a.shape != b.shape:
        return float("inf")
    difference = _norm([a.astype(np.float64) - b.astype(np.float64)])
    scale = _norm([b]) + 0.01 * whole
    return difference / scale if scale else difference


def _norm(values: Sequence[np.ndarray]) -> float:
    return float(np.sqrt(sum(np.sum(np.square(v, dtype=np.float64)) for v in values)))
