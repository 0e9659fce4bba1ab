"""A user's mistake while a program runs: a message, its cure and an exit with 1, never a traceback."""

from __future__ import annotations


class UserError(SystemExit):
    """What the user can put right: files, devices, a checkpoint, a run directory.

    A `SystemExit` with a text: where nobody catches it, Python prints the text on stderr and exits with 1. So a program
    that calls the runtime needs no handler of its own, and `except Exception` in user code does not swallow it.
    """

    def __init__(self, message: str, cure: str = "") -> None:
        self.message, self.cure = message, cure
        super().__init__(f"error: {message}" + (f"\n  = help: {cure}" if cure else ""))

    def __str__(self) -> str:
        return str(self.code)
