"""What is changed: every spec and job of this repository, and the specs of the tests' pages."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from meshc.source import SourceFile, Span
from meshc.syntax import ast
from meshc.syntax.parser import parse

ROOT = Path(__file__).parent.parent.parent
TOKENS = re.compile(r'"[^"\n]*"|[A-Za-z_]\w*\'*|\d\S*|\.\.|->|:=|\*\*|//|[<>=!]=|#[^\n]*|\S|\n')
FENCED = re.compile(r"^```(?P<kind>mesh|yaml)[^\n]*\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
LARGEST = 6_000
"""Characters of a text that is changed: a long one costs as much as many short ones, and holds the same constructs."""


@dataclass(frozen=True)
class Seed:
    """A text to begin with. A job is for `spec`, which stays as it is."""

    name: str
    text: str
    spec: str | None = None

    @cached_property
    def tokens(self) -> tuple[tuple[int, int], ...]:
        return tuple(match.span() for match in TOKENS.finditer(self.text))

    @cached_property
    def nodes(self) -> tuple[tuple[str, int, int], ...]:
        """Class and place of each node of its tree; none of a job, which has no such tree."""
        if self.spec is not None:
            return ()
        file, _ = parse(SourceFile(self.name, self.text))
        return tuple(dict.fromkeys(_nodes(file.items)))


def seeds() -> tuple[Seed, ...]:
    """In an order that does not depend on the machine."""
    files = sorted((ROOT / "specs").rglob("*.mesh"))
    found = [Seed(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in files]
    for page in sorted((ROOT / "tests" / "language").rglob("*.md")):
        found += _of_page(page)
    return tuple(seed for seed in found if len(seed.text) <= LARGEST)


def _of_page(page: Path) -> Iterator[Seed]:
    spec = (ROOT / "specs/quickstart/spec.mesh").read_text(encoding="utf-8")
    for number, match in enumerate(FENCED.finditer(page.read_text(encoding="utf-8"))):
        name = f"{page.stem}:{number}"
        if match["kind"] == "mesh":
            spec = match["text"]
            yield Seed(name, spec)
        else:
            yield Seed(name, match["text"], spec)


def _nodes(node: Any) -> Iterator[tuple[str, int, int]]:
    if isinstance(node, tuple):
        for child in node:
            yield from _nodes(child)
    elif dataclasses.is_dataclass(node) and not isinstance(node, Span):
        span = getattr(node, "span", None)
        if span is not None and not isinstance(node, ast.File):
            yield type(node).__name__, span.start, span.end
        for field in dataclasses.fields(node):
            yield from _nodes(getattr(node, field.name))
