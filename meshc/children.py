"""Child processes: none outlives us."""

from __future__ import annotations

import subprocess


def end(child: subprocess.Popen[bytes], seconds: float) -> None:
    """Asks a child that still runs to end, and kills it where it has not after `seconds`."""
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
    if child.stdin:
        child.stdin.close()
