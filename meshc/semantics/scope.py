"""What a file can name: its own layers, models, primitives and strategies, and those its imports bring in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from meshc.diagnostics import spec_names as say
from meshc.semantics.report import Report
from meshc.source import SourceFile, Span
from meshc.syntax import ast

Defined = ast.Layer | ast.Primitive | ast.Strategy | ast.Model


@dataclass(frozen=True, eq=False)
class Definition:
    """A defined name and the scope in which its body is read."""

    node: Defined
    scope: Scope

    @property
    def span(self) -> Span:
        return self.node.name.span


@dataclass(eq=False)
class Scope:
    """The names of one file. `std` is a file that ships with the compiler: a user's names win over its.

    An import without `as` brings in all that the imported file can name, so a file may pass on what it imports.
    """

    source: SourceFile
    std: bool = False
    callables: dict[str, Definition] = field(default_factory=dict)
    strategies: dict[str, Definition] = field(default_factory=dict)
    models: dict[str, Definition] = field(default_factory=dict)
    modules: dict[str, Scope] = field(default_factory=dict)
    prelude: Scope | None = None

    def callable(self, name: str) -> Definition | None:
        return self._find("callables", name)

    def strategy(self, name: str) -> Definition | None:
        return self._find("strategies", name)

    def _find(self, kind: str, name: str) -> Definition | None:
        head, dot, rest = name.partition(".")
        if dot:
            return self.modules[head]._find(kind, rest) if head in self.modules else None
        if found := getattr(self, kind).get(name):
            return found
        return self.prelude._find(kind, name) if self.prelude else None

    def names(self, kind: str) -> Iterator[str]:
        """All names of a kind, as they are written here."""
        yield from getattr(self, kind)
        for alias, module in self.modules.items():
            yield from (f"{alias}.{name}" for name in getattr(module, kind))
        if self.prelude:
            yield from self.prelude.names(kind)

    def define(self, node: Defined, report: Report, reserved: frozenset[str]) -> None:
        """Adds a definition of this file."""
        name = node.name
        if isinstance(node, ast.Layer | ast.Primitive) and name.text in reserved:
            report(say.shadows_primitive(name.text, name.span))
            return
        table = self._table(node)
        if (first := table.get(name.text)) and first.scope is self:
            report(say.defined_twice(name.text, name.span, first.span))
            return
        if first and not first.scope.std:
            report(say.defined_twice(name.text, name.span, first.span))
        table[name.text] = Definition(node, self)

    def bring_in(self, other: Scope, report: Report) -> None:
        """Adds what an import without `as` brings: before the file's own definitions, which win over std ones."""
        for kind in ("callables", "strategies", "models"):
            mine = getattr(self, kind)
            for name, definition in getattr(other, kind).items():
                first = mine.get(name)
                if first is None or (first.scope.std and not definition.scope.std):
                    mine[name] = definition
                elif first is not definition and not definition.scope.std:
                    report(say.defined_twice(name, definition.span, first.span))

    def _table(self, node: Defined) -> dict[str, Definition]:
        match node:
            case ast.Layer() | ast.Primitive():
                return self.callables
            case ast.Strategy():
                return self.strategies
            case ast.Model():
                return self.models
