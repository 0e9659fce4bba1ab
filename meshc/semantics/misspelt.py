"""Names that are wrong where they are declared: used in several places under another name, and nowhere under theirs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from meshc.diagnostics import spec_names
from meshc.diagnostics.model import Diagnostic
from meshc.diagnostics.suggest import nearest
from meshc.semantics.build import Builder
from meshc.semantics.meshes import Devices
from meshc.semantics.scope import Definition, Scope
from meshc.source import Span
from meshc.syntax import ast

Unused = Mapping[str, Mapping[str, Span]]
"""By the code of what is said of an unknown name of their kind: the declared names that nothing uses, and where."""


def misspelt(found: Sequence[Diagnostic], unused: Unused) -> list[Diagnostic]:
    """The same, with the declaration as what to mend where one mistake in it explains several unknown names.

    Of one place that uses a name, nothing says whether it or the declaration is right.
    """
    places = Counter((d.code, d.span.text) for d in found if d.span and d.code in unused)
    return [_at_declaration(d, unused[d.code]) if d.span and _often(d, places) else d for d in found]


def _often(diagnostic: Diagnostic, places: Counter[tuple[str, str]]) -> bool:
    return diagnostic.span is not None and places[diagnostic.code, diagnostic.span.text] > 1


def _at_declaration(diagnostic: Diagnostic, declared: Mapping[str, Span]) -> Diagnostic:
    assert diagnostic.span is not None
    name = diagnostic.span.text
    meant = nearest(name, declared)
    return spec_names.misspelt_declaration(diagnostic, name, meant, declared[meant]) if meant else diagnostic


def unused_names(file: ast.File, scope: Scope, builder: Builder, mesh: Devices, called: set[Span]) -> Unused:
    """What the spec itself declares and nothing uses."""
    entries = builder.dims.entries
    idle = [d for d in _own(scope) if d.span not in called]
    return {
        "E0203": {name: entry.name.span for name, entry in entries.items() if name not in builder.dims.used},
        "E0204": _idle_axes(file, mesh),
        "E0205": {d.node.name.text: d.span for d in idle if not isinstance(d.node, ast.Strategy)},
        "E0206": {d.node.name.text: d.span for d in idle if isinstance(d.node, ast.Strategy)},
    }


def _own(scope: Scope) -> Iterable[Definition]:
    return (d for d in (*scope.callables.values(), *scope.strategies.values()) if d.scope is scope)


def _idle_axes(file: ast.File, mesh: Devices) -> dict[str, Span]:
    rules = (i.span.text for i in file.items if isinstance(i, ast.Partition) or (isinstance(i, ast.Mesh) and i.name))
    named = {word for text in rules for word in re.findall(r"\w+", text)}
    axes = {axis.name: axis.span for axis in mesh.axes if axis.name not in named}
    return {name: span for name, span in axes.items() if span is not None}
