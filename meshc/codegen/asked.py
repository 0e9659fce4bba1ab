"""What the code of an operation asks of the program around it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Protocol

from meshc.codegen.text import Text
from meshc.semantics.placed import Placed
from meshc.semantics.program import Dim, Route, Value


class Context(Protocol):
    """What an expression asks of the program around it."""

    @abstractmethod
    def operand(self, placed: Placed, *, narrow: bool = False) -> Text:
        """The tensor; `narrow`: in the compute dtype, also where it was made in float32."""

    @abstractmethod
    def letters(self, dims: Sequence[Dim]) -> str:
        """One letter for each dim, for einsum."""

    @abstractmethod
    def route(self, value: Value) -> Route | None:
        """How a tensor was sent to its experts; None for one that was not."""

    @abstractmethod
    def routing(self, route: Route) -> Text:
        """The record of it."""

    @abstractmethod
    def extent(self, dim: Dim) -> str:
        """The dim's real global size, of one microbatch."""

    @abstractmethod
    def zigzag(self, dim: Dim) -> int | None:
        """Into how many pairs of chunks a dim in zigzag order is cut; None for one in natural order."""

    @abstractmethod
    def count(self, placed: Placed) -> Text:
        """How many of these targets are real, in the whole step."""

    @abstractmethod
    def key(self, name: str) -> Text:
        """The random key of a part."""

    @abstractmethod
    def function(self, target: str) -> str:
        """The name under which `module:function` is imported."""

    @property
    @abstractmethod
    def evaluating(self) -> bool:
        """Whether the model's outputs are made, without dropout."""

    @property
    @abstractmethod
    def sums_in_float32(self) -> bool:
        """Whether activations are narrower than float32."""

    @property
    @abstractmethod
    def recompute(self) -> bool:
        """Whether attention's scores are made again in the backward pass."""
