"""Specs with the place of an expected message marked: `«` and `»` stand around the text that it must point at."""

from __future__ import annotations

from collections.abc import Mapping

from meshc.diagnostics.model import Diagnostic, Label
from meshc.semantics.overrides import Overrides
from meshc.semantics.program import Program
from meshc.semantics.resolve import resolve
from meshc.source import SourceFile
from meshc.syntax import ast

DIMS = """dims {
  batch = 16, seq = 64, embed = 64, heads = 8, kv_heads = 4, head_dim = 8, mlp = 128, vocab = 256, layers = 4
}
"""

HEAD = "param head: embed -> vocab\n  loss next_token(x @ head, tokens)"


def model(body: str, layers: str = "", dims: str = DIMS) -> str:
    """A spec whose model looks tokens up as `x`, does `body` and ends in a loss."""
    start = "model M(tokens: [batch, seq] of vocab) {\n  param table: vocab -> embed\n  x = table[tokens]"
    return f"{dims}{layers}\n{start}\n  {body}\n  {HEAD}\n}}\n"


def files(texts: Mapping[str, str]):
    """A loader of imports that knows these files, and those that ship with the compiler."""
    from meshc.semantics.imports import read_import

    def load(path: ast.Text, importer: SourceFile) -> SourceFile | Diagnostic:
        if path.value in texts:
            return SourceFile(path.value, texts[path.value])
        if path.value.startswith("std/"):
            return read_import(path, importer)
        return Diagnostic("E0130", f"no such file: `{path.value}`", (Label(path.span),))

    return load


def resolved(
    text: str, overrides: Overrides = (), devices: int | None = None, **imports: str
) -> tuple[Program | None, list[Diagnostic]]:
    """Resolves a spec; `imports` are other files by name, without `.mesh`."""
    loader = files({f"{name}.mesh": content for name, content in imports.items()})
    return resolve(SourceFile("spec.mesh", text), overrides, loader, devices)


def sound(text: str, overrides: Overrides = (), devices: int | None = None, **imports: str) -> Program:
    """The program of a spec in which nothing is wrong, nor wasted."""
    program, found = resolved(text, overrides, devices, **imports)
    assert found == []
    assert program is not None
    return program


def only(marked: str, devices: int | None = None, overrides: Overrides = (), **imports: str) -> Diagnostic:
    """The one diagnostic of a spec, which must point at the marked text."""
    text = marked.replace("«", "").replace("»", "")
    _, found = resolved(text, overrides, devices, **imports)
    found = [d for d in found if not _spare(d)]
    assert len(found) == 1, [f"{d.code} {d.message} at {d.span}" for d in found]
    span = found[0].span
    if "«" in marked:
        assert span is not None
        start = marked.index("«")
        assert (span.start, span.end) == (start, marked.index("»") - 1), f"points at {span.text!r}"
    return found[0]


def _spare(found: Diagnostic) -> bool:
    """Whether it only says that a case uses few of DIMS."""
    return found.code == "W0311" and found.span is not None and found.span.text in DIMS
