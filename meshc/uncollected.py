"""A pause for Python's garbage collector, while something is made of which nearly all is kept."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Inside, cyclic garbage is left lying. A program of many thousand tensors is gone through again and again else, to
    find none: a third of the time of a check.
    """
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()
