"""What lies beside a generated `train.py`: the texts that it is made of, and what `program.json` says of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from itertools import count
from pathlib import PurePath
from typing import Any

from meshc import __version__
from meshc.cost.report import Report, as_json
from meshc.source import SourceFile


def copies(sources: Iterable[SourceFile]) -> dict[str, str]:
    """The spec and what it imports of the user's, by their paths in the program's directory.

    What meshc ships stays out.
    """
    found: dict[str, str] = {}
    for source in sources:
        if not source.name.startswith("std/"):
            path = PurePath(source.name)
            names = (f"spec/{path.stem}{number or ''}{path.suffix}" for number in count())
            found[next(name for name in names if name not in found)] = source.text
    return found


def manifest(report: Report, spec: SourceFile) -> dict[str, Any]:
    """Of what a program was made, for how many devices, and all that `meshc explain` tells."""
    made_of = {"name": spec.name, "sha256": hashlib.sha256(spec.text.encode()).hexdigest()}
    return {"meshc": __version__, "spec": made_of, "devices": report.devices, **as_json(report)}
