"""Pages of markdown whose code blocks are specs, jobs and console sessions: what they hold and what meshc says of each.

A fence's first word is the language, then come settings: ```` ```mesh slice=cpu-8 set=tp=4,batch=8 ````. A `yaml` block is
a job for `spec.mesh`, the `mesh` block before it, or where there is none a small spec that is right (`TINY`). A `text`
block below either has lines of what meshc says of it, an `explain` block lines of what `meshc explain` prints.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from meshc.cost import tables
from meshc.diagnostics.model import Diagnostic
from meshc.diagnostics.render import full
from meshc.driver import check, compile_program
from meshc.job.target import Request
from tests.tiny import TINY

FENCE = re.compile(r"^```(?P<language>\w+)(?P<settings>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
MARKER = re.compile(r"#\s*(?P<severity>error|warning):\s*(?P<codes>(?:\[[EW]\d{4}\]\s*)+)")
ROOT = Path(__file__).parent.parent.parent


Found = set[tuple[int, str]]
"""Line, counted from 1 (0 where the block is not pointed at), and code."""


@dataclass(frozen=True)
class Block:
    page: Path
    line: int
    language: str
    slice: str | None
    text: str
    spec: str  # of a yaml block: the spec it is for
    sets: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    explains: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.page.stem}:{self.line}"

    @property
    def expected(self) -> Found:
        """What the markers say."""
        return {
            (number, code)
            for number, line in enumerate(self.text.splitlines(), 1)
            for marker in MARKER.finditer(line)
            for code in re.findall(r"[EW]\d{4}", marker["codes"])
        }

    def found(self, directory: Path) -> Found:
        """What meshc finds in it."""
        return {(_line(d, directory / self._name), d.code) for d in self._diagnostics(directory)}

    def said(self, directory: Path) -> list[str]:
        """The lines of the diagnostics in full."""
        return _lines(full.render(self._diagnostics(directory)))

    def explained(self, directory: Path) -> list[str]:
        """The lines of `meshc explain`; none where the spec is wrong."""
        compiled, _ = compile_program(self._request(directory), emit=False)
        return _lines(tables.text(compiled.report)) if compiled else []

    def codes(self, directory: Path) -> set[str]:
        if self.language == "console":
            return set(re.findall(r"\[([EW]\d{4})\]", session(self.text, directory)))
        return {d.code for d in self._diagnostics(directory)}

    @property
    def _name(self) -> str:
        return "job.yaml" if self.language == "yaml" else "spec.mesh"

    def _diagnostics(self, directory: Path) -> tuple[Diagnostic, ...]:
        return check(self._request(directory)).diagnostics

    def _request(self, directory: Path) -> Request:
        (directory / "spec.mesh").write_text(self.spec)
        (directory / self._name).write_text(self.text)
        return Request(str(directory / self._name), self.slice, self.sets)


def blocks(page: Path) -> list[Block]:
    text, spec, found = page.read_text(), TINY, []
    for fence in FENCE.finditer(text):
        settings = dict(item.split("=", 1) for item in fence["settings"].split())
        if fence["language"] in ("text", "explain"):
            lines = {"says" if fence["language"] == "text" else "explains": tuple(_lines(fence["text"]))}
            found[-1:] = [replace(found[-1], **lines)] if found else []
            continue
        line = text.count("\n", 0, fence.start()) + 1
        sets = tuple(settings["set"].split(",")) if "set" in settings else ()
        found.append(Block(page, line, fence["language"], settings.get("slice"), fence["text"], spec, sets))
        spec = fence["text"] if fence["language"] == "mesh" else spec
    return found


def _lines(text: str) -> list[str]:
    """Lines without what aligns them."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def _line(diagnostic: Diagnostic, path: Path) -> int:
    """Where the diagnostic points at the block; of one in a file that the block imports, what brought it there."""
    spans = (label.span for label in diagnostic.labels)
    return next((span.line for span in spans if span.source.name == str(path)), 0)


def session(text: str, directory: Path) -> str:
    """The output of a console block's commands, run in a directory with `spec.mesh` in it."""
    (directory / "spec.mesh").write_text(TINY)
    commands = [line.removeprefix("$ ") for line in text.splitlines() if line.startswith("$ ")]
    meshc = f'meshc() {{ "{sys.executable}" -m meshc.cli "$@"; }}\n'
    env = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
    done = subprocess.run(
        ["bash", "-c", meshc + "\n".join(commands)],
        cwd=directory, env=env, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert "has a bug" not in done.stderr, done.stderr
    return done.stdout + done.stderr
