"""Numbers: sizes of dims and axes, and constants that layers are given."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from meshc.prove.sound.oracle.reading import Wrong
from meshc.syntax import ast


class NoSize(Exception):
    """A size that cannot be computed."""


class Unknown(Exception):
    """A name that means nothing here."""


def number(expr: ast.Expr, look: Callable[[str], float]) -> float:
    """Arithmetic of numbers and names. Raises NoSize and, from `look`, Unknown."""
    match expr:
        case ast.Number(value=value):
            return value
        case ast.Ref(name=name):
            return look(name.text)
        case ast.Unary(op="-", operand=operand):
            return -number(operand, look)
        case ast.Binary(op=op, left=left, right=right):
            return _binary(op, number(left, look), number(right, look))
        case ast.Call(callee=ast.Name(text="pad"), args=(size, of), keywords=()):
            whole, part = number(size, look), number(of, look)
            if part < 1:
                raise NoSize
            return -(-whole // part) * part
        case _:
            raise NoSize


def _binary(op: str, left: float, right: float) -> float:
    try:
        match op:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
            case "/":
                return left / right
            case "//":
                return left // right
            case "%":
                return left % right
            case "**":
                return left**right
            case _:
                raise NoSize
    except (ZeroDivisionError, OverflowError):
        raise NoSize from None


def sizes_of(entries: Mapping[str, ast.Expr | int], wrong: Wrong) -> dict[str, int]:
    """The size of each dim; of one that has none, 1."""

    def size(name: str, above: tuple[str, ...]) -> float:
        if name in above:
            raise NoSize
        if name not in entries:
            raise Unknown(name)
        entry = entries[name]
        return entry if isinstance(entry, int) else number(entry, lambda other: size(other, (*above, name)))

    found: dict[str, int] = {}
    for name in entries:
        try:
            value = size(name, ())
        except NoSize:
            value = 0
        except Unknown as unknown:
            wrong.say("name", f"`{unknown}` in the size of `{name}`")
            value = 1
        found[name] = checked(name, value, wrong)
    return found


def checked(name: str, value: float, wrong: Wrong) -> int:
    if value != int(value) or not 1 <= value < 2**62:
        wrong.say("size", f"{name} = {value}")
        return 1
    return int(value)
