"""Code blocks of the documentation, and what is written into those that show what meshc prints.

A fence names a language and may name a file. For the console blocks of a page, the specs that it shows lie in the
directory where their commands run, and `specs` is there too.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
FENCE = re.compile(r"^```(?P<language>\w+)(?: (?P<name>\S+))?\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    page: Path
    line: int
    language: str
    name: str | None
    text: str

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def blocks(page: Path, *languages: str) -> list[Block]:
    """The blocks of a page, in order; of these languages, if any are named."""
    text = page.read_text()
    found = [
        Block(page, text.count("\n", 0, match.start()) + 1, match["language"], match["name"], match["text"])
        for match in FENCE.finditer(text)
    ]
    return [block for block in found if not languages or block.language in languages]


def with_output(text: str) -> str:
    """A page's text with what its `$ commands` print now below each."""
    with tempfile.TemporaryDirectory() as directory:
        (Path(directory) / "specs").symlink_to(ROOT / "specs")
        for match in FENCE.finditer(text):
            if match["language"] == "mesh" and match["name"]:
                (Path(directory) / match["name"]).write_text(match["text"])
        return _rewritten(text, "console", lambda shown, _: _session(shown, Path(directory)))


def _session(shown: str, directory: Path) -> str:
    commands = [line.removeprefix("$ ") for line in shown.splitlines() if line.startswith("$ ")]
    return "".join(f"$ {command}\n{_output(command, directory)}" for command in commands)


def _output(command: str, directory: Path) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "NO_COLOR": "1", "COLUMNS": "120"}
    ran = subprocess.run(
        command, shell=True, cwd=directory, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return "\n".join(line.rstrip() for line in ran.stdout.splitlines()) + "\n"


def with_code(text: str, file: str, code: str) -> str:
    """A page's text with its excerpts of `file` cut anew out of `code`: a fence ends in `file#NAME,NAME`."""

    def cut(shown: str, name: str | None) -> str:
        named, _, wanted = (name or "").partition("#")
        return excerpt(code, wanted.split(",")) if named == file else shown

    return _rewritten(text, "python", cut)


def excerpt(code: str, names: list[str]) -> str:
    """The top-level assignments, functions and classes of these names, and `Class.method`s.

    Each with the comments above it.
    """
    lines = code.splitlines()
    nodes = {name: node for node in ast.parse(code).body for name in _names(node)}
    parts = []
    for name in names:
        outer, _, method = name.partition(".")
        node = nodes[outer]
        if method:
            assert isinstance(node, ast.ClassDef)
            node = next(n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == method)
        start = node.lineno - 1
        while start and lines[start - 1].startswith("#"):
            start -= 1
        gap = "\n\n" if isinstance(node, ast.ClassDef | ast.FunctionDef) and not method else "\n"
        parts.append((gap if parts else "") + "\n".join(lines[start : node.end_lineno]) + "\n")
    return "".join(parts)


def _names(node: ast.stmt) -> list[str]:
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
            return [name]
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case _:
            return []


def _rewritten(text: str, language: str, change: Callable[[str, str | None], str]) -> str:
    def changed(match: re.Match[str]) -> str:
        if match["language"] != language:
            return match[0]
        name = f" {match['name']}" if match["name"] else ""
        return f"```{language}{name}\n{change(match['text'], match['name'])}```"

    return FENCE.sub(changed, text)
