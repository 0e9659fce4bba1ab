"""`concat` and `split`: tensors side by side along a dim, and back."""

from __future__ import annotations

from meshc.diagnostics import spec_names, spec_tensors
from meshc.diagnostics.model import Diagnostic
from meshc.semantics.arguments import Arguments
from meshc.semantics.build import Builder, Wish
from meshc.semantics.operands import BROKEN, Broken, Operand, Results, names
from meshc.semantics.program import Concat, Dim, Split, Value


def concat(b: Builder, args: Arguments, wish: Wish) -> Operand:
    """`concat(a, b, along = d)`: each operand has a dim of its own where the result has `d`."""
    given = [args.tensor(name) for name in ("a", "b", "c", "d") if name in args.given]
    along = args.dim("along")
    operands = tuple(value for value in given if isinstance(value, Value))
    if len(operands) != len(given) or not isinstance(along, Dim):
        return BROKEN
    parts = _parts(operands, along)
    if parts is None:
        shapes = ", ".join(spec_tensors.bracketed(names(o.dims)) for o in operands)
        hint = ("all dims but one must be the same, and that one (else each one's last) is what is put side by side",)
        b.report(spec_tensors.bad_parts(f"cannot put {shapes} side by side", args.span, hint))
        return BROKEN
    if sum(part.size for part in parts) != along.size or any(part.padded for part in (*parts, along)):
        b.report(_uneven(parts, along, args))
        return BROKEN
    widest = max(range(len(operands)), key=lambda i: len(operands[i].dims))  # the others are the same along its dims
    dims = tuple(along if dim == parts[widest] else dim for dim in operands[widest].dims)
    if not b.distinct(dims, args.span):
        return BROKEN
    result = b.value("joined", dims, args.span, wish)
    b.emit(Concat(operands, parts, along, result, args.span))
    return result


def _parts(operands: tuple[Value, ...], along: Dim) -> tuple[Dim, ...] | None:
    """The dim of each operand that lies along the joined one: the one that the others lack, else its last."""
    shared = [dim for dim in operands[0].dims if all(dim in other.dims for other in operands[1:])]
    own = [[dim for dim in operand.dims if dim not in shared] for operand in operands]
    if all(len(dims) == 1 for dims in own):
        return tuple(dims[0] for dims in own)
    if not all(operand.dims for operand in operands):
        return None
    last = tuple(operand.dims[-1] for operand in operands)
    if any(own):
        return last if _fit(operands) else None
    return last if last[0].size * len(operands) == along.size else None  # the operands have the same dims


def _fit(operands: tuple[Value, ...]) -> bool:
    """Whether one operand has all dims of the others but their last ones: along those these are the same."""
    widest = max(operands, key=lambda operand: len(operand.dims))
    rest = set(widest.dims[:-1])
    return all(set(operand.dims[:-1]) <= rest and operand.dims[-1] not in rest for operand in operands)


def split(b: Builder, args: Arguments, wish: Wish) -> Operand | Results:
    """`a, b = split(x, along = d, into = [d1, d2])`."""
    x, along, into = args.tensor("x"), args.dim("along"), args.dims("into")
    if isinstance(x, Broken) or not isinstance(along, Dim) or not isinstance(into, tuple):
        return BROKEN
    if not into:
        b.report(spec_names.wrong_type("dims to split into", "an empty list", args.span_of("into")))
        return BROKEN
    if along not in x.dims:
        b.report(spec_tensors.no_such_dim(along.name, x.name, names(x.dims), args.span_of("along")))
        return BROKEN
    if sum(part.size for part in into) != along.size or any(part.padded for part in (*into, along)):
        b.report(_uneven(into, along, args))
        return BROKEN
    if wish and len(wish) != len(into):
        b.report(spec_names.wrong_count(len(wish), len(into), "`split`", args.span))
        return (BROKEN,) * len(wish)
    results: list[Value] = []
    start = 0
    for i, part in enumerate(into):
        dims = tuple(part if dim == along else dim for dim in x.dims)
        if not b.distinct(dims, args.span):
            return (BROKEN,) * len(into)
        result = b.value(part.name, dims, args.span, wish, i)
        b.emit(Split(x, along, part, start, result, args.span))
        start += part.size
        results.append(result)
    return tuple(results)


def _uneven(parts: tuple[Dim, ...], along: Dim, args: Arguments) -> Diagnostic:
    if any(part.padded for part in (*parts, along)):
        return spec_tensors.bad_parts("a padded dim cannot be joined or split", args.span)
    total = " + ".join(f"`{part.name}` ({part.size})" for part in parts)
    size = sum(part.size for part in parts)
    return spec_tensors.bad_parts(f"{total} is {size}, and `{along.name}` is {along.size}", args.span)
