"""The functions of the language: what each is called with, and the dims of what it yields."""

from __future__ import annotations

from collections.abc import Mapping

from meshc.prove.sound.oracle.values import DimName, Dims, Num, Other, Tensor, Value

ACTIVATIONS = ("silu", "gelu", "gelu_tanh", "relu", "sigmoid", "tanh", "softplus")
ELEMENTWISE = (*ACTIVATIONS, "square", "sqrt", "rsqrt", "exp", "log", "abs", "sign", "float32")
OPERATIONS = ("attend", "softmax", "rope", "dropout", *ACTIVATIONS)
"""Those that are places for rules."""

SIGNATURES: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(ELEMENTWISE, ("x", "")),
    "maximum": ("a b", ""),
    "minimum": ("a b", ""),
    **dict.fromkeys(("mean", "sum", "max"), ("x", "over")),
    "softmax": ("x over", ""),
    "logsumexp": ("x over", ""),
    "rope": ("x", "theta along interleaved scaling factor original low high whole magnitude"),
    "attend": ("q k v", "causal window scale cap sinks segments chunk"),
    "dropout": ("x rate", ""),
    "concat": ("a b", "along"),
    "split": ("x", "along into"),
    "route": ("x by", "top_k bias normalise scale groups top_groups capacity"),
    "combine": ("x routed", ""),
    "load_balance": ("routed", ""),
    "dropped": ("routed", ""),
    "load": ("routed", ""),
    "next_token": ("logits tokens", "segments"),
    "cross_entropy": ("logits labels", ""),
}
"""Name -> arguments that it must have, and options."""


class Misfit(Exception):
    """Tensors with other dims than the function takes."""


class BadCall(Exception):
    """Arguments that the callee does not take."""


def bound(name: str, args: list[Value], keywords: Mapping[str, Value]) -> dict[str, Value]:
    required, options = (words.split() for words in SIGNATURES[name])
    names = [*required, *options]
    if len(args) > len(names) or set(keywords) - set(names):
        raise BadCall
    given = dict(zip(names, args, strict=False))
    if set(given) & set(keywords):
        raise BadCall
    given.update(keywords)
    if any(one not in given for one in required):
        raise BadCall
    return given


def joined(left: Dims, right: Dims) -> Dims:
    """Of two operands that broadcast by name."""
    if set(left) < set(right):
        return right
    return left + tuple(dim for dim in right if dim not in left)


def product(left: Tensor, right: Tensor, bank: Dims) -> Dims:
    """`left @ right`: dims that both have are contracted, those of the bank are batched."""
    if any(dim not in left.dims for dim in bank):
        raise Misfit
    both = [dim for dim in left.dims if dim in right.dims and dim not in bank]
    if not both:
        raise Misfit
    kept = [dim for dim in left.dims if dim not in both]
    new = [dim.rstrip("'") for dim in right.dims if dim not in both and dim not in bank]
    if set(kept) & set(new):
        raise Misfit
    return (*kept, *new)


def over(value: Value | None, dims: Dims) -> Dims:
    """The dims of a reduction; all where none is given."""
    if value is None:
        return dims
    wanted = _names(value)
    if any(dim not in dims for dim in wanted):
        raise Misfit
    return wanted


def _names(value: Value) -> Dims:
    match value:
        case DimName(name=name):
            return (name,)
        case Other(value=tuple() as names):
            return tuple(name for one in names for name in _names(one))
        case _:
            raise Misfit


def attention(given: Mapping[str, Value], sizes: Mapping[str, int]) -> Dims:
    q, k, v = (tensor(given[name]).dims for name in ("q", "k", "v"))
    if min(len(q), len(k), len(v)) < 3 or q[:-2] != k[:-2] or k[:-1] != v[:-1] or q[-1] != k[-1]:
        raise Misfit
    if sizes[q[-2]] % sizes[k[-2]]:
        raise Misfit
    sinks, segments = given.get("sinks"), given.get("segments")
    if isinstance(sinks, Tensor) and sinks.dims != (q[-2],):
        raise Misfit
    if isinstance(segments, Tensor) and segments.dims != q[:-2]:
        raise Misfit
    if isinstance(segments, Tensor) and segments.of is None:
        raise BadCall
    return (*q[:-1], v[-1])


def tensor(value: Value) -> Tensor:
    if not isinstance(value, Tensor):
        raise Misfit
    return value


def is_none(value: Value | None) -> bool:
    return value is None or value == Other(None)


def plain(value: Value) -> bool:
    return isinstance(value, Num)
