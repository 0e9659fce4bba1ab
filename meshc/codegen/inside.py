"""The collectives that no line of a program shows: they run inside of a function of the runtime. Which, in words."""

from __future__ import annotations

from collections.abc import Iterator

from meshc.codegen.context import Context
from meshc.semantics.placed import Computed
from meshc.semantics.program import Attend, Combine, CrossEntropy, Dropped, Load, LoadBalance, NextToken, Op, Route
from meshc.semantics.walk import everything


def inside(context: Context) -> Iterator[str]:
    """`attention.ring: collective-permute over cp`, a line for each function and its axes, in order of first use."""
    found: dict[tuple[str, tuple[str, ...]], dict[str, None]] = {}
    for statement in everything(context.placed.model.body):
        if isinstance(statement, Computed):
            for inner in statement.inner:
                of_axes = found.setdefault((_function(statement), inner.axes), {})
                of_axes[inner.op.removesuffix("_max").replace("_", "-")] = None
    if pipeline := context.placed.pipeline:
        found["pipeline.run", tuple(pipeline.axes)] = dict.fromkeys(("collective-permute", "all-reduce"))
    for (function, axes), ops in found.items():
        yield f"{function}: {', '.join(ops)} over {', '.join(axes)}"


def _function(computed: Computed) -> str:
    return _named(computed.op, any(inner.op == "collective_permute" for inner in computed.inner))


def _named(op: Op, is_ring: bool) -> str:
    match op:
        case Attend():
            return "attention.ring" if is_ring else "attention.gather"
        case Route():
            return "moe.route"
        case Combine():
            return "moe.combine"
        case LoadBalance():
            return "moe.load_balance"
        case Load():
            return "moe.load"
        case Dropped():
            return "moe.dropped"
        case NextToken() | CrossEntropy():
            return "ops.cross_entropy"
        case _:
            raise AssertionError(f"{type(op).__name__} has no collective inside")
