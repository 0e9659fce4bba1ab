"""Reading the files that a spec imports, each once, and making each one's scope."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from meshc.diagnostics import spec_names as say
from meshc.diagnostics.model import Diagnostic
from meshc.load import load
from meshc.semantics.memory import Memory
from meshc.semantics.report import Report
from meshc.semantics.scope import Scope
from meshc.source import SourceFile, Span
from meshc.syntax import ast

SPECS = Path(__file__).parent.parent / "specs"
STRATEGIES = "std/strategies.mesh"

Loader = Callable[[ast.Text, SourceFile], "SourceFile | Diagnostic"]
"""Reads the path of an import in a file: the text, or what is wrong with it."""


def read_import(path: ast.Text, importer: SourceFile) -> SourceFile | Diagnostic:
    """Reads `std/…` from the package, any other path from beside the importing file."""
    if path.value.startswith("std/"):
        return load(SPECS / path.value, path.value, path.span)
    if importer.name.startswith("std/"):
        name = f"std/{path.value}"
        return load(SPECS / name, name, path.span)
    found = load(Path(importer.name).parent / path.value, asked=path.span)
    name = Path(path.value).name
    if isinstance(found, Diagnostic) and found.code == "E0130" and name in {p.name for p in (SPECS / "std").iterdir()}:
        return say.shipped_as(found, f"std/{name}", path.span)
    return found


def std_strategies() -> SourceFile:
    """The strategies that are always in scope."""
    return SourceFile(STRATEGIES, (SPECS / STRATEGIES).read_text("utf-8"))


@dataclass
class Library:
    """All files of one spec."""

    load: Loader
    report: Report
    reserved: frozenset[str]  # the names of the language's own functions
    memory: Memory
    broken: set[SourceFile] = field(default_factory=set)  # files that do not parse wholly
    missing: bool = False  # an import that could not be read, and what it would have brought
    files: dict[SourceFile, ast.File] = field(default_factory=dict)
    brought: list[tuple[ast.Import, Scope]] = field(default_factory=list)  # by imports, of whatever file
    _scopes: dict[str, Scope] = field(default_factory=dict)
    _open: list[str] = field(default_factory=list)
    _prelude: Scope | None = None

    def main(self, source: SourceFile) -> Scope:
        """The scope of the spec itself."""
        prelude = std_strategies()
        self._prelude = self._scope(prelude, _key(prelude))
        return self._scope(source, _key(source))

    def _scope(self, source: SourceFile, key: str) -> Scope:
        if key in self._scopes:
            return self._scopes[key]
        read = self.memory.read(source)
        source, file = read.source, read.file
        for problem in read.problems:
            self.report(problem)
        if any(problem.severity == "error" for problem in read.problems):
            self.broken.add(source)
        self.files[source] = file
        scope = Scope(source, std=source.name.startswith("std/"), prelude=self._prelude)
        self._open.append(key)
        for item in file.items:
            if isinstance(item, ast.Import):
                self._import(item, scope)
        self._open.pop()
        for item in file.items:
            if isinstance(item, ast.Layer | ast.Model | ast.Primitive | ast.Strategy):
                scope.define(item, self.report, self.reserved)
        self._scopes[key] = scope
        return scope

    def _import(self, item: ast.Import, scope: Scope) -> None:
        source = self.load(item.path, scope.source)
        if isinstance(source, Diagnostic):
            self.report(source)
            self.missing = True
            return
        key = _key(source)
        if key in self._open:
            cycle = [*self._open[self._open.index(key) :], key]
            self.report(say.import_cycle([Path(name).name for name in cycle], item.span))
            return
        imported = self._scope(source, key)
        self.brought.append((item, imported))
        if item.alias is None:
            scope.bring_in(imported, self.report)
        elif item.alias.text in scope.modules:
            self.report(say.defined_twice(item.alias.text, item.alias.span, _alias(scope, self.files, item)))
        else:
            scope.modules[item.alias.text] = imported


def _alias(scope: Scope, files: dict[SourceFile, ast.File], item: ast.Import) -> Span:
    """Where an earlier import of the file takes the same alias."""
    imports = (i for i in files[scope.source].items if isinstance(i, ast.Import) and i.alias and item.alias)
    return next(i.alias.span for i in imports if i.alias and item.alias and i.alias.text == item.alias.text)


def _key(source: SourceFile) -> str:
    """One string for one file, however it is reached."""
    return source.name if source.name.startswith("std/") else str(Path(source.name).resolve())
