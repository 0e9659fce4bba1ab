"""Bytes, rates and times as text, three digits of each."""

from __future__ import annotations


def size(num_bytes: float) -> str:
    """`512 B`, `1.50 KiB`, `3.20 MiB`."""
    if num_bytes < 1024:
        return f"{num_bytes:.0f} B"
    value, units = float(num_bytes), iter(("KiB", "MiB", "GiB", "TiB", "PiB"))
    unit = "B"
    while value >= 1024 and (larger := next(units, None)):
        value, unit = value / 1024, larger
    return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f} {unit}"


def rate(bandwidth: float | None) -> str:
    """`450 GB/s`; `unknown`."""
    return "unknown" if bandwidth is None else _scaled(bandwidth, ("B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s"))


def duration(seconds: float | None) -> str:
    """`1.23 ms`; `unknown`."""
    if seconds is None:
        return "unknown"
    return _scaled(seconds * 1e9, ("ns", "us", "ms", "s")) if seconds else "0"


def _scaled(amount: float, units: tuple[str, ...]) -> str:
    for unit in units:
        if amount < 999.5 or unit == units[-1]:
            return f"{amount:.3g} {unit}" if amount < 999.5 else f"{amount:,.0f} {unit}"
        amount /= 1000
    raise AssertionError
