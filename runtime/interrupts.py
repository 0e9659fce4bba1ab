"""Ctrl-C and SIGTERM as a wish that the loop asks for between two steps."""

from __future__ import annotations

import signal
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
