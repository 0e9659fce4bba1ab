"""What the expanded model consists of: values, weights, and every tensor in every place."""

from __future__ import annotations

from dataclasses import dataclass, field

Dims = tuple[str, ...]
Path = tuple[str, ...]
"""The places that something is in, from the outermost: layers by their definitions' names, `experts`, an operation."""
EXPERTS = "experts"


@dataclass
class Weight:
    """name: dotted, with instances; stack: dims of the repeats around it, which lead at rest; path: where it is used

    staged: within which of the model's own repeats, by its number; None outside of all
    """

    name: str
    dims: Dims
    stack: Dims
    path: Path
    bank: Dims = ()
    staged: int | None = None
    state: bool = False


@dataclass(frozen=True)
class Route:
    """number: of the call; dims: those of its tokens that are given up in the experts' slots"""

    number: int
    tokens: Dims
    experts: Dims


@dataclass(frozen=True)
class Tensor:
    """of: what it counts, where it is ids"""

    dims: Dims
    of: str | None = None
    weight: int | None = None
    route: Route | None = None


@dataclass(frozen=True)
class Num:
    value: float | None = None


@dataclass(frozen=True)
class DimName:
    name: str


@dataclass(frozen=True)
class Other:
    """`none`, true, false, a text, a list of dims."""

    value: object


@dataclass(frozen=True)
class Several:
    values: tuple[Value, ...]


Value = Tensor | Num | DimName | Other | Several


@dataclass(frozen=True)
class Spot:
    """A tensor in a place. whole: the dim that the operation which is the place takes whole; route: which call sent it,
    of rows in their experts' slots
    """

    dims: Dims
    path: Path
    staged: int | None
    whole: Dims = ()
    route: int | None = None


@dataclass(frozen=True)
class Attend:
    q: Dims
    k: Dims
    path: Path
    staged: int | None


@dataclass(frozen=True)
class Sent:
    """Tokens that `route` sends: they lie so in `path` before."""

    dims: Dims
    path: Path
    route: Route
    staged: int | None


@dataclass
class Expanded:
    """sequences: dims that are sequences; kv: dims that are heads of keys and values and not of queries; turns: number
    of a repeat of the model -> (its dim, its turns); beside: the repeats that follow each other, in order
    """

    spots: set[Spot] = field(default_factory=set)
    weights: list[Weight] = field(default_factory=list)
    attends: set[Attend] = field(default_factory=set)
    sent: set[Sent] = field(default_factory=set)
    sequences: set[str] = field(default_factory=set)
    kv: set[str] = field(default_factory=set)
    turns: dict[int, tuple[str, int]] = field(default_factory=dict)
    beside: list[list[int]] = field(default_factory=list)
    stacks: set[str] = field(default_factory=set)
    batch: str = ""
    losses: int = 0
    inputs: list[Tensor] = field(default_factory=list)
    segments: set[Tensor] = field(default_factory=set)
    entered: set[str] = field(default_factory=set)
