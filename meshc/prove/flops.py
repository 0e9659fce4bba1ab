"""Floating-point operations of an optimised HLO module's matrix products, loop bodies times their trip counts.

XLA's own `cost_analysis()` counts a loop's body once, so a scan over layers hides all but one of them. Products are
what costs; elementwise work is left to that other count.
"""

from __future__ import annotations

import math
import re

from meshc.prove import hlo
from meshc.prove.wire import share


def product_flops(text: str) -> int:
    """Operations (a multiplication and an addition are two) a device and step, of a pipeline the mean of devices."""
    return round(sum(_of(run) for run in hlo.parse(text).executed()))


def _of(run: hlo.Executed) -> float:
    return run.times * share(run.instruction.op_name) * _flops(run.instruction, run.computation)


def _flops(found: hlo.Instruction, computation: hlo.Computation) -> int:
    match found.opcode:
        case "dot":
            left = computation.by_name[found.operands[0]].shapes[0]
            over = re.search(r"lhs_contracting_dims=\{([\d,]*)\}", found.attributes)
            contracted = [int(d) for d in over[1].split(",") if d] if over else []
            return 2 * found.shapes[0].elements * math.prod(left.dims[d] for d in contracted)
        case "convolution":
            kernel = computation.by_name[found.operands[1]].shapes[0]
            labels = found.attribute(r"dim_labels=\w+_(\w+)->") or "io"
            return 2 * found.shapes[0].elements * kernel.elements // kernel.dims[labels.index("o")]
        case _:
            return 0
