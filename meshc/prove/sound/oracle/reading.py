"""The text of a spec and of what it imports, as definitions by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import meshc.specs
from meshc.prove.sound.kinds import Kind
from meshc.source import SourceFile
from meshc.syntax import ast
from meshc.syntax.parser import parse

Definition = ast.Layer | ast.Primitive | ast.Strategy
_SPECS = Path(next(iter(meshc.specs.__path__)))
ALWAYS = "std/strategies.mesh"


@dataclass
class Wrong:
    """What has been found so far."""

    kinds: set[Kind] = field(default_factory=set)
    said: list[str] = field(default_factory=list)

    def say(self, kind: Kind, why: str) -> None:
        self.kinds.add(kind)
        self.said.append(f"{kind}: {why}")


@dataclass
class Scope:
    """What the names of one file mean. Each definition comes with the scope of the file that it stands in."""

    names: dict[str, tuple[Definition, Scope]] = field(default_factory=dict)


@dataclass
class Spec:
    """modules: of imports with `as`; own: names that this file itself defines"""

    scope: Scope
    mesh: ast.Mesh | None = None
    views: list[ast.Mesh] = field(default_factory=list)
    dims: list[ast.Dim] = field(default_factory=list)
    model: ast.Model | None = None
    partition: ast.Partition | None = None
    own: set[str] = field(default_factory=set)


def read(text: str, wrong: Wrong) -> Spec:
    """A spec without an own mesh has none: those of imported files are theirs."""
    file = _parsed("spec.mesh", text, wrong)
    scope = _scope(file, wrong, {})
    spec = Spec(scope)
    for item in file.items:
        _take(item, spec, wrong)
    if spec.model is None:
        wrong.say("call", "no model")
    return spec


def _take(item: ast.Item, spec: Spec, wrong: Wrong) -> None:
    match item:
        case ast.Mesh(name=None):
            if spec.mesh:
                wrong.say("call", "two meshes")
            spec.mesh = spec.mesh or item
        case ast.Mesh():
            spec.views.append(item)
        case ast.Dims():
            spec.dims += item.entries
        case ast.Model():
            if spec.model:
                wrong.say("call", "two models")
            spec.model = spec.model or item
        case ast.Partition():
            if spec.partition:
                wrong.say("call", "two partitions")
            spec.partition = spec.partition or item
        case ast.Layer() | ast.Primitive() | ast.Strategy():
            if item.name.text in spec.own:
                wrong.say("call", f"`{item.name.text}` twice")
            spec.own.add(item.name.text)
        case _:
            pass


def _parsed(name: str, text: str, wrong: Wrong) -> ast.File:
    file, found = parse(SourceFile(name, text))
    if found:
        wrong.say("syntax", "does not parse")
    return file


def _scope(file: ast.File, wrong: Wrong, read_before: dict[str, Scope]) -> Scope:
    """Names of the imports, then the file's own, which win over what ships."""
    scope = Scope()
    for name, found in _imported(file, wrong, read_before):
        scope.names[name] = found
    for item in file.items:
        if isinstance(item, ast.Layer | ast.Primitive | ast.Strategy):
            scope.names[item.name.text] = (item, scope)
    return scope


def _imported(
    file: ast.File, wrong: Wrong, read_before: dict[str, Scope]
) -> Iterator[tuple[str, tuple[Definition, Scope]]]:
    always = [] if file.source.name == ALWAYS else [(ALWAYS, "")]
    written = [(i.path.value, f"{i.alias.text}." if i.alias else "") for i in file.items if isinstance(i, ast.Import)]
    for path, prefix in [*always, *written]:
        place = _SPECS / path
        if not place.is_file():
            wrong.say("syntax", f"no file `{path}`")
            continue
        if path not in read_before:
            read_before[path] = Scope()
            read = _scope(_parsed(path, place.read_text(encoding="utf-8"), wrong), wrong, read_before)
            read_before[path].names.update(read.names)
        for name, found in read_before[path].names.items():
            yield prefix + name, found
