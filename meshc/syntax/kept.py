"""The items of an earlier text of a file, by their own text: what an edit does not touch is not read again."""

from __future__ import annotations

from dataclasses import dataclass, field

from meshc.source import Part, SourceFile
from meshc.syntax import ast

Items = dict[str, list[tuple[Part, ast.Item]]]


@dataclass(eq=False)
class KeptItems:
    """Of the text before this one, and of this one as far as it is read. Of a broken item nothing is kept."""

    before: Items = field(default_factory=dict)
    now: Items = field(default_factory=dict)

    def turn(self) -> None:
        """A new text begins. Items that the last one did not have are forgotten."""
        self.before, self.now = self.now, {}

    def take(self, text: str, source: SourceFile, start: int) -> ast.Item | None:
        """The item of this text, moved to where it stands now. Each is taken once: two of the same text are two."""
        found = self.before.get(text)
        if not found:
            return None
        part, item = found.pop(0)
        part.source, part.start = source, start
        self.put(text, part, item)
        return item

    def put(self, text: str, part: Part, item: ast.Item) -> None:
        self.now.setdefault(text, []).append((part, item))
