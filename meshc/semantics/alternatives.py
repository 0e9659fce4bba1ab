"""Cures to be tried: other sizes of an axis, of two that trade devices, of a dim; rules written into `partition`.

What is listed here could do by arithmetic; whether it does, trials.py finds out. Sizes nearest to the ones there are
come first, for only so many are tried.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, islice

from meshc.diagnostics.edits import line_after
from meshc.diagnostics.model import Cure, Edit, Option
from meshc.diagnostics.suggest import divisors
from meshc.semantics.program import Axis, Program, Rule
from meshc.source import Span

MOST_LISTED = 10
"""Options of one cure: the nearest."""
MOST_PAIRED = 3
"""Axes with which one trades devices."""

MICROSTEPS = "train.microsteps"
"""The key of a job's microsteps, among those of sizes."""

Fits = Callable[[int], bool]


def near(sizes: Iterable[int], size: int, now: bool = True) -> list[int]:
    """Sizes other than the one there is `now`, nearest first as factors, of two the smaller."""
    others = {n for n in sizes if n > 0 and not (now and n == size)}
    return sorted(others, key=lambda n: (abs(math.log(n / size)), n))[:MOST_LISTED]


def axis_may_be(axis: Axis, sizes: Iterable[int], says: str = "`{axis}` may be {{}}") -> Iterator[Cure]:
    """Other sizes of one axis, the others as they are."""
    options = tuple(Option(str(n), ((f"mesh.{axis.name}", n),)) for n in near(sizes, axis.size))
    if options:
        yield Cure(says.format(axis=axis.name), options)


def elsewhere(axis: Axis, sizes: Iterable[int]) -> Iterator[Cure]:
    """Other sizes of one axis on a slice that has as many devices."""
    options = tuple(Option(str(n), ((f"mesh.{axis.name}", n),), elsewhere=True) for n in near(sizes, axis.size))
    if any(option.text != "1" for option in options):
        yield Cure(f"with another slice, `{axis.name}` may be {{}}", options, usable=False, unless="mesh")


def dim_may_be(name: str, size: int, sizes: Iterable[int], usable: bool = False) -> Iterator[Cure]:
    """Other sizes of a dim. Of one that weights have it would be another model: not `usable` as an edit."""
    options = tuple(Option(str(n), ((name, n),)) for n in near(sizes, size))
    if options:
        yield Cure(f"{name} may be {{}}", options, usable)


def trades(program: Program, axis: Axis, fits: Fits = lambda size: True) -> Iterator[Cure]:
    """Sizes of this axis with another one of its mesh or view that multiply to as many devices as now."""
    axes = next(view.axes for view in (program, *program.views) if any(a.name == axis.name for a in view.axes))
    if axis.assumed:
        return
    others = [other for other in axes if other.name != axis.name and not other.assumed]
    others.sort(key=lambda other: (other.size == 1, abs(math.log(other.size / axis.size))))
    for other in others[:MOST_PAIRED]:
        yield from traded(axes, axis, other, axis.size * other.size, fits)


def traded(
    axes: Sequence[Axis], axis: Axis, other: Axis, product: int, fits: Fits = lambda size: True
) -> Iterator[Cure]:
    """Sizes of two axes that multiply to a number of devices, in the order in which the mesh has them."""
    pair = [a for a in axes if a.name in (axis.name, other.name)]
    if len(pair) != 2:
        return  # a name that two axes have is to be mended first
    one, two = pair
    options = []
    for n in near([n for n in divisors(product) if fits(n)], axis.size, now=one.size * two.size == product):
        first, second = (n, product // n) if one.name == axis.name else (product // n, n)
        sizes = ((f"mesh.{one.name}", first), (f"mesh.{two.name}", second))
        options.append(Option(f"{first} * {second}", sizes))
    if options:
        yield Cure(f"`{one.name}` * `{two.name}` may be {{}}", tuple(options))


def to_multiply(axes: Sequence[Axis], total: int, says: str = "`{axis}` may be {{}}") -> Iterator[Cure]:
    """Sizes of one axis, or of two, with which all multiply to a number of devices."""
    product = math.prod(axis.size for axis in axes)
    for axis in axes:
        if total % (product // axis.size) == 0:
            yield from axis_may_be(axis, [total // (product // axis.size)], says)
    for one, other in islice(combinations([axis for axis in axes if axis.size > 1], 2), MOST_PAIRED):
        rest = product // (one.size * other.size)
        if total % rest == 0:
            yield from traded(axes, one, other, total // rest)


# ---------------------------------------------------------------- rules


def in_place(rule: str, within: Sequence[str]) -> str:
    """A rule as it is written in `partition`, in the places it is for."""
    for name in reversed(within):
        rule = f"within {name} {{ {rule} }}"
    return rule


def settle(place: Span, rule: str) -> tuple[Option, ...]:
    """A rule written into `partition`, behind what stands there."""
    return (Option("", (), (line_after(place, rule),)),)


def instead(rules: Sequence[Rule], dims: Sequence[str], claim: str, within: Sequence[str]) -> tuple[Option, ...]:
    """A claim in place of a direct one of the same dims, also where that has others too; else as a rule of its own,
    which settles what others say.
    """
    for rule in rules:
        if rule.origin is None and set(dims) <= set(rule.dims) and not rule.first:
            others = [dim for dim in rule.dims if dim not in dims]
            kept = f"{', '.join(others)} ->{rule.span.text.partition('->')[2]}; " if others else ""
            return (Option("", (), (Edit(rule.span, kept + claim),)),)
    return settle(rules[-1].place, in_place(claim, within)) if rules else ()


def with_axis(place: Span, axis: str, other: str) -> str | None:
    """The text of a rule with another axis; None where it does not name the axis by itself, or names it twice."""
    text, count = re.subn(rf"(?<![\w.]){re.escape(axis)}(?!\w)", other, place.text)
    return text if count == 1 else None
