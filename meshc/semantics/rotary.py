"""`rope`: rotary positions, and what slows them for long sequences."""

from __future__ import annotations

from typing import Literal, cast

from meshc.diagnostics import spec_names, spec_tensors
from meshc.semantics.arguments import Arguments
from meshc.semantics.build import Builder, Wish
from meshc.semantics.operands import BROKEN, Broken, Operand, names
from meshc.semantics.program import Rope, Slowed

TURNS = {"linear": (1.0, 1.0), "llama3": (1.0, 4.0), "yarn": (1.0, 32.0)}
"""For each kind the usual `low` and `high`: as published with Llama 3.1, and in arXiv:2309.00071, section 3.2."""


def rope(b: Builder, args: Arguments, wish: Wish) -> Operand:
    """Along the dim called `seq` unless told otherwise; turns the last dim."""
    x, along = args.tensor("x"), args.dim("along")
    theta, magnitude = args.positive("theta", 10000.0), args.positive("magnitude", 1.0)
    interleaved, scaling = args.flag("interleaved", False), _scaling(b, args)
    if isinstance(x, Broken) or isinstance(theta, Broken) or isinstance(magnitude, Broken) or theta is None:
        return BROKEN
    if isinstance(interleaved, Broken) or isinstance(scaling, Broken) or isinstance(along, Broken) or magnitude is None:
        return BROKEN
    if theta <= 1:
        b.report(spec_names.wrong_type("a number above 1", f"the number {theta:g}", args.span_of("theta")))
        return BROKEN
    turned = x.dims[-1] if x.dims else None
    dim = along or next((dim for dim in x.dims if dim.name == "seq"), None)
    if dim is None or turned is None or dim not in x.dims:
        hint = ("say along which dim positions run: rope(x, along = …)",) if along is None else ()
        wanted = dim.name if dim else "seq"
        b.report(spec_tensors.no_such_dim(wanted, x.name, names(x.dims), args.span_of("along"), hint))
        return BROKEN
    if turned.size % 2 or turned.padded:
        padded_to = turned.size if turned.padded else None
        b.report(spec_tensors.no_pairs(turned.name, turned.real, padded_to, args.span))
        return BROKEN
    result = b.value(x.name, x.dims, args.span, wish)
    b.emit(Rope(x, dim, theta, interleaved, scaling, magnitude, result, args.span))
    return result


def _scaling(b: Builder, args: Arguments) -> Slowed | Broken | None:
    """The options of long sequences; `none` where there is no `scaling`, whatever the others say."""
    kind = args.word("scaling", tuple(TURNS))
    if kind is None or isinstance(kind, Broken):
        return kind
    low, high = TURNS[kind]
    factor, original = args.positive("factor"), args.count("original")
    low, high, whole = args.positive("low", low), args.positive("high", high), args.flag("whole", True)
    for name, value in (("factor", factor), ("original", original if kind != "linear" else 0)):
        if value is None:
            b.report(spec_names.missing_argument("rope", name, args.span_of("scaling"), ["…", "scaling", name]))
            return BROKEN
    if isinstance(factor, Broken) or isinstance(original, Broken) or isinstance(whole, Broken):
        return BROKEN
    if isinstance(low, Broken) or isinstance(high, Broken) or factor is None or low is None or high is None:
        return BROKEN
    if kind != "linear" and low >= high:
        b.report(spec_names.wrong_type(f"a number above `low` ({low:g})", f"the number {high:g}", args.span_of("high")))
        return BROKEN
    return Slowed(cast(Literal["linear", "llama3", "yarn"], kind), factor, original or 0, low, high, whole)
