"""A slice as YAML writes it, in the catalogue or inline in a job."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from meshc.job.slices import TORUS, Level, Platform, Slice

Bytes = Annotated[int, Field(ge=1, le=2**60)]
Rate = Annotated[float, Field(gt=0, le=1e30)]
Chips = Annotated[int, Field(ge=1, le=2**24)]


class Strict(BaseModel):
    """Unknown keys are errors; nothing is converted but an integer where a float is asked."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class LevelFields(Strict):
    """`size` units of the level below, joined by links through which one chip can send `bandwidth` bytes per second.

    Without `bandwidth` it is not known, and no times are told of what goes through.
    """

    name: Annotated[str, Field(min_length=1)]
    size: Chips
    bandwidth: Rate | None = None


class MatrixRates(Strict):
    """Dense peak, flop/s (a multiply-add is two) of one chip, by the dtype of the operands."""

    float64: Rate | None = None
    float32: Rate | None = None
    bfloat16: Rate
    float16: Rate | None = None
    int8: Rate | None = None
    float8: Rate | None = None


class Torus(Strict):
    """Sides in chips, which of them close to a ring, and bytes per second of one link in one direction."""

    sides: Annotated[tuple[Chips, ...], Field(min_length=1, max_length=3)]
    wrapped: tuple[
        bool, ...
    ] = ()  # default: the sides of at least 16 on two-dimensional tori, all of at least 4 on three
    link_bandwidth: Rate


class SliceFields(Strict):
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
        names = [level.name for level in self.levels]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"two levels have the name `{twice}`")
        if self.torus and TORUS in names:
            raise ValueError(f"`{TORUS}` is the torus' name: call the level otherwise")
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
