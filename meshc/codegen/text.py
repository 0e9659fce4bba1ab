"""Expressions as text whose names are not yet chosen, and lines broken as `ruff format` breaks them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

WIDTH = 120

ANY, SUM, PRODUCT, UNARY, POWER, ATOM = range(6)
"""How tightly an expression binds; an operand that binds less than its place asks gets parentheses."""


@dataclass(frozen=True, eq=False)
class Var:
    """A variable that stands for no tensor of the spec: a loss so far, a key, metrics."""

    name: str
    kind: str = "jax.Array"


@dataclass(frozen=True, slots=True)
class Ref:
    """A variable's place in an expression: a `Placed` or a `Var`, and how tightly the place binds."""

    target: object
    level: int


@dataclass(frozen=True, slots=True)
class Text:
    pieces: tuple[str | Ref, ...]
    level: int

    def refs(self) -> Iterator[object]:
        return (p.target for p in self.pieces if isinstance(p, Ref))

    def replace(self, target: object, by: Text) -> Text:
        """This expression with another in a variable's place."""
        pieces: list[str | Ref] = []
        for piece in self.pieces:
            if isinstance(piece, Ref) and piece.target is target:
                pieces.extend(_within(by, piece.level))
            else:
                pieces.append(piece)
        alone = len(self.pieces) == 1 and isinstance(self.pieces[0], Ref)
        return Text(tuple(pieces), by.level if alone else self.level)

    def render(self, name: Callable[[object], str]) -> str:
        return "".join(p if isinstance(p, str) else name(p.target) for p in self.pieces)


def text(level: int, *parts: str | Ref | Text | tuple[Text, int]) -> Text:
    """An expression from parts; a pair gives an operand and how tightly its place binds."""
    pieces: list[str | Ref] = []
    for part in parts:
        match part:
            case Text():
                pieces.extend(part.pieces)
            case (Text() as operand, int(level_asked)):
                pieces.extend(_within(operand, level_asked))
            case _:
                pieces.append(part)  # type: ignore[arg-type]
    return Text(tuple(pieces), level)


def ref(target: object) -> Text:
    return Text((Ref(target, ANY),), ATOM)


def atom(code: str) -> Text:
    return Text((code,), ATOM)


def call(function: str, *arguments: Text | str, **keywords: Text | str) -> Text:
    """`function(arguments, key=value)`; a keyword's value is code."""
    named = (
        f"{key}={value}" if isinstance(value, str) else text(ANY, f"{key}=", value) for key, value in keywords.items()
    )
    return text(ATOM, f"{function}(", *commas((*arguments, *named)), ")")


def commas(parts: Sequence[Text | str]) -> list[Text | str]:
    """The parts with a comma between each two."""
    return [piece for i, part in enumerate(parts) for piece in ((", ", part) if i else (part,))]


def _within(operand: Text, level: int) -> list[str | Ref]:
    if len(operand.pieces) == 1 and isinstance(operand.pieces[0], Ref):
        return [Ref(operand.pieces[0].target, max(level, operand.pieces[0].level))]
    return ["(", *operand.pieces, ")"] if operand.level < level else list(operand.pieces)


# ---------------------------------------------------------------- lines


def broken(code: str, indent: int = 0, *, tail: str = "") -> list[str]:
    """A statement as one line, or broken at its last bracket when it does not fit; `tail` follows it."""
    pad = " " * indent
    whole = f"{pad}{code}{tail}"
    if len(whole) <= WIDTH:
        return [whole]
    split = _outer_bracket(code)
    if split is None:
        return [whole]
    head, inside, close = split
    arguments = _arguments(inside)
    together = f"{pad}    {inside}"
    multiline = inside.endswith(",")
    if len(together) <= WIDTH and not multiline and (len(arguments) == 1 or not _literal(head)):
        return [f"{pad}{head}", together, f"{pad}{close}{tail}"]
    lines = [f"{pad}{head}"]
    single = len(arguments) == 1 and head[-1] == "(" and _unpacked(arguments[0])
    for argument in arguments:
        lines += broken(argument, indent + 4, tail="" if single else ",")
    return [*lines, f"{pad}{close}{tail}"]


def broken_signature(name: str, parameters: Sequence[str], result: str = "tuple", indent: int = 0) -> list[str]:
    """`def name(parameters) -> result:`, over several lines where it is long."""
    pad = " " * indent
    whole = f"{pad}def {name}({', '.join(parameters)}) -> {result}:"
    if len(whole) <= WIDTH:
        return [whole]
    together = f"{pad}    {', '.join(parameters)}"
    inside = [together] if len(together) <= WIDTH else [f"{pad}    {p}," for p in parameters]
    return [f"{pad}def {name}(", *inside, f"{pad}) -> {result}:"]


def _literal(head: str) -> bool:
    """Whether the bracket that ends `head` opens a tuple, list, set or dict, and not a call or a subscript."""
    return len(head) == 1 or not (head[-2].isalnum() or head[-2] in "_)]")


def _unpacked(argument: str) -> bool:
    return " for " in argument  # a generator takes no trailing comma


def _outer_bracket(code: str) -> tuple[str, str, str] | None:
    """`f(`, `a, b`, `)` of a statement that ends in a bracket which was not closed before."""
    if not code or code[-1] not in ")]}":
        return None
    starts: list[int] = []
    for i, char in _outside_strings(code):
        if char in "([{":
            starts.append(i)
        elif char in ")]}":
            start = starts.pop()
            if i == len(code) - 1:
                return code[: start + 1], code[start + 1 : -1], code[-1]
    return None


def _arguments(code: str) -> list[str]:
    depth, start, found = 0, 0, []
    for i, char in _outside_strings(code):
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "," and depth == 0:
            found.append(code[start:i].strip())
            start = i + 1
    rest = code[start:].strip()
    return [*found, rest] if rest else found


def _outside_strings(code: str) -> Iterator[tuple[int, str]]:
    quote, escaped = "", False
    for i, char in enumerate(code):
        if quote:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == quote:
                quote = ""
        elif char in "\"'":
            quote = char
        else:
            yield i, char


def quoted(value: str) -> str:
    """A string literal as `ruff format` writes it: double quotes unless single ones save escapes."""
    code = repr(value)
    if code[0] == "'" and '"' not in value:
        return '"' + code[1:-1].replace("\\'", "'") + '"'
    return code


def tuple_of(items: list[str] | tuple[str, ...]) -> str:
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def shown(file: str) -> str:
    """A file's name in a program: what meshc ships by its import, others without their directory."""
    return comment(file if file.startswith("std/") else file.rpartition("/")[2])[-60:]


def comment(words: str) -> str:
    """Text that can stand after `#` or in a docstring: one line, printable, no quotes that end a string."""
    return " ".join("".join(c if c.isprintable() and c not in '"\\' else " " for c in words).split())
