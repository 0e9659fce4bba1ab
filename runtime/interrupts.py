"""Ctrl-C and SIGTERM as a wish that the loop asks for between two steps."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Interrupt:
    """The signal that asked the run to stop, if one did."""

    number: int | None = None

    @property
    def name(self) -> str:
        return signal.Signals(self.number or 0).name


def nothing_to_save() -> None:
    """Lets SIGINT and SIGTERM end the process at once, with a word: for what comes before the first step.

    There an exception could come up within an import or a compilation, where it is a traceback or worse. A signal that
    the process was started to ignore stays ignored.
    """

    def end(number: int, _frame: Any) -> None:
        sys.stderr.write(f"stopped by {signal.Signals(number).name} before the first step\n")
        sys.stderr.flush()
        os._exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, end)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM))


@contextmanager
def interrupts() -> Iterator[Interrupt]:
    """Turns the first SIGINT or SIGTERM into a wish; the second one ends the run where it is. Main thread only."""
    asked = Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return

    def ask(number: int, _frame: Any) -> None:
        if asked.number is not None:
            raise SystemExit(128 + number)
        asked.number = number

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
