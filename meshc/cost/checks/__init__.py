"""The checks of waste that need prices: bytes, operations, times. Each yields warnings with what it costs.

They run where there are no errors, and look at what is cheap to look at first.
"""

from __future__ import annotations

from collections.abc import Iterator

from meshc.cost.checks.alike import products_are_split
from meshc.cost.checks.context import Priced, PricedCheck
from meshc.cost.checks.gathers import gathers_are_asked
from meshc.cost.checks.heads import repeats_are_cheap
from meshc.cost.checks.orders import orders_agree
from meshc.cost.checks.padding import padding_is_small
from meshc.cost.checks.roofline import links_keep_up
from meshc.diagnostics.model import Diagnostic

CHECKS: tuple[PricedCheck, ...] = (
    products_are_split,
    gathers_are_asked,
    orders_agree,
    repeats_are_cheap,
    padding_is_small,
    links_keep_up,
)

__all__ = ["CHECKS", "Priced", "priced_too_high"]


def priced_too_high(priced: Priced) -> Iterator[Diagnostic]:
    """All that is found; of memory only on machines whose own it is."""
    if not priced.placed.sound:
        return
    for check in CHECKS:
        yield from check(priced)
    if priced.slice is not None and not priced.slice.virtual:
        from meshc.cost.checks.memory import CHECKS as OF_MEMORY  # reads the job's optimizer, which takes time

        for check in OF_MEMORY:
            yield from check(priced)
