"""Checkpoints as they lie on disk, read without jax: which arrays there are, of what shape.

`runtime/checkpoint.py` writes them: DIR/STEP/arrays/metadata has name -> shape and dtype, DIR/STEP/meta/metadata the
step and the seed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = "checkpoints"
WEIGHTS, CARRIED = "weights/", "carried/"


@dataclass(frozen=True, slots=True)
class Array:
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class Saved:
    """One checkpoint: its weights, and what is carried from step to step, by path. `seed` is the run's that made it."""

    folder: Path
    seed: int | None
    weights: dict[str, Array]
    carried: dict[str, Array]


def at_home(path: str) -> Path:
    """With `~` as the home that it stands for; as it is where nobody has that home."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def exists(source: str) -> bool:
    """Whether a checkpoint lies there, as `init_from` names one."""
    return _folder(at_home(source)) is not None


def find_saved(source: str) -> Saved | None:
    """What a run's directory, its checkpoints (the newest), or one of them holds.

    None where there is none, or none that says what it holds: then the program that reads it will tell.
    """
    folder = _folder(at_home(source))
    if folder is None:
        return None
    arrays, meta = _json(folder / "arrays" / "metadata"), _json(folder / "meta" / "metadata")
    try:
        found = {name: Array(tuple(map(int, a["shape"])), str(a["dtype"])) for name, a in arrays.items()}
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    weights, carried = (_below(part, found) for part in (WEIGHTS, CARRIED))
    seed = meta.get("seed")
    if not weights:
        return None
    return Saved(folder, seed if type(seed) is int else None, weights, carried)


def _below(part: str, arrays: Mapping[str, Array]) -> dict[str, Array]:
    return {name.removeprefix(part): array for name, array in arrays.items() if name.startswith(part)}


def _folder(source: Path) -> Path | None:
    try:
        if (source / "weights").is_dir():
            return source
        for parent in (source, source / FOLDER):
            entries = list(parent.iterdir()) if parent.is_dir() else []
            steps = [int(e.name) for e in entries if e.name.isdecimal() and (e / "meta").is_dir()]
            if steps:
                return parent / str(max(steps))
    except OSError:
        pass
    return None


def _json(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
