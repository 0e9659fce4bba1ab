"""YAML as a tree with places.

Of YAML only what a job needs: mappings, sequences, plain and quoted scalars by the core schema of YAML 1.2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from meshc.diagnostics import job as say
from meshc.diagnostics.model import Diagnostic
from meshc.source import SourceFile, Span

MAX_DEPTH = 20
"""A job nests to five; more is a mistake or an attack."""

_INTEGER = re.compile(r"[-+]?[0-9]{1,40}")
_HUGE = re.compile(r"[-+]?[0-9]{41,}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS = {word: value for value in (True, False) for word in (f"{value}", f"{value}".lower(), f"{value}".upper())}
_NULLS = frozenset(("", "~", "null", "Null", "NULL"))


@dataclass(frozen=True, slots=True)
class Scalar:
    """`value` is text, a number, a boolean or None; `text` what is written."""

    value: str | int | float | bool | None
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Entry:
    key: str
    key_span: Span
    value: Node


@dataclass(frozen=True, slots=True)
class Mapping:
    entries: tuple[Entry, ...]
    span: Span

    def get(self, key: str) -> Entry | None:
        return next((entry for entry in self.entries if entry.key == key), None)


@dataclass(frozen=True, slots=True)
class Sequence:
    items: tuple[Node, ...]
    span: Span


Node = Scalar | Mapping | Sequence


def plain(node: Node) -> Any:
    """The tree as dicts, tuples and scalars."""
    match node:
        case Scalar(value=value):
            return value
        case Mapping(entries=entries):
            return {entry.key: plain(entry.value) for entry in entries}
        case Sequence(items=items):
            return tuple(plain(item) for item in items)


def scalar(text: str, span: Span) -> Scalar:
    """An unquoted scalar by the core schema. `1e-4` is a number here, `yes` is not a boolean."""
    if text in _NULLS:
        return Scalar(None, text, span)
    if text in _WORDS:
        return Scalar(_WORDS[text], text, span)
    if _INTEGER.fullmatch(text):
        return Scalar(int(text), text, span)
    if _FLOAT.fullmatch(text) or text.lower().lstrip("+-") in (".inf", ".nan"):
        return Scalar(float(text.lower().replace(".inf", "inf").replace(".nan", "nan")), text, span)
    return Scalar(text, text, span)


def parse(source: SourceFile) -> tuple[Mapping | None, list[Diagnostic]]:
    """The mapping that a file holds, or None; and what is wrong with it, all but what ends the parse."""
    node, problems = parse_value(source)
    if isinstance(node, Mapping):
        return node, problems
    if not problems:
        problems = [say.not_a_mapping(node.span if node else Span(source, 0, 0), source.name)]
    return None, problems


def parse_value(source: SourceFile, skip: int = 0) -> tuple[Node | None, list[Diagnostic]]:
    """The one value that a file holds behind the first `skip` characters of its one line; None for an empty one."""
    from ruamel.yaml import YAML  # pyright: ignore[reportMissingImports]
    from ruamel.yaml.error import MarkedYAMLError, YAMLError  # pyright: ignore[reportMissingImports]

    reader = _Reader(source, YAML().parse(" " * skip + source.text[skip:]))
    try:
        root = reader.document()
    except _Stop:
        return None, reader.problems
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        offset = min(mark.index, len(source.text)) if mark else 0
        return None, [*reader.problems, say.bad_yaml(source, offset, str(error.problem or error.context))]
    except YAMLError as error:
        return None, [*reader.problems, say.bad_character(source, getattr(error, "position", 0))]
    return root, reader.problems


class _Stop(Exception):
    """What was found makes the rest of the text meaningless."""


class _Reader:
    """Builds the tree from ruamel's events, noting what is not allowed."""

    def __init__(self, source: SourceFile, events: Iterator[Any]) -> None:
        self.source = source
        self.events = events
        self.problems: list[Diagnostic] = []
        self.depth = 0

    def document(self) -> Node | None:
        root = None
        for event in self.events:
            match _kind(event):
                case "DocumentStart" if root is not None:
                    self.problems.append(say.second_document(self._span(event)))
                    raise _Stop
                case "Scalar" | "Alias" | "MappingStart" | "SequenceStart":
                    root = self._node(event)
        return root

    def _span(self, event: Any) -> Span:
        return Span(self.source, event.start_mark.index, event.end_mark.index)

    def _node(self, event: Any) -> Node:
        span = self._span(event)
        if _kind(event) == "Alias":
            self.problems.append(say.alias(span, event.anchor))
            return Scalar(None, "", span)
        if event.anchor:
            at = self.source.text.find(f"&{event.anchor}", span.start)
            self.problems.append(say.anchor(Span(self.source, at, at + 1 + len(event.anchor)), event.anchor))
        if event.ctag:
            self.problems.append(say.tag(span, str(event.ctag)))
        if _kind(event) == "Scalar":
            return self._scalar(event, span)
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.problems.append(say.too_deep(span, MAX_DEPTH))
            raise _Stop
        node = self._mapping(span) if _kind(event) == "MappingStart" else self._sequence(span)
        self.depth -= 1
        return node

    def _scalar(self, event: Any, span: Span) -> Scalar:
        text = event.value
        if event.style is not None:  # quoted or a block: text
            return Scalar(text, text, span)
        if _HUGE.fullmatch(text):
            self.problems.append(say.huge_number(span))
            return Scalar(1, text, span)
        return scalar(text, span)

    def _sequence(self, span: Span) -> Sequence:
        items: list[Node] = []
        while _kind(event := next(self.events)) != "SequenceEnd":
            items.append(self._node(event))
        return Sequence(tuple(items), self._whole(span, items, event))

    def _mapping(self, span: Span) -> Mapping:
        entries: dict[str, Entry] = {}
        while _kind(event := next(self.events)) != "MappingEnd":
            key, value = self._node(event), self._node(next(self.events))
            if problem := self._bad_key(key, entries):
                self.problems.append(problem)
            elif isinstance(key, Scalar):
                entries[key.text] = Entry(key.text, key.span, value)
        values = [entry.value for entry in entries.values()]
        return Mapping(tuple(entries.values()), self._whole(span, values, event))

    def _whole(self, begin: Span, children: list[Node], end: Any) -> Span:
        """From its begin to its bracket, or where it has none to the end of its last child."""
        closing = self._span(end)
        last = children[-1].span.end if children else begin.end
        return Span(self.source, begin.start, closing.end if closing.text else last)

    def _bad_key(self, key: Node, entries: dict[str, Entry]) -> Diagnostic | None:
        if not isinstance(key, Scalar) or key.value is None:
            return say.key_not_text(key.span)
        if key.text == "<<":
            return say.merge_key(key.span)
        if key.text in entries:
            return say.duplicate_key(key.text, key.span, entries[key.text].key_span)
        return None


def _kind(event: Any) -> str:
    return type(event).__name__.removesuffix("Event")
