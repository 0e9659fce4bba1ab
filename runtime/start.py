"""How `meshc run` starts a program: as `python train.py` would, but deaf to nothing while it still imports jax.

python -P -m meshc.runtime.start DIR/train.py ARGUMENTS
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from .interrupts import nothing_to_save


def main() -> None:
    """Told to end before the program can see to it, it ends with a word instead of a traceback."""
    nothing_to_save()
    del sys.argv[0]
    sys.path.insert(0, str(Path(sys.argv[0]).resolve().parent))
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
