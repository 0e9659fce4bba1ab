"""The arguments of a call of one of the language's functions, as what the function wants them to be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from meshc.diagnostics import spec_names as say
from meshc.semantics.build import Builder
from meshc.semantics.expressions import evaluate, ids_of, tensor_of
from meshc.semantics.operands import BROKEN, Broken, Constant, described, number_of
from meshc.semantics.program import Dim, Value
from meshc.source import Span
from meshc.syntax import ast


@dataclass(frozen=True)
class Arguments:
    """What a call gives for each parameter. A getter's default stands for an argument that is not given."""

    builder: Builder
    given: Mapping[str, ast.Expr]
    call: ast.Call

    @property
    def span(self) -> Span:
        return self.call.span

    def span_of(self, name: str) -> Span:
        return self.given[name].span if name in self.given else self.call.span

    def tensor(self, name: str) -> Value | Broken:
        expr = self.given[name]
        return tensor_of(self.builder, evaluate(self.builder, expr), expr.span)

    def optional_tensor(self, name: str) -> Value | Broken | None:
        return self.tensor(name) if self.gives(name) else None

    def gives(self, name: str) -> bool:
        """Whether the call gives it, and not as `none`."""
        return name in self.given and not self._is_none(name)

    def ids(self, name: str) -> Value | Broken:
        return ids_of(self.builder, self.given[name])

    def operand(self, name: str) -> Value | float | Broken:
        """A tensor or a number."""
        expr = self.given[name]
        operand = evaluate(self.builder, expr)
        number = number_of(operand)
        return tensor_of(self.builder, operand, expr.span) if number is None else number

    def number(self, name: str, default: float | None = None) -> float | Broken | None:
        """A constant; None stands for `none`, where that is the default."""
        if name not in self.given or (default is None and self._is_none(name)):
            return default
        operand = evaluate(self.builder, self.given[name])
        if isinstance(operand, Broken):
            return BROKEN
        number = number_of(operand)
        if number is None:
            return self._wrong("a number", described(operand), name)
        return number

    def count(self, name: str, default: int | None = None) -> int | Broken | None:
        """A positive integer constant."""
        number = self.number(name, default)
        if isinstance(number, float) or (isinstance(number, int) and number < 1):
            return self._wrong("a positive integer", f"the number {number}", name)
        return number

    def positive(self, name: str, default: float | None = None) -> float | Broken | None:
        """A constant above zero, as a float."""
        number = self.number(name, default)
        if number is None or isinstance(number, Broken) or number > 0:
            return float(number) if isinstance(number, int | float) else number
        return self._wrong("a positive number", f"the number {number}", name)

    def word(self, name: str, words: Sequence[str]) -> str | Broken | None:
        """One of some words in quotes; None where none is given."""
        if name not in self.given or self._is_none(name):
            return None
        operand = evaluate(self.builder, self.given[name])
        if isinstance(operand, Broken):
            return BROKEN
        if isinstance(operand, Constant) and operand.value in words:
            return str(operand.value)
        return self._wrong(" or ".join(f'"{word}"' for word in words), described(operand), name)

    def flag(self, name: str, default: bool) -> bool | Broken:
        if name not in self.given:
            return default
        operand = evaluate(self.builder, self.given[name])
        if isinstance(operand, Constant) and isinstance(operand.value, bool):
            return operand.value
        return BROKEN if operand is BROKEN else self._wrong("true or false", described(operand), name)

    def dim(self, name: str) -> Dim | Broken | None:
        """A dim; None where none is given."""
        return _dim(self.builder, self.given[name]) if name in self.given else None

    def dims(self, name: str) -> tuple[Dim, ...] | Broken | None:
        """One dim or a list of dims."""
        expr = self.given.get(name)
        if expr is None:
            return None
        items = expr.items if isinstance(expr, ast.ListExpr) else (expr,)
        found = [_dim(self.builder, item) for item in items]
        dims = tuple(dim for dim in found if isinstance(dim, Dim))
        return dims if len(dims) == len(found) else BROKEN

    def _is_none(self, name: str) -> bool:
        """Whether the argument is `none`, also by way of a layer's own parameter."""
        match self.given[name]:
            case ast.Literal(value=None):
                return True
            case ast.Ref(name=ast.Name(text=text)):
                return self.builder.frame.names.get(text) == Constant(None)
        return False

    def _wrong(self, expected: str, got: str, name: str) -> Broken:
        self.builder.report(say.wrong_type(expected, got, self.span_of(name)))
        return BROKEN


def _dim(b: Builder, expr: ast.Expr) -> Dim | Broken:
    if isinstance(expr, ast.Ref):
        return b.dim(expr.name)
    b.report(say.wrong_type("a dim", f"`{expr.span.text}`", expr.span))
    return BROKEN
