"""What an expression can be while layers are elaborated: a tensor, a dim, a constant, or broken (and reported)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from meshc.semantics.program import Dim, Kind, Value


@dataclass(frozen=True)
class Constant:
    """A number, a truth value, a text or `none`."""

    value: int | float | bool | str | None


class Broken(Enum):
    """Stands for what could not be made; whoever meets it says nothing more."""

    BROKEN = 0


BROKEN = Broken.BROKEN

Operand = Value | Dim | Constant | Broken
Results = tuple[Operand, ...]
"""What a call yields: one operand, several of a layer or a split, none of a layer that returns nothing."""


def described(operand: Operand) -> str:
    """An operand as a message names it."""
    match operand:
        case Value(kind=Kind.INT, name=name):
            return f"the ids `{name}`"
        case Value(name=name):
            return f"the tensor `{name}`"
        case Dim(name=name):
            return f"the dim `{name}`"
        case Constant(value=None):
            return "none"
        case Constant(value=bool(value)):
            return str(value).lower()
        case Constant(value=str(value)):
            return f'"{value}"'
        case Constant(value=value):
            return f"the number {value}"
        case Broken():
            return "an error"


def number_of(operand: Operand) -> int | float | None:
    """The number that an operand stands for; a dim stands for its real size."""
    match operand:
        case Constant(value=bool()):
            return None
        case Constant(value=int() | float() as value):
            return value
        case Dim(real=real):
            return real
        case _:
            return None


def names(dims: tuple[Dim, ...]) -> list[str]:
    return [dim.name for dim in dims]
