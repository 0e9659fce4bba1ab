"""Reading the files that a spec imports, each once, and making each one's scope."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from meshc.diagnostics import spec_names as say
from meshc.semantics.report import Report
from meshc.semantics.scope import Scope
from meshc.source import SourceFile, Span
from meshc.syntax import ast
from meshc.syntax.parser import parse

SPECS = Path(__file__).parent.parent / "specs"
STRATEGIES = "std/strategies.mesh"
LARGEST = 10_000_000  # bytes of one spec; ten times the largest anybody writes

Loader = Callable[[str, SourceFile], "SourceFile | str"]
"""Reads `import "path"` in a file: the text, or (a str) why it cannot be read."""


def read_import(path: str, importer: SourceFile) -> SourceFile | str:
    """Reads `std/…` from the package, any other path from beside the importing file."""
    if path.startswith("std/"):
        return _read(path, SPECS / path)
    if importer.name.startswith("std/"):
        return _read(f"std/{path}", SPECS / "std" / path)
    file = Path(importer.name).parent / path
    return _read(str(file), file)


def _read(name: str, file: Path) -> SourceFile | str:
    try:
        if file.is_dir():
            return "it is a directory"
        if file.stat().st_size > LARGEST:
            return f"it is larger than {LARGEST // 1_000_000} MB"
        text = file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return "no such file"
    except UnicodeDecodeError:
        return "it is not UTF-8 text"
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        return getattr(error, "strerror", None) or str(error)
    return "it holds NUL bytes" if "\0" in text else SourceFile(name, text)


@dataclass
class Library:
    """All files of one spec."""

    load: Loader
    report: Report
    reserved: frozenset[str]  # the names of the language's own functions
    broken: set[SourceFile] = field(default_factory=set)  # files that do not parse wholly
    files: dict[SourceFile, ast.File] = field(default_factory=dict)
    _scopes: dict[str, Scope] = field(default_factory=dict)
    _open: list[str] = field(default_factory=list)
    _prelude: Scope | None = None

    def main(self, source: SourceFile) -> Scope:
        """The scope of the spec itself."""
        prelude = self.load(STRATEGIES, SourceFile("std/", ""))
        assert isinstance(prelude, SourceFile), prelude  # it ships with the compiler
        self._prelude = self._scope(prelude, _key(prelude))
        return self._scope(source, _key(source))

    def _scope(self, source: SourceFile, key: str) -> Scope:
        if key in self._scopes:
            return self._scopes[key]
        file, problems = parse(source)
        for problem in problems:
            self.report(problem)
        if any(problem.severity == "error" for problem in problems):
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
        source = self.load(item.path.value, scope.source)
        if isinstance(source, str):
            self.report(say.import_missing(item.path.value, source, item.path.span, _beside(item.path, scope.source)))
            return
        key = _key(source)
        if key in self._open:
            cycle = [*self._open[self._open.index(key) :], key]
            self.report(say.import_cycle([Path(name).name for name in cycle], item.span))
            return
        imported = self._scope(source, key)
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


def _beside(path: ast.Text, importer: SourceFile) -> list[str]:
    """Paths of specs that exist where one was looked for."""
    std = path.value.startswith("std/")
    folder = SPECS / "std" if std else (Path(importer.name).parent / path.value).parent
    prefix = path.value.rpartition("/")[0]
    try:
        names = [file.name for file in folder.iterdir() if file.suffix == ".mesh"]
    except OSError:
        return []
    return [f"{prefix}/{name}" if prefix else name for name in names[:1000]]
