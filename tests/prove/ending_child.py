"""A child that ends in the middle of its work: python -m tests.prove.ending_child REQUEST RESULT"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from meshc.prove.child import main
from meshc.prove.model import Measure


def fine() -> Iterator[Measure]:
    yield Measure("a claim", "a subject", 0.0, 1.0)


def ends() -> Iterator[Measure]:
    os._exit(7)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), {"fine": fine, "ends": ends})
