"""Trying a changed spec: with other sizes, with other text. What a cure is told for has been checked so."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from meshc.diagnostics.edits import edited
from meshc.diagnostics.model import Diagnostic, Edit, Option
from meshc.job.slices import Slice
from meshc.semantics.alternatives import MICROSTEPS
from meshc.semantics.imports import Loader
from meshc.semantics.memory import Memory, ReadFile
from meshc.semantics.overrides import Override, Overrides, override
from meshc.semantics.placed import PlacedProgram
from meshc.semantics.program import Program
from meshc.semantics.resolve import resolve
from meshc.source import SourceFile, Span
from meshc.syntax import ast
from meshc.syntax.parser import parse

MOST_TRIES = 24
"""Changes that are tried of one spec: each costs as much as checking it."""
MOST_LETTERS = 150_000
"""That are checked again in all: of a large spec fewer changes are tried, and of a larger one none."""


@dataclass(frozen=True)
class Subject:
    """What is checked: a spec with its overrides and imports, on a slice where one is known. `files` were read."""

    spec: SourceFile
    overrides: Overrides
    load: Loader
    slice: Slice | None
    microsteps: int
    files: dict[str, ReadFile] = field(default_factory=dict)

    @property
    def devices(self) -> int | None:
        return self.slice.chips if self.slice else None


def check_program(
    program: Program, microsteps: int, slice: Slice | None, warn: bool = True, memory: Memory | None = None
) -> tuple[PlacedProgram, list[Diagnostic]]:
    """A program placed, and what is wrong with that; without `warn`, only errors are looked for."""
    from meshc.semantics.checks import CHECKS, ONLY_WARN, WITHOUT_SIZES, Context
    from meshc.semantics.placement import place

    placed, found = place(program, microsteps, memory)
    context = Context(placed, slice)
    checks = WITHOUT_SIZES if any(axis.assumed for axis in program.axes) else CHECKS
    checks = checks if warn else [check for check in checks if check not in ONLY_WARN]
    return placed, [*found, *(problem for rule in checks for problem in rule(context))]


@dataclass
class Trials:
    """The changes tried so far of one subject, in which `before` was found. `program` is None where it is not whole;
    `job` says where values of a job are written in a file.
    """

    subject: Subject
    program: Program | None
    before: Sequence[Diagnostic]
    job: Mapping[str, Span] = field(default_factory=dict)
    tries: int = 0
    memory: Memory = field(init=False)
    _memo: dict[object, list[Diagnostic]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.memory = Memory.aside(self.subject.files)

    def attempt(self, option: Option, warn: bool = False) -> list[Diagnostic] | None:
        """What is wrong with the changed spec; None where it has been tried often enough."""
        if not self._keeps_devices(option) or not self._keeps_views(option):
            return [*self.before, _OTHER_WORLD]
        key = (option.sizes, option.edits, option.elsewhere, warn)
        if key not in self._memo:
            if self.tries >= self.most:
                return None
            self.tries += 1
            self._memo[key] = self._found(option, warn)
        return self._memo[key]

    def written(self, option: Option) -> tuple[Edit, ...] | None:
        """The edits that an option comes to; a `*` goes on to take what is left."""
        edits = list(option.edits)
        for key, size in option.sizes:
            if key in self._stars and len(option.sizes) > 1:
                continue
            at = self._overridden[key] if key in self._overridden else self._sizes.get(key)
            if at is None:
                return None
            edits.append(Edit(at, str(size)))
        return tuple(edits)

    @cached_property
    def most(self) -> int:
        """How many changes may be tried."""
        return min(MOST_TRIES, MOST_LETTERS // max(1, len(self.subject.spec.text)))

    # ------------------------------------------------------------ checking

    def _found(self, option: Option, warn: bool) -> list[Diagnostic]:
        subject = self.subject
        sizes = dict(option.sizes)
        microsteps = sizes.pop(MICROSTEPS, subject.microsteps)
        kept = tuple(o for o in subject.overrides if o.key.text not in sizes)
        overrides: tuple[Override, ...] = (*kept, *(override(key, size) for key, size in sizes.items()))
        devices, slice = (None, None) if option.elsewhere else (subject.devices, subject.slice)
        program, found = resolve(
            self._edited(subject.spec, option), overrides, self._loader(option), devices, self.memory
        )
        if program is None:
            return found
        return [*found, *check_program(program, microsteps, slice, warn, self.memory)[1]]

    def _edited(self, source: SourceFile, option: Option) -> SourceFile:
        edits = [edit for edit in option.edits if edit.span.source.name == source.name]
        edits.sort(key=lambda edit: edit.span.start)
        return SourceFile(source.name, edited(source.text, edits)) if edits else source

    def _loader(self, option: Option) -> Loader:
        if not option.edits:
            return self.subject.load

        def load(path: ast.Text, importer: SourceFile) -> SourceFile | Diagnostic:
            found = self.subject.load(path, importer)
            return self._edited(found, option) if isinstance(found, SourceFile) else found

        return load

    # ------------------------------------------------------------ what is declared

    @cached_property
    def _meshes(self) -> list[ast.Mesh]:
        return [item for item in self._file.items if isinstance(item, ast.Mesh)]

    @cached_property
    def _file(self) -> ast.File:
        return parse(self.subject.spec)[0]

    @cached_property
    def _sizes(self) -> dict[str, Span]:
        """Where sizes are written as numbers in the spec."""
        dims = [entry for item in self._file.items if isinstance(item, ast.Dims) for entry in item.entries]
        axes = [axis for mesh in self._meshes for axis in mesh.axes]
        named = [*((dim.name.text, dim.size) for dim in dims), *((f"mesh.{a.name.text}", a.size) for a in axes)]
        return {name: size.span for name, size in named if isinstance(size, ast.Number)}

    @cached_property
    def _overridden(self) -> dict[str, Span | None]:
        """Where overrides are written in a file; of one on the command line nothing can be edited."""
        found = {o.key.text: o.size.span if o.size else None for o in self.subject.overrides}
        return {
            key: at if at and at.source.name.endswith((".yaml", ".yml")) else None
            for key, at in {**found, **self.job}.items()
        }

    @cached_property
    def _stars(self) -> set[str]:
        changed = {o.key.text: o.size for o in self.subject.overrides}
        axes = {f"mesh.{axis.name.text}": axis.size for mesh in self._meshes for axis in mesh.axes}
        return {key for key, size in axes.items() if changed.get(key, size) is None}

    def _keeps_devices(self, option: Option) -> bool:
        """False where a mesh that fills the slice would not any more: known without a try."""
        main = next((mesh for mesh in self._meshes if mesh.name is None), None)
        sizes = {key: size for key, size in option.sizes if key.startswith("mesh.")}
        if option.elsewhere:
            return self.subject.slice is not None
        if self.subject.slice is None or main is None or not sizes or option.edits:
            return True
        if any(problem.code in ("E0303", "E0304", "E0219") for problem in self.before):
            return True
        names = [f"mesh.{axis.name.text}" for axis in main.axes]
        if any(name in self._stars and name not in sizes for name in names):
            return True
        known = {f"mesh.{axis.name}": axis.size for axis in self.program.axes} if self.program else {}
        if not any(name in sizes for name in names) or any(name not in known for name in names):
            return True
        return math.prod(sizes.get(name, known[name]) for name in names) == self.subject.slice.chips

    def _keeps_views(self, option: Option) -> bool:
        """False where a view would be of more or fewer devices than it regroups: known without a try."""
        changed = {key.removeprefix("mesh."): size for key, size in option.sizes if key.startswith("mesh.")}
        if self.program is None or not changed or option.edits or any(d.code == "E0220" for d in self.before):
            return True
        filled = {key.removeprefix("mesh.") for key in self._stars} - changed.keys()
        now = {axis.name: axis.size for view in (self.program, *self.program.views) for axis in view.axes} | changed
        for view in self.program.views:
            own = [axis.name for axis in view.axes]
            if filled.isdisjoint((*own, *view.group)) and math.prod(map(now.__getitem__, own)) != math.prod(
                map(now.__getitem__, view.group)
            ):
                return False
        return True


_OTHER_WORLD = Diagnostic("E0304", "")
