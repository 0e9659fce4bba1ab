"""How fast each pair of rotary positions turns, and how models slow them for long sequences. Numbers, no arrays of jax.

A slowing is a function of the speeds, radians a position, of all pairs: float64 [pairs].
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

Slowing = Callable[[np.ndarray], np.ndarray]


def speeds(pairs: int, theta: float, scaling: Slowing | None = None) -> np.ndarray:
    """Radians a position of each pair: theta ** (-i / pairs) (RoFormer, arXiv:2104.09864, section 3.2.2)."""
    speed = theta ** (-np.arange(pairs, dtype=np.float64) / pairs)
    return speed if scaling is None else scaling(speed)


def linear(factor: float) -> Slowing:
    """All positions closer together (arXiv:2306.15595)."""
    return lambda speed: speed / factor


def llama3(factor: float, original: int, low: float = 1.0, high: float = 4.0) -> Slowing:
    """Slow by `factor` what turns fewer than `low` times in `original` positions, not what turns more than `high`
    times, and mix between by the number of turns (Llama 3.1).
    """

    def slowed(speed: np.ndarray) -> np.ndarray:
        turns = original * speed / (2 * math.pi)
        kept = np.clip((turns - low) / (high - low), 0, 1)
        return kept * speed + (1 - kept) * speed / factor

    return slowed


def yarn(factor: float, original: int, low: float = 1.0, high: float = 32.0, whole: bool = True) -> Slowing:
    """As `llama3`, but mixed by the pair's number (YaRN, arXiv:2309.00071, section 3.2).

    whole: the mixing begins and ends at whole pairs, the next ones outside
    """

    def slowed(speed: np.ndarray) -> np.ndarray:
        pairs = len(speed)
        per_pair = math.log(speed[0] / speed[1]) if pairs > 1 else 1.0
        first, last = (math.log(original / (2 * math.pi * turns)) / per_pair for turns in (high, low))
        if whole:
            first, last = math.floor(first), math.ceil(last)
        first, last = max(first, 0), min(last, 2 * pairs - 1)
        kept = 1 - np.clip((np.arange(pairs) - first) / max(last - first, 1e-3), 0, 1)
        return kept * speed + (1 - kept) * speed / factor

    return slowed
