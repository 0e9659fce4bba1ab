"""What a slice is: chips, their memory and matrix rates, how they sit in hosts and on which links."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Platform = Literal["cpu", "tpu", "gpu"]
VIRTUAL = re.compile(r"cpu-(?:([1-9][0-9]*)x)?([1-9][0-9]*)")
MOST_VIRTUAL = 4096
TORUS = "torus"
"""What the links of a torus are called, beside the names of levels."""


@dataclass(frozen=True, slots=True)
class Level:
    """A level of the wiring, innermost first: `size` units of the level below are joined here.

    `bandwidth` is bytes per second that one chip can send through this level; None where it is not known.
    """

    name: str
    size: int
    bandwidth: float | None


@dataclass(frozen=True, slots=True)
class Slice:
    """A machine. `hbm_bytes` and `matrix_rates` (flop/s by dtype) are those of one chip.

    Chips are wired by a `torus` (its sides; `link_bandwidth` is bytes per second and direction of one link; a `wrapped`
    side is a ring), by `levels` (node, rack, network), or by both: levels then join whole tori.
    """

    name: str
    platform: Platform
    chips: int
    chips_per_host: int
    hbm_bytes: int
    matrix_rates: dict[str, float]
    hbm_bandwidth: float
    torus: tuple[int, ...] = ()
    wrapped: tuple[bool, ...] = ()
    link_bandwidth: float = 0.0
    levels: tuple[Level, ...] = ()

    @property
    def hosts(self) -> int:
        return self.chips // self.chips_per_host

    @property
    def virtual(self) -> bool:
        """Devices of this machine's CPU, made by JAX."""
        return VIRTUAL.fullmatch(self.name) is not None


def virtual_slice(name: str) -> Slice | None:
    """`cpu-N`: one process of N virtual devices; `cpu-HxD`: H processes of D. None where the name is not of this form.

    Memory and rates are of the order of one core of a server, for reports; nothing is decided by them but sizes. How
    fast its processes send depends on what else the machine does: that is not known.
    """
    match = VIRTUAL.fullmatch(name)
    if match is None:
        return None
    hosts, devices = int(match[1] or 1), int(match[2])
    if hosts * devices > MOST_VIRTUAL:
        return None
    levels = (Level("process", devices, None), *((Level("machine", hosts, None),) if hosts > 1 else ()))
    rates = {"float64": 2e10, "float32": 4e10, "bfloat16": 4e10}
    return Slice(name, "cpu", hosts * devices, devices, 4 * 2**30, rates, 1e10, levels=levels)
