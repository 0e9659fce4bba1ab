"""Padded dims: rows that devices hold and compute with, and that count for nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator

from meshc.cost.checks.context import Priced
from meshc.diagnostics import waste as say
from meshc.diagnostics.model import Diagnostic
from meshc.semantics.placed import local_shape
from meshc.semantics.program import Dim

WORTH = 0.02
"""Share of a device's operations, or of the weights that it holds, above which W0328 speaks."""


def padding_is_small(priced: Priced) -> Iterator[Diagnostic]:
    """W0328."""
    for dim in priced.placed.program.dims.values():
        if not dim.padded or dim.span is None:
            continue
        padded = 1 - dim.real / dim.size
        work, held = (share * padded for share in (_of_work(priced, dim), _of_weights(priced, dim)))
        if max(work, held) > WORTH:
            yield say.much_padding(dim.name, dim.real, dim.size, work, held, dim.span, _cure(priced, dim))


def _of_work(priced: Priced, dim: Dim) -> float:
    """The share of products that have the dim."""
    with_dim = (n for p, n in priced.operations.items() if any(_has(x.value.dims, dim) for x in p.touched))
    return sum(with_dim) / max(priced.flops, 1)


def _of_weights(priced: Priced, dim: Dim) -> float:
    """The share of weights at rest that have it."""
    weights, axes = priced.placed.weights, priced.placed.sizes
    sizes = {w: math.prod(local_shape(w.weight.dims, w.rest, axes)) for w in weights}
    return sum(n for w, n in sizes.items() if _has(w.weight.dims, dim)) / max(sum(sizes.values()), 1)


def _has(dims: tuple[Dim, ...], dim: Dim) -> bool:
    return any(d.base == dim.name for d in dims)


def _cure(priced: Priced, dim: Dim) -> str:
    """A smaller size that all shards divide, else fewer shards."""
    shards = math.lcm(*(priced.shards(spot.axes) for spot in priced.spots if spot.dim.base == dim.name))
    least = _padded(dim.real, shards)
    if least < dim.size and shards > 1:
        return f"its {shards} shards need {least}: {dim.name} = pad({dim.real}, {shards})"
    if least < dim.size or shards <= 2:
        return f"{dim.name} = {dim.real}, where nothing splits it"
    fewer = min(range(shards - 1, 1, -1), key=lambda n: _padded(dim.real, n))
    return f"over {fewer} devices instead of {shards} it would be {_padded(dim.real, fewer)}"


def _padded(real: int, multiple: int) -> int:
    return -(-real // multiple) * multiple
