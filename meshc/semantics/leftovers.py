"""Edits that take out what nothing uses: a weight, an input, a dim, a definition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from meshc.diagnostics.edits import removed
from meshc.diagnostics.model import Cure, Edit, Option
from meshc.source import Span
from meshc.syntax import ast

Files = Iterable[ast.File]
"""The files that were read."""


def without_weight(name: Span, files: Files) -> tuple[Cure, ...]:
    """The declaration of a weight gone, or its name among several."""
    for item in _items(name, files):
        if isinstance(item, ast.Layer | ast.Model) and _holds(item.span, name):
            for statement in _statements(item.body):
                if isinstance(statement, ast.Param) and _holds(statement.span, name):
                    return _try(removed(name if len(statement.names) > 1 else statement.span))
    return ()


def without_input(name: Span, files: Files) -> tuple[Cure, ...]:
    for item in _items(name, files):
        if isinstance(item, ast.Model):
            for parameter in item.parameters:
                if _holds(parameter.span, name):
                    return _try(removed(parameter.span))
    return ()


def without_dim(name: Span, files: Files) -> tuple[Cure, ...]:
    """Nothing goes with a dim that no tensor has: where the spec is whole without it, that is safe."""
    for item in _items(name, files):
        if isinstance(item, ast.Dims):
            for entry in item.entries:
                if _holds(entry.span, name):
                    whole = item.span if len(item.entries) == 1 else entry.span
                    return _try(removed(whole, safe=True))
    return ()


def without_definition(node: ast.Layer | ast.Model | ast.Primitive | ast.Strategy) -> tuple[Cure, ...]:
    """A strategy is a few rules, told again soon; a layer may be work that is not done yet."""
    return _try(removed(node.span, safe=isinstance(node, ast.Strategy)))


def _items(place: Span, files: Files) -> tuple[ast.Item, ...]:
    return next((file.items for file in files if file.source is place.source), ())


def without_import(item: ast.Import) -> tuple[Cure, ...]:
    return _try(removed(item.span, safe=True))


def _try(edit: Edit) -> tuple[Cure, ...]:
    return (Cure("", (Option("", (), (edit,)),)),)


def _holds(whole: Span, part: Span) -> bool:
    return whole.start <= part.start and part.end <= whole.end


def _statements(body: Iterable[ast.Statement]) -> Iterator[ast.Statement]:
    for statement in body:
        yield statement
        if isinstance(statement, ast.Repeat):
            yield from _statements(statement.body)
