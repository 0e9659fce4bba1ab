"""Floating-point operations of products, attention's included, on one device: read off the placed program.

A multiplication and an addition are two. Of a routed tensor each device has its even share of rows; of attention only
the pairs that its mask lets through count, the mean of devices. Elementwise work is left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from meshc.semantics.collectives import Deriver
from meshc.semantics.flat import Flat, FlatProgram
from meshc.semantics.placed import Computed, Placed, PlacedProgram, local_shape
from meshc.semantics.program import Attend, Contract, Dim
from meshc.semantics.seen import pairs_seen


@dataclass(frozen=True, eq=False)
class Product:
    """A product, or attention, of a step."""

    item: Flat
    op: Contract | Attend
    operands: tuple[Placed, ...]
    result: Placed

    @property
    def path(self) -> str:
        """Of its result."""
        return ".".join((*self.item.path, self.result.value.name))

    @property
    def touched(self) -> tuple[Placed, ...]:
        return (*self.operands, self.result)

    @cached_property
    def split(self) -> frozenset[str]:
        """The axes along which devices do different parts of it."""
        return frozenset(axis for placed in self.touched for axis in placed.layout.sharded)


def products(flat: FlatProgram) -> Iterator[Product]:
    for item in flat.statements:
        match item.statement:
            case Computed(op=Contract() | Attend() as op, operands=operands, result=result):
                yield Product(item, op, tuple(x for x in operands if isinstance(x, Placed)), result)
            case _:
                pass


def operations(deriver: Deriver, product: Product) -> float:
    """Of a device in a step: those of the backward pass, and of what it computes again, included."""
    factors = product.operands[: 2 if isinstance(product.op, Contract) else 3]
    ways = sum(deriver.gradient.has_gradient(x) for x in factors)
    backward = ways if isinstance(product.op, Contract) else 2 * bool(ways)
    runs = 1 + deriver.runs_again(product.item) + backward
    return float(_forward(deriver.program, product) * runs * product.item.count * deriver.program.microsteps)


def _forward(program: PlacedProgram, product: Product) -> float:
    """Of one run on one device."""
    match product.op:
        case Contract() as op:
            local = {name: n for x in product.operands for name, n in _local(program, x).items()}
            route = next((program.routes[x] for x in (op.left, op.right) if x in program.routes), None)
            if route is None:
                return 2 * math.prod(local.values())
            del local[route.experts.name]  # each row meets one of them
            devices = program.shards(_axes(product.operands, route.experts))
            return 2 * math.prod(local.values()) * route.top_k / devices
        case Attend() as op:
            inner, outer = op.q.dims[-1], op.v.dims[-1]
            queries = math.prod(n for name, n in _local(program, product.operands[0]).items() if name != inner.name)
            return 2 * queries * pairs_seen(op, op.seq.size) / op.seq.size * (inner.size + outer.size)


def _local(program: PlacedProgram, placed: Placed) -> dict[str, int]:
    """A device's part of each dim of a microstep; of a routed tensor its tokens' and experts', not its rows."""
    dims = program.micro(placed.value.dims)
    shape = local_shape(dims, placed.layout, program.sizes)
    return {dim.name: n for dim, n in zip(dims, shape, strict=True)}


def _axes(operands: Sequence[Placed], dim: Dim) -> tuple[str, ...]:
    """Those that a dim lies on."""
    found = (dict(zip(x.value.dims, x.layout.axes, strict=True)).get(dim) for x in operands)
    return next((axes for axes in found if axes is not None), ())
