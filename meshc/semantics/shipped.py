"""Layers that ship with the compiler, for those who forgot to import them."""

from __future__ import annotations

import re
from functools import cache

from meshc.semantics.imports import SPECS

_LAYER = re.compile(r"^layer (\w+)", re.MULTILINE)


def shipped_in(layer: str) -> str | None:
    """What to import for a layer of this name: `std/llama.mesh`; None where no shipped file defines it."""
    return _layers().get(layer)


@cache
def _layers() -> dict[str, str]:
    files = sorted((SPECS / "std").glob("*.mesh"))
    return {name: f"std/{file.name}" for file in files for name in _LAYER.findall(file.read_text("utf-8"))}
