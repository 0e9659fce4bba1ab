"""The command line that every generated program has."""

from __future__ import annotations

import argparse

from .interrupts import nothing_to_save


def arguments(description: str, *, steps: int, out: str) -> argparse.Namespace:
    """The command line of a generated program: `steps`, `out`, `resume`, `init_from`, as `train` takes them."""
    nothing_to_save()
    parser = argparse.ArgumentParser(description=description.strip().splitlines()[0])
    parser.add_argument("--steps", type=_positive, default=steps, help="updates in all (%(default)s)")
    parser.add_argument("--out", default=out, help="run directory (%(default)s)")
    parser.add_argument(
        "--resume",
        nargs="?",
        const=True,
        default=False,
        choices=["auto"],
        help="go on from the newest checkpoint in --out; `auto`: or start, where there is none",
    )
    parser.add_argument("--init-from", metavar="RUN", help="take the weights, and only them, from another run")
    return parser.parse_args()


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return int(text)
