"""What a slice is: chips, their memory and matrix rates, how they sit in hosts and on which links."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Platform = Literal["cpu", "tpu", "gpu"]
VIRTUAL = re.compile(r"cpu-(?:([1-9][0-9]*)x)?([1-9][0-9]*)")
MOST_VIRTUAL = 4096


@dataclass(frozen=True, slots=True)
class Level:
    """A level of the wiring, innermost first: `size` units of the level below are joined here.

    `bandwidth` is bytes per second that one chip can send through this level.
    """

    name: str
    size: int
    bandwidth: float


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

    The figures are of the order of one core of a server, for reports; nothing is decided by them but sizes.
    """
    match = VIRTUAL.fullmatch(name)
    if match is None:
        return None
    hosts, devices = int(match[1] or 1), int(match[2])
    if hosts * devices > MOST_VIRTUAL:
        return None
    levels = (Level("process", devices, 4e9), *((Level("machine", hosts, 1e9),) if hosts > 1 else ()))
    rates = {"float64": 2e10, "float32": 4e10, "bfloat16": 4e10}
    return Slice(name, "cpu", hosts * devices, devices, 4 * 2**30, rates, 1e10, levels=levels)


# ---------------------------------------------------------------- as written in YAML

Bytes = Annotated[int, Field(ge=1, le=2**60)]
Rate = Annotated[float, Field(gt=0, le=1e30)]
Chips = Annotated[int, Field(ge=1, le=2**24)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class LevelFields(_Strict):
    name: Annotated[str, Field(min_length=1)]
    size: Chips
    bandwidth: Rate


class MatrixRates(_Strict):
    """Dense peak, flop/s (a multiply-add is two) of one chip, by the dtype of the operands."""

    float64: Rate | None = None
    float32: Rate | None = None
    bfloat16: Rate
    float16: Rate | None = None
    int8: Rate | None = None
    float8: Rate | None = None


class Torus(_Strict):
    """Sides in chips, which of them close to a ring, and bytes per second of one link in one direction."""

    sides: Annotated[tuple[Chips, ...], Field(min_length=1, max_length=3)]
    wrapped: tuple[
        bool, ...
    ] = ()  # default: the sides of at least 16 on two-dimensional tori, all of at least 4 on three
    link_bandwidth: Rate


class SliceFields(_Strict):
    """A slice as a job gives it inline, or as the catalogue's file `NAME.yaml` holds it."""

    name: Annotated[str, Field(min_length=1)] = "inline"
    platform: Platform = "gpu"
    chips: Chips
    chips_per_host: Chips
    hbm_bytes: Bytes
    hbm_bandwidth: Rate
    matrix_rates: MatrixRates
    torus: Torus | None = None
    levels: tuple[LevelFields, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> SliceFields:
        if self.chips % self.chips_per_host:
            raise ValueError(f"{self.chips} chips do not fill hosts of {self.chips_per_host}")
        if self.torus is None and not self.levels and self.chips > 1:
            raise ValueError("a slice of several chips needs `torus` or `levels`: how they are wired")
        inside = math.prod(self.torus.sides) if self.torus else 1
        wired = inside * math.prod(level.size for level in self.levels)
        if self.chips > 1 and wired != self.chips:
            raise ValueError(f"`torus` and `levels` wire {wired} chips, `chips` says {self.chips}")
        if self.torus and self.torus.wrapped and len(self.torus.wrapped) != len(self.torus.sides):
            raise ValueError("`wrapped` has an entry for each of `sides`")
        return self

    def slice(self) -> Slice:
        torus = self.torus
        sides = torus.sides if torus else ()
        default = tuple(side >= (16 if len(sides) == 2 else 4) for side in sides)
        return Slice(
            self.name,
            self.platform,
            self.chips,
            self.chips_per_host,
            self.hbm_bytes,
            self.matrix_rates.model_dump(exclude_none=True),
            self.hbm_bandwidth,
            sides,
            (torus.wrapped or default) if torus else (),
            torus.link_bandwidth if torus else 0.0,
            tuple(Level(level.name, level.size, level.bandwidth) for level in self.levels),
        )
