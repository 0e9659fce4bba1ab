"""From the text of a spec to a program: imports read, dims sized, layers called, strategies expanded."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from keyword import iskeyword
from typing import cast

from meshc.diagnostics import spec_names
from meshc.diagnostics.model import Diagnostic
from meshc.semantics.build import Builder
from meshc.semantics.expand import elaborate
from meshc.semantics.functions import FUNCTIONS
from meshc.semantics.imports import Library, Loader, read_import
from meshc.semantics.memory import Memory
from meshc.semantics.meshes import Devices, read_meshes
from meshc.semantics.misspelt import misspelt, unused_names
from meshc.semantics.overrides import Overrides, check_keys, overridden
from meshc.semantics.program import Dim, Module, Program, Value
from meshc.semantics.report import Report
from meshc.semantics.scope import Definition, Scope
from meshc.semantics.sizes import Entry, SizeTable
from meshc.semantics.strategies import Expansion, Here, Known
from meshc.semantics.unused import uncalled, unimported, unused
from meshc.source import SourceFile, Span
from meshc.syntax import ast

EXPERTS = "experts"  # what lies between `route` and `combine`
CASCADING = frozenset(
    (
        "E0202",
        "E0203",
        "E0204",
        "E0205",
        "E0206",
        "E0207",
        "E0208",
        "E0213",
        "E0234",
        "E0238",
        "E0251",
        "W0310",
        "W0311",
        "W0312",
        "W0313",
        "W0314",
    )
)
"""What may only say that an item is missing which did not parse."""
OF_IMPORTS = frozenset(("E0205", "E0206", "E0207", "E0213"))
"""What may only say that an import is missing which could not be read."""


def resolve(
    source: SourceFile,
    overrides: Overrides = (),
    load: Loader = read_import,
    devices: int | None = None,
    memory: Memory | None = None,
) -> tuple[Program | None, list[Diagnostic]]:
    """The program of a spec, on a slice of `devices` devices (None: as many as its mesh says).

    The program is there whenever its model and mesh are sound, so that placement can find what else is wrong; it is
    whole only if no error is reported. `memory` is that of the checks before, to be used again.
    """
    with _deep_stack():
        return _resolve(source, overrides, load, devices, memory or Memory())


@contextmanager
def _deep_stack() -> Iterator[None]:
    """Room for MOST_DEEP layers that call each other from within expressions as deep as the parser lets through."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 50_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def _resolve(
    source: SourceFile, overrides: Overrides, load: Loader, devices: int | None, memory: Memory
) -> tuple[Program | None, list[Diagnostic]]:
    report = Report()
    library = Library(load, report, frozenset(FUNCTIONS), memory)
    scope = library.main(source)
    file = library.files[scope.source]
    dims = _dims(file, overrides, report)
    mesh = read_meshes([i for i in file.items if isinstance(i, ast.Mesh)], overrides, devices, report)
    check_keys(overrides, dict(dims.entries), mesh.names, report)
    builder = Builder(dims, report, memory=memory)
    model = _model(file, scope, builder)
    expansion = _partition(library, scope, builder, mesh, report)
    if model is not None:
        unused(builder, model, report, library.files.values())
        used = builder.called | expansion.called
        uncalled(scope, used, report)
        models = {definition.span for definition in scope.models.values() if definition.span == model.span}
        if not report.failed:  # of what is wrong a name may be meant to come from there
            unimported(scope, library.brought, used | models, report)
    found = report.found
    if library.broken or library.missing:
        follows = CASCADING if library.broken else OF_IMPORTS
        found = [d for d in found if d.code not in follows or _slip(d)]
    found = misspelt(found, unused_names(file, scope, builder, mesh, builder.called | expansion.called))
    if model is None or not mesh.sound:
        return None, found
    return _program(scope.source, mesh, dims, model, expansion, builder.facts.counts), found


def _slip(found: Diagnostic) -> bool:
    """Whether a layer or strategy that is not there is near to one that is: then it is not what is missing."""
    return found.code in ("E0205", "E0206") and bool(found.edits) and not found.cause


def _dims(file: ast.File, overrides: Overrides, report: Report) -> SizeTable:
    entries: dict[str, Entry] = {}
    for block in (item for item in file.items if isinstance(item, ast.Dims)):
        for entry in block.entries:
            name = entry.name
            if name.text in entries:
                twice = spec_names.defined_twice(name.text, name.span, entries[name.text].name.span)
                # A block that was pasted is one mistake, however many dims it has.
                report(replace(twice, cause=f"dims declared again from {block.span.start}"))
            else:
                entries[name.text] = Entry(name, entry.size)
    changed = overridden(entries, _of_dims(overrides), "")
    table = SizeTable(changed, report, spec_names.unknown_dim)
    for name in entries:
        table.dim(name)
    table.used.clear()
    return table


