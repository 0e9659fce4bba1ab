"""`--set name=value` and a job's `set:`, as they reach the spec. Each has a text of its own, for messages."""

from __future__ import annotations

from dataclasses import dataclass

from meshc.diagnostics import spec_names as say
from meshc.semantics.report import Report
from meshc.semantics.sizes import Entry
from meshc.source import SourceFile, Span
from meshc.syntax import ast


@dataclass(frozen=True)
class Override:
    """`key` is a dim's name, or `mesh.` and an axis's; the size is None for `*`."""

    key: ast.Name
    size: ast.Expr | None


Overrides = tuple[Override, ...]


def override(key: str, value: int | float | str | bool, source: SourceFile | None = None, at: int = 0) -> Override:
    """An override written `key=value` at offset `at` of `source` (without one: a `--set` of its own)."""
    text = f"{key}={value}"
    source = source or SourceFile("--set", text)
    split = at + len(key)
    name = ast.Name(key, Span(source, at, split))
    return Override(name, size_of(value, Span(source, split + 1, at + len(text))))


def override_at(key: ast.Name, value: int | float | str | bool, span: Span) -> Override:
    """An override whose key and value stand somewhere else, as in a YAML file."""
    return Override(key, size_of(value, span))


def size_of(value: int | float | str | bool, span: Span) -> ast.Expr | None:
    """A value as the size it stands for: a number, `*`, or whatever else, for the size table to refuse."""
    if isinstance(value, str):
        text = value.strip()
        if text == "*":
            return None
        if text.isdecimal() and text.isascii() and len(text) < 1000:
            return ast.Number(int(text), span)
        if text.startswith("-") and text[1:].isdecimal() and len(text) < 1000:
            return ast.Number(-int(text[1:]), span)
        return ast.Text(text, span)
    if isinstance(value, bool):
        return ast.Literal(value, span)
    return ast.Number(value, span)


def overridden(entries: dict[str, Entry], overrides: Overrides, prefix: str) -> dict[str, Entry]:
    """The entries with the sizes that the overrides of `prefix` give; `*` is no size of a dim."""
    result = dict(entries)
    for item in overrides:
        name = item.key.text.removeprefix(prefix) if item.key.text.startswith(prefix) else None
        if name in entries and item.size is not None:
            result[name] = Entry(entries[name].name, item.size)
    return result


def check_keys(overrides: Overrides, dims: dict[str, Entry], axes: list[str], report: Report) -> None:
    """Every override must speak of something that the spec declares."""
    known = [*dims, *(f"mesh.{axis}" for axis in axes)]
    for item in overrides:
        if item.key.text not in known:
            report(say.unknown_override(item.key.text, item.key.span, known))
        elif item.size is None and item.key.text in dims:
            report(say.star_for_a_dim(item.key.text, item.key.span))
