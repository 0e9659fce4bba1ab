"""How `meshc run` starts a program: as `python train.py` would, but deaf to nothing while it still imports jax.

python -P -m meshc.runtime.start PARENT DIR/train.py ARGUMENTS

PARENT is the process that starts it and that it does not outlive.
"""

from __future__ import annotations

import ctypes
import os
import runpy
import signal
import sys
from pathlib import Path

from .interrupts import nothing_to_save

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def main() -> None:
    """Told to end before the program can see to it, it ends with a word instead of a traceback."""
    nothing_to_save()
    _end_with(int(sys.argv[1]))
    del sys.argv[:2]
    sys.path.insert(0, str(Path(sys.argv[0]).resolve().parent))
    runpy.run_path(sys.argv[0], run_name="__main__")


def _end_with(parent: int) -> None:
    """Has this process told to end when its parent dies, however that dies (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