def _of_dims(overrides: Overrides) -> Overrides:
    return tuple(item for item in overrides if not item.key.text.startswith("mesh."))


def _model(file: ast.File, scope: Scope, builder: Builder) -> Module | None:
    """The one model of the spec: its own, else the one that its imports bring in."""
    report = builder.report
    own = [item for item in file.items if isinstance(item, ast.Model)]
    for second in own[1:]:
        report(spec_names.two_models(second.name.text, second.name.span, own[0].name.text, own[0].name.span))
    models = [scope.models[own[0].name.text]] if own else list(scope.models.values())
    if not models:
        report(spec_names.no_model(Span(file.source, 0, min(1, len(file.source.text)))))
        return None
    if len(models) > 1:
        one, two = models[:2]
        report(spec_names.two_models(two.node.name.text, two.span, one.node.name.text, one.span))
        return None
    for item in file.items:
        if isinstance(item, ast.Primitive):
            _check_target(item, report)
    return _sound(models[0], builder)


def _check_target(primitive: ast.Primitive, report: Report) -> None:
    module, colon, function = primitive.target.value.partition(":")
    names = (*module.split("."), function)
    if not colon or not all(name.isidentifier() and not iskeyword(name) for name in names):
        report(spec_names.bad_target(primitive.target.value, primitive.target.span))


def _sound(definition: Definition, builder: Builder) -> Module | None:
    """The elaborated model, if elaborating it found no error."""
    before = sum(d.severity == "error" for d in builder.report.found)
    dims_sound = all(builder.dims.dim(name) is not None for name in builder.dims.entries)
    model = elaborate(builder, definition)
    after = sum(d.severity == "error" for d in builder.report.found)
    if after == before and dims_sound and not builder.has_loss:
        builder.report(spec_names.no_loss(definition.node.name.text, definition.span))
        return None
    return model if after == before and dims_sound else None


def _partition(library: Library, scope: Scope, builder: Builder, mesh: Devices, report: Report) -> Expansion:
    file = library.files[scope.source]
    blocks = [item for item in file.items if isinstance(item, ast.Partition)]
    for second in blocks[1:]:
        report(spec_names.two_blocks("partition", second.span, blocks[0].span))
    called = frozenset(module.layer for module in builder.modules)
    named = frozenset(name.rpartition(".")[2] for name in scope.names("callables"))
    layers = frozenset(FUNCTIONS) | called | named | {EXPERTS}
    for view in mesh.views:
        if view.name not in layers:
            report(spec_names.unknown_place(view.name, view.span, layers))
    known = Known(mesh, frozenset(builder.dims.entries), layers)
    expansion = Expansion(known, report)
    if not blocks:
        return expansion
    read = (ast.Strategy, ast.Import)
    places = tuple(item.span for f in library.files.values() for item in f.items if isinstance(item, read))
    views = tuple((view.name, view.group, view.axes) for view in mesh.views)
    question = (tuple(rule.span for rule in blocks[0].rules), places, mesh.axes, views, known.dims, layers)
    found: Expansion | None = builder.memory.expansions.get(question)
    if found is not None:
        return found
    asked = report.asked
    expansion.expand(blocks[0].rules, Here(scope))
    if report.asked == asked:
        builder.memory.expansions.put(question, expansion)
    return expansion


def _program(
    source: SourceFile,
    mesh: Devices,
    dims: SizeTable,
    model: Module,
    expansion: Expansion,
    counts: Mapping[Value, Dim],
) -> Program:
    sized = {name: dim for name in dims.entries for dim in (dims.dim(name),)}
    return Program(
        source=source,
        axes=mesh.axes,
        mesh_span=mesh.mesh.span if mesh.mesh else None,
        views=mesh.views,
        dims=cast("dict[str, Dim]", sized),
        model=model,
        uses=tuple(expansion.uses),
        of_one=frozenset(expansion.of_one),
        rules=tuple(expansion.rules),
        exchanges=tuple(expansion.exchanges),
        stages=tuple(expansion.stages),
        gathered="kept" if any(word == "kept" for word, _ in expansion.gathered) else "again",
        counts={value.name: counts[value] for value in model.inputs if value in counts},
    )
