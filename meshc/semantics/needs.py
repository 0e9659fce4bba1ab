"""What an operation asks of its operands' layouts, and what it may ask the rules."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from meshc.semantics.placed import InnerCollective, Layout, local_shape
from meshc.semantics.program import Dim, Route, Value

Axes = tuple[str, ...]
Places = dict[str, Axes]  # axes by dim name


@dataclass(frozen=True)
class Need:
    """`operands` in the order of the op's fields, each with its dims' axes (None: as it lies); the result's before it
    goes home.

    `spread` are axes along which the first operand counts as varying besides, and so the result.
    """

    operands: tuple[tuple[Value, tuple[Axes, ...] | None] | float, ...]
    result: tuple[Axes, ...]
    partial: Axes = ()
    inner: tuple[InnerCollective, ...] = ()
    trouble: tuple[Trouble, ...] = ()
    spread: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Trouble:
    """A layout that the operation cannot work in."""

    kind: Literal["whole", "keys_split", "heads_apart", "heads_straddle", "tokens"]
    dim: Dim
    axes: Axes
    other: Dim | None = None
    other_axes: Axes = ()


@dataclass(frozen=True)
class Routed:
    """Where the tokens of a routed tensor lie.

    route   the operation that sent them
    tokens  axes of each token dim of what it was given, those of the experts among them
    spread  axes along which every use of its result varies and its tokens do not
    """

    route: Route
    tokens: tuple[Axes, ...]
    spread: frozenset[str] = frozenset()

    @property
    def places(self) -> Places:
        """Of the token dims before they are sent."""
        return {d.name: axes for d, axes in zip(self.route.operand.dims[:-1], self.tokens, strict=True)}

    @property
    def axes(self) -> Axes:
        """All axes that split the tokens."""
        return tuple(a for axes in self.tokens for a in axes)


@dataclass(frozen=True)
class Rules:
    """What an op asks: a value's axes in use, its ruled axes (also in a primitive), an axis's exchange, along which
    axes it is partial where it lies, how it was routed.
    """

    home: Callable[[Value], tuple[Axes, ...]]
    ruled: Callable[[Value, tuple[str, ...]], tuple[Axes, ...]]
    exchange: Callable[[str, tuple[str, ...]], str | None]
    sizes: dict[str, int]
    partial: Callable[[Value], Axes]
    routed: Callable[[Value], Routed]

    def places(self, value: Value) -> Places:
        return {d.name: a for d, a in zip(value.dims, self.home(value), strict=True)}

    def local(self, dims: Sequence[Dim], places: Places) -> int:
        """Elements of one device's part."""
        return math.prod(local_shape(dims, Layout(axes_of(dims, places)), self.sizes))


def axes_of(dims: Sequence[Dim], places: Places) -> tuple[Axes, ...]:
    return tuple(places.get(d.name, ()) for d in dims)


def whole(places: Places, *dims: Dim) -> Places:
    return {name: () if name in {d.name for d in dims} else axes for name, axes in places.items()}


def without(places: Places, taken: Sequence[str]) -> Places:
    return {name: tuple(a for a in axes if a not in taken) for name, axes in places.items()}
