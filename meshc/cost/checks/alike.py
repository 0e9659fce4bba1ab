"""Products that devices along an axis all do alike: no operand, and so no result, of them is split over it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from meshc.cost.checks.context import Priced
from meshc.cost.flops import Product
from meshc.diagnostics import waste as say
from meshc.diagnostics.model import Diagnostic
from meshc.semantics.placed import local_shape
from meshc.semantics.program import Axis

MOST_ALIKE = 0.05
"""Share of all products' operations above which W0325 speaks."""


@dataclass(frozen=True, slots=True)
class Alike:
    """A product, and the operations of it that devices along an axis could have shared."""

    product: Product
    flops: float


def products_are_split(priced: Priced) -> Iterator[Diagnostic]:
    """W0325. Of stages that share what is outside of them speaks W0307, of an axis that splits nothing W0304."""
    for axis in priced.placed.program.axes:
        found = list(_alike(priced, priced.placed.refined.parts.get(axis.name, ())))
        wasted = sum(alike.flops for alike in found)
        if axis.span and found and wasted > MOST_ALIKE * priced.flops and not _is_said(priced, axis):
            yield _wasted(priced, axis, found, wasted / priced.flops)


def _is_said(priced: Priced, axis: Axis) -> bool:
    return any(d.code == "W0304" and d.span == axis.span for d in priced.said)


def _alike(priced: Priced, parts: Sequence[str]) -> Iterator[Alike]:
    pipeline = priced.placed.pipeline
    own = set(parts) - (set(pipeline.axes) if pipeline else set())
    for product in priced.products:
        if not own <= product.split and (same := own - product.split - _repeated(priced, product)):
            times = math.prod(priced.placed.sizes[axis] for axis in same)
            yield Alike(product, priced.operations[product] * (1 - 1 / times))


def _repeated(priced: Priced, product: Product) -> set[str]:
    """What a rule says is to be done several times."""
    names = {dim.name for placed in product.touched for dim in placed.value.dims}
    claims = priced.placed.refined.repeated
    return {axis for rule, dim in claims if dim in names for axis in priced.repeated(rule, dim)}


def _wasted(priced: Priced, axis: Axis, found: Sequence[Alike], share: float) -> Diagnostic:
    worst = sorted(found, key=lambda alike: -alike.flops)
    names = list(dict.fromkeys(alike.product.path for alike in worst))
    assert axis.span
    return say.products_alike(
        axis.name, axis.size, axis.span, share, names, _could(priced, worst[0].product, axis.size)
    )


def _could(priced: Priced, product: Product, size: int) -> list[str]:
    """Dims of a product that divide further by so many."""
    found: dict[str, None] = {}
    for placed in product.touched:
        dims = priced.placed.micro(placed.value.dims)
        for dim, own in zip(dims, local_shape(dims, placed.layout, priced.placed.sizes), strict=True):
            if own % size == 0:
                found[dim.name] = None
    return list(found)
