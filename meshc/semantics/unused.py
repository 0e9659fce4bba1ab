"""What a spec declares and nothing uses: nothing is ignored silently."""

from __future__ import annotations

from collections.abc import Sequence

from meshc.diagnostics import spec_names as say
from meshc.semantics.build import Builder
from meshc.semantics.leftovers import (
    Files,
    without_definition,
    without_dim,
    without_import,
    without_input,
    without_weight,
)
from meshc.semantics.program import Module
from meshc.semantics.report import Report
from meshc.semantics.scope import Scope
from meshc.semantics.sizes import references
from meshc.source import Span
from meshc.syntax import ast


def unused(b: Builder, model: Module, report: Report, files: Files) -> None:
    """Warns of weights that no expression names, inputs of the model likewise, and dims that no tensor has."""
    for module in b.modules:
        for weight in module.weights:
            if weight.value not in b.facts.used:
                report(say.unused_weight(weight.name, weight.value.span, without_weight(weight.value.span, files)))
    for value in model.inputs:
        if value not in b.facts.used:
            report(say.unused_input(value.name, value.span, without_input(value.span, files)))
    for name in unused_dims(b):
        entry = b.dims.entries[name]
        report(say.unused_dim(name, entry.name.span, without_dim(entry.name.span, files)))


def unused_dims(b: Builder) -> list[str]:
    """Declared dims that no tensor has, no repeat counts, and no used dim's size is computed from."""
    needed = set(b.dims.used)
    rest = list(needed)
    while rest:
        entry = b.dims.entries.get(rest.pop())
        for ref in references(entry.size) if entry else ():
            if ref.text in b.dims.entries and ref.text not in needed:
                needed.add(ref.text)
                rest.append(ref.text)
    return [name for name in b.dims.entries if name not in needed]


def unimported(scope: Scope, brought: Sequence[tuple[ast.Import, Scope]], used: set[Span], report: Report) -> None:
    """Warns of the spec's own imports that bring nothing that is used. Where a definition of its own is not used, its
    body may need them.
    """
    own = [d for d in (*scope.callables.values(), *scope.strategies.values()) if d.scope is scope]
    if any(definition.span not in used for definition in own):
        return
    for item, imported in brought:
        names = (*imported.callables.values(), *imported.strategies.values(), *imported.models.values())
        if item.span.source is scope.source and not any(definition.span in used for definition in names):
            report(say.unused_import(item.path.value, item.span, without_import(item)))


def uncalled(scope: Scope, called: set[Span], report: Report) -> None:
    """Warns of what the spec itself defines and nothing uses: a body is checked where it is called."""
    for definition in (*scope.callables.values(), *scope.strategies.values()):
        if definition.scope is scope and definition.span not in called:
            what = type(definition.node).__name__.lower()
            cures = without_definition(definition.node)
            report(say.unused_definition(what, definition.node.name.text, definition.span, cures))
