"""Files on disk into named contents. What cannot be found or read is a `UserError`."""

from __future__ import annotations

import sysconfig
from collections.abc import Sequence
from glob import glob
from pathlib import Path

import numpy as np

from ..errors import UserError
from .stream import Part

STDLIB_MOST = 32 << 20  # bytes
STDLIB_LEAST = 5_000_000
RAW_DTYPES = ("uint8", "uint16", "uint32", "int32", "int64")


def matching(patterns: Sequence[str]) -> list[Path]:
    """The files of all patterns, each once, sorted by path. A pattern without a file is an error."""
    found: set[Path] = set()
    for pattern in patterns:
        names = glob(str(Path(pattern).expanduser()), recursive=True)  # noqa: PTH207  (Path.glob takes no absolute pattern)
        files = [path for name in names if (path := Path(name)).is_file()]
        if not files:
            raise UserError(
                f"no file matches `{pattern}`", f"paths are relative to `{Path.cwd()}`; `**` goes into folders"
            )
        found.update(files)
    if not found:
        raise UserError("the data source names no path", 'give it some: paths: ["corpus/*.txt"]')
    return sorted(found)


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise UserError(f"cannot read `{path}`: {problem.strerror}") from None


def standard_library() -> list[tuple[str, bytes]]:
    """The sources of the Python standard library here, sorted by path: about 30 MB of text that needs no download."""
    root = Path(sysconfig.get_path("stdlib"))
    outside = {"site-packages", "dist-packages"}
    names = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.py"))
    documents, total = [], 0
    for name in names:
        if outside.isdisjoint(name.split("/")):
            content = (root / name).read_bytes()
            total += len(content)
            if total > STDLIB_MOST:
                break
            documents.append((name, content))
    if min(total, STDLIB_MOST) < STDLIB_LEAST:
        raise UserError(
            f"the Python standard library in `{root}` has {total / 1e6:.1f} MB of sources, too few to train on",
            'name a text of your own: data: {source: text, paths: ["corpus/*.txt"]}',
        )
    return documents


def token_file(path: Path, dtype: str) -> Part:
    """The ids of an .npy file, or of raw little-endian integers of `dtype` in any other; mapped, not read."""
    try:
        ids = np.load(path, mmap_mode="r") if path.suffix == ".npy" else _raw(path, dtype)
    except (OSError, ValueError) as problem:
        raise UserError(f"cannot read tokens from `{path}`: {problem}") from None
    if not np.issubdtype(ids.dtype, np.integer):
        raise UserError(f"`{path}` holds {ids.dtype}, not integers", "ids are integers, from 0 to the vocabulary's end")
    return Part(str(path), ids.reshape(-1))


def _raw(path: Path, dtype: str) -> np.ndarray:
    if dtype not in RAW_DTYPES:
        raise UserError(f"no token dtype `{dtype}`", f"one of {', '.join(RAW_DTYPES)}")
    kind = np.dtype(dtype).newbyteorder("<")
    size = path.stat().st_size
    if size == 0:
        return np.empty(0, kind)  # nothing to map
    if size % kind.itemsize:
        raise ValueError(f"its {size} bytes are not a multiple of {kind.itemsize}, the size of {dtype}")
    return np.memmap(path, kind, mode="r")
