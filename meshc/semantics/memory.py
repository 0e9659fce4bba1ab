"""What a check remembers, and an editor's session hands on to the next: each answer beside all that it depends on.

There is no second compiler for editors: every check works with a memory, a cold one with an empty one. An answer is
used again where a question is the same to the last detail, down to the places in the text that it could speak of
(which move with their items, see `source.Part`); one that came with a diagnostic is never kept.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from meshc.diagnostics.model import Diagnostic
from meshc.source import SourceFile, Span
from meshc.syntax import ast
from meshc.syntax.kept import KeptItems
from meshc.syntax.parser import parse

Answer = TypeVar("Answer")
MOST_UNUSED = 2_000
"""Answers of checks that did not come to their end, such as those of a spec that is being typed."""


@dataclass(eq=False)
class Answers(Generic[Answer]):
    """Answers of this check and the last whole one; older ones are forgotten."""

    before: dict[Hashable, Answer] = field(default_factory=dict)
    now: dict[Hashable, Answer] = field(default_factory=dict)

    def get(self, question: Hashable) -> Answer | None:
        found = self.now.get(question)
        if found is None and (found := self.before.pop(question, None)) is not None:
            self.now[question] = found
        return found

    def put(self, question: Hashable, answer: Answer) -> None:
        self.now[question] = answer

    def turn(self, whole: bool) -> None:
        """A check ends; where it asked for everything, what it did not ask for is forgotten."""
        if whole or len(self.now) + len(self.before) > MOST_UNUSED:
            self.before, self.now = self.now, {}

    def clear(self) -> None:
        self.before, self.now = {}, {}


@dataclass(eq=False)
class ReadFile:
    """A file as it was last read."""

    source: SourceFile
    file: ast.File
    problems: list[Diagnostic]
    items: KeptItems


@dataclass(eq=False)
class Memory:
    """calls: of layers, by layer and arguments.

    books: what followed of the rules of the last programs that differed in these, the newest last
    """

    files: dict[str, ReadFile] = field(default_factory=dict)
    callees: Answers[tuple[str, ...]] = field(default_factory=lambda: Answers[tuple[str, ...]]())
    stamps: Answers[int] = field(default_factory=lambda: Answers[int]())
    calls: Answers[Any] = field(default_factory=lambda: Answers[Any]())
    expansions: Answers[Any] = field(default_factory=lambda: Answers[Any]())
    books: list[tuple[Hashable, Any]] = field(default_factory=list)
    stamped: int = 0
    asked: set[str] = field(default_factory=set)  # the files that this check has read

    def read(self, source: SourceFile) -> ReadFile:
        """A file parsed; the very same as last time where its text is."""
        self.asked.add(source.name)
        last = self.files.get(source.name)
        if last is not None and last.source.text == source.text:
            return last
        items = last.items if last else KeptItems()
        file, problems = parse(source, items)
        self.files[source.name] = ReadFile(source, file, problems, items)
        return self.files[source.name]

    @classmethod
    def aside(cls, files: Mapping[str, ReadFile]) -> Memory:
        """One that knows some files, for checks of changed texts that leave the parts of these where they are."""
        return cls({name: replace(read, items=KeptItems()) for name, read in files.items()})

    def stamp(self, place: Span, callees: tuple[int, ...]) -> int:
        """A number for a layer as it is now, with all that it calls."""
        found = self.stamps.get((place, callees))
        if found is None:
            self.stamped += 1
            self.stamps.put((place, callees), found := self.stamped)
        return found

    def turn(self, whole: bool) -> None:
        """A check ends. `whole`: it came to its end."""
        self.files = {name: self.files[name] for name in self.asked}
        self.asked.clear()
        for answers in (self.callees, self.stamps, self.calls, self.expansions):
            answers.turn(whole)
