"""The items of an earlier text of a file, by their own text: what an edit does not touch is not read again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from meshc.source import Part, SourceFile
from meshc.syntax import ast

Element = ast.Axis | ast.Dim | ast.Rule


@dataclass(frozen=True, eq=False)
class KeptItem:
    """An item and its parts, each with the offset from the item's start: the whole, then its axes, dims or rules."""

    item: ast.Item
    parts: tuple[tuple[Part, int], ...]

    def move(self, source: SourceFile, start: int) -> None:
        for part, offset in self.parts:
            part.source, part.start = source, start + offset

    @property
    def elements(self) -> Iterator[tuple[str, Part, Element]]:
        """Those that have a part of their own, with their text."""
        own = {id(part) for part, _ in self.parts[1:]}
        for node in elements_of(self.item):
            origin = node.span.origin
            if isinstance(origin, Part) and id(origin) in own:
                yield node.span.text, origin, node


Items = dict[str, list[KeptItem]]


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
        kept = found.pop(0)
        kept.move(source, start)
        self.now.setdefault(text, []).append(kept)
        return kept.item

    def put(self, text: str, item: ast.Item, parts: tuple[Part, ...]) -> ast.Item:
        """Keeps an item that was read. It has those of its axes, dims or rules that were there before as they were."""
        start = parts[0].start
        offsets = {id(part): (part, part.start - start) for part in parts}
        known: dict[str, tuple[Part, Element]] = {}
        if elements_of(item):
            others = (kept for found in self.before.values() for kept in found if type(kept.item) is type(item))
            known = {text: (part, node) for kept in others for text, part, node in kept.elements}
        elements: list[Element] = []
        for node in elements_of(item):
            part = node.span.origin
            old = known.pop(node.span.text, None) if id(part) in offsets and part is not parts[0] else None
            if old is not None:
                old[0].source, old[0].start = part.source, part.start
                offsets[id(part)] = (old[0], part.start - start)
            elements.append(old[1] if old else node)
        item = _with(item, tuple(elements))
        self.now.setdefault(text, []).append(KeptItem(item, tuple(offsets.values())))
        return item


def elements_of(item: ast.Item) -> tuple[Element, ...]:
    match item:
        case ast.Mesh(axes=elements) | ast.Dims(entries=elements) | ast.Partition(rules=elements):
            return elements
        case _:
            return ()


def _with(item: ast.Item, elements: tuple) -> ast.Item:
    match item:
        case ast.Mesh():
            return replace(item, axes=elements)
        case ast.Dims():
            return replace(item, entries=elements)
        case ast.Partition():
            return replace(item, rules=elements)
        case _:
            return item
