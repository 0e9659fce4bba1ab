"""Sizes: of dims and of mesh axes, which may be written in any order and in terms of each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from meshc.diagnostics import spec_names, spec_sizes
from meshc.diagnostics.model import Diagnostic
from meshc.semantics.program import Dim
from meshc.semantics.report import Report
from meshc.source import Span
from meshc.syntax import ast

Unknown = Callable[[str, Span, list[str]], Diagnostic]


@dataclass(frozen=True)
class Entry:
    """A declared size: `name` where it is declared, `size` as declared or as an override says."""

    name: ast.Name
    size: ast.Expr


@dataclass(eq=False)
class SizeTable:
    """Sizes by name, computed when asked for. A size that is wrong is reported once and is None."""

    entries: Mapping[str, Entry]
    report: Report
    unknown: Unknown
    used: set[str] = field(default_factory=set)
    known: dict[str, Dim | None] = field(default_factory=dict)

    def __contains__(self, name: str) -> bool:
        return name in self.entries

    def dim(self, name: str) -> Dim | None:
        """The dim of a declared name."""
        if name not in self.known:
            for needed in self._before(name):
                if needed not in self.known:
                    self.known[needed] = self._declared(self.entries[needed])
        return self.known[name]

    def _before(self, name: str) -> list[str]:
        """`name` and all that its size depends on, in an order in which they can be computed. Without recursion: a
        chain may be as long as the spec.
        """
        order: dict[str, None] = {}
        path = {name: iter(self._mentions(name))}
        while path:
            top = next(reversed(path))
            ref = next(path[top], None)
            if ref is None:
                order[top] = None
                del path[top]
            elif ref.text in path:
                names = list(path)
                cycle = [*names[names.index(ref.text) :], ref.text]
                self.report(spec_sizes.size_cycle(cycle, ref.span))
                self.known.update(dict.fromkeys(cycle))
            elif ref.text not in self.known and ref.text not in order:
                path[ref.text] = iter(self._mentions(ref.text))
        return list(order)

    def _mentions(self, name: str) -> list[ast.Name]:
        return [ref for ref in references(self.entries[name].size) if ref.text in self.entries]

    def _declared(self, entry: Entry) -> Dim | None:
        match entry.size:
            case ast.Call(callee=ast.Name(text="pad")):
                sizes = self._padded(entry.size)
            case _:
                value = self.integer(entry.size)
                sizes = None if value is None else (value, value)
        if sizes is None:
            return None
        real, size = sizes
        if real < 1:
            self.report(spec_sizes.not_positive(entry.name.text, real, entry.size.span))
            return None
        if size > spec_sizes.LARGEST:
            self.report(spec_sizes.too_large(entry.size.span))
            return None
        return Dim(entry.name.text, size, real, entry.name.span, entry.size.span)

    def _padded(self, call: ast.Call) -> tuple[int, int] | None:
        """`pad(n, m)`: n, and n rounded up to a multiple of m."""
        if len(call.args) != 2 or call.keywords:
            names = ("size", "multiple")
            given = len(call.args) + len(call.keywords)
            self.report(
                spec_names.missing_argument("pad", "multiple", call.span, names)
                if given < 2
                else spec_names.too_many_arguments("pad", given, names, call.span)
            )
            return None
        real, multiple = (self.integer(arg) for arg in call.args)
        if real is None or multiple is None:
            return None
        if multiple < 1:
            self.report(spec_sizes.not_positive("multiple", multiple, call.args[1].span))
            return None
        return real, -(-real // multiple) * multiple

    def integer(self, expr: ast.Expr) -> int | None:
        """A constant integer expression over this table's names. A padded dim counts with its real size."""
        match expr:
            case ast.Number(value=int(value)):
                return value
            case ast.Number() | ast.Text() | ast.Literal() | ast.ListExpr() | ast.Index():
                self.report(spec_sizes.not_an_integer(f"`{shortened(expr.span.text)}`", expr.span))
            case ast.Ref(name=name):
                return self._named(name)
            case ast.Unary(op="-", operand=operand):
                value = self.integer(operand)
                return None if value is None else -value
            case ast.Binary(op=op, left=left, right=right) if op in ("+", "-", "*", "/", "//", "%", "**"):
                a, b = self.integer(left), self.integer(right)
                return None if a is None or b is None else self._fold(op, a, b, expr.span)
            case ast.Call(callee=ast.Name(text="pad")):
                self.report(spec_sizes.pad_inside(expr.span))
            case ast.Call(callee=callee):
                self.report(spec_names.unknown_function(callee.text, callee.span, ["pad"]))
            case _:
                self.report(spec_sizes.not_an_integer(f"`{shortened(expr.span.text)}`", expr.span))
        return None

    def _named(self, name: ast.Name) -> int | None:
        if name.text not in self.entries:
            self.report(self.unknown(name.text, name.span, list(self.entries)))
            return None
        self.used.add(name.text)
        dim = self.dim(name.text)
        return dim and dim.real

    def _fold(self, op: str, a: int, b: int, span: Span) -> int | None:
        if op in ("/", "//", "%") and b == 0:
            self.report(spec_sizes.division_by_zero(span))
            return None
        if op == "/" and a % b:
            self.report(spec_sizes.inexact(a, b, span))
            return None
        if op == "**" and b < 0:
            self.report(spec_sizes.not_an_integer(f"{a} ** {b}", span))
            return None
        if op == "**" and abs(a) > 1 and b > 64:
            self.report(spec_sizes.too_large(span))
            return None
        value = FOLD[op](a, b)
        if abs(value) > spec_sizes.LARGEST**2:  # what is still divided down may be large, but not without end
            self.report(spec_sizes.too_large(span))
            return None
        return value


FOLD: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a // b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "**": lambda a, b: a**b,
}


def references(expr: ast.Expr) -> list[ast.Name]:
    """The names that an expression of sizes mentions, in the order of the text."""
    found: list[ast.Name] = []
    rest: list[ast.Expr] = [expr]
    while rest:
        match rest.pop():
            case ast.Ref(name=name):
                found.append(name)
            case ast.Unary(operand=operand):
                rest.append(operand)
            case ast.Binary(left=left, right=right):
                rest += [right, left]
            case ast.Call(args=args):
                rest += reversed(args)
            case _:
                pass
    return found


def shortened(text: str, most: int = 40) -> str:
    """A piece of the spec as a message quotes it."""
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"
