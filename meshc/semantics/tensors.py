"""The resolved program's tensors: dims, the axes that may split them, values and weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

from meshc.source import Span

# ---------------------------------------------------------------- dims and axes


@dataclass(frozen=True, slots=True)
class Dim:
    """A tensor dim.

    `size` is what devices hold; `real` is the size without padding (`pad(50257, 128)`: 50304 and 50257).
    A primed dim (`embed'`) is a dim of its own, of the same size, with no rules at rest.
    `span` is where it is declared, `written` where its size is.
    """

    name: str
    size: int
    real: int
    span: Span | None = field(default=None, compare=False)
    written: Span | None = field(default=None, compare=False, repr=False)

    @property
    def base(self) -> str:
        return self.name.rstrip("'")

    @property
    def padded(self) -> bool:
        return self.real != self.size


@dataclass(frozen=True, slots=True)
class Axis:
    """A mesh axis. `span` is its name where it is declared, `declared` the whole of `name = size`.

    `assumed`: its size is `*` and no slice is known; 2 stands for it, so that what does not depend on sizes is found.
    """

    name: str
    size: int
    span: Span | None = field(default=None, compare=False)
    assumed: bool = field(default=False, compare=False)
    declared: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class View:
    """`mesh name = regroup(group) { axes }`: a second factorisation of some axes of the mesh."""

    name: str
    group: tuple[str, ...]
    axes: tuple[Axis, ...]
    span: Span


# ---------------------------------------------------------------- values


class Kind(Enum):
    FLOAT = "float"
    INT = "int"


@dataclass(frozen=True, eq=False)
class Value:
    """A tensor. `name` is the spec's name for it, or a suggestion for one that the spec leaves unnamed."""

    name: str
    dims: tuple[Dim, ...]
    kind: Kind
    span: Span
    named: bool = False  # the spec gave it its name

    def __repr__(self) -> str:
        return f"{self.name}[{', '.join(d.name for d in self.dims)}]"


@dataclass(frozen=True, slots=True)
class Init:
    """How initial values are drawn.

    `fan_in` is normal with variance 1 / fan_in; `normal` has standard deviation `scale`; `constant` is `scale`.
    """

    kind: Literal["fan_in", "normal", "constant"]
    scale: float = 1.0
    fan_in: int = 1


@dataclass(frozen=True, eq=False)
class Weight:
    """A parameter or (`state`) a tensor carried from step to step.

    `path` is global: `("Llama", "block", "attention", "wq")`. `value.dims` are the dims that a layer sees; `stack` the
    repeats around it, outermost first, which lead its shape in the stacked whole.
    """

    path: tuple[str, ...]
    value: Value
    init: Init
    stack: tuple[Dim, ...]
    trained: bool = True

    @property
    def name(self) -> str:
        return self.path[-1]

    @property
    def dotted(self) -> str:
        """The path as rules, reports and checkpoints write it: `Llama.block.attention.wq`."""
        return ".".join(self.path)

    @property
    def dims(self) -> tuple[Dim, ...]:
        """All dims of the stacked whole, as it lies on devices and on disk."""
        return self.stack + self.value.dims
