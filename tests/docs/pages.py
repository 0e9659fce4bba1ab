"""Code blocks of the documentation, and what has to hold for each kind.

A fence names a language and may name a file: ```` ```mesh long.mesh ````. Files that a page shows lie, for its console
blocks, in the directory where those run; `specs` is there too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(?P<language>\w+)(?: (?P<name>\S+))?\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
LEFT_OUT = re.compile(r"^\s*(#\s*)?(\.\.\.|…)$")


@dataclass(frozen=True, slots=True)
class Block:
    page: Path
    line: int
    language: str
    name: str | None
    text: str

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def blocks(page: Path) -> list[Block]:
    text = page.read_text()
    return [
        Block(page, text.count("\n", 0, found.start()) + 1, found["language"], found["name"], found["text"])
        for found in FENCE.finditer(text)
    ]


def all_blocks(*languages: str) -> list[Block]:
    return [block for page in PAGES for block in blocks(page) if block.language in languages]


@dataclass(frozen=True, slots=True)
class Command:
    """One `$ command` of a console block, and the output shown below it."""

    text: str
    output: str


def commands(block: Block) -> list[Command]:
    parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    assert not parts[0], f"{block} shows output before a command"
    return [Command(*part.split("\n", 1)) for part in parts[1:]]


def matches(shown: str, real: str) -> bool:
    """Whether `real` is what is shown, where a line of `…` or `...` stands for any number of lines."""
    pattern = "".join(
        r"(?:.*\n)*" if LEFT_OUT.match(line) else re.escape(line) + r"[ ]*\n" for line in shown.splitlines()
    )
    return re.fullmatch(pattern, real) is not None


def excerpt_of(shown: str, real: str) -> str | None:
    """The first shown line that does not follow the others in `real`; None where all do.

    Indentation is not compared.
    """
    rest = iter(line.strip() for line in real.splitlines())
    for line in shown.splitlines():
        if line.strip() and not LEFT_OUT.match(line) and line.strip() not in rest:
            return line
    return None
