"""What is said about tensors that do not fit: their dims, and what the primitives ask of them."""

from __future__ import annotations

from collections.abc import Sequence

from meshc.diagnostics.model import Cure, Diagnostic, Label
from meshc.diagnostics.suggest import quoted
from meshc.source import Span


def bracketed(dims: Sequence[str]) -> str:
    return f"[{', '.join(dims)}]"


def wrong_dims(name: str, declared: Sequence[str], given: Sequence[str], span: Span, declaration: Span) -> Diagnostic:
    order = " in another order" if sorted(declared) == sorted(given) else ""
    return Diagnostic(
        "E0224",
        f"`{name}` is {bracketed(declared)}, {bracketed(given)} is given{order}",
        (Label(span, f"has {bracketed(given)}"), Label(declaration, "declared here")),
    )


def nothing_to_contract(
    left: str, left_dims: Sequence[str], right: str, right_dims: Sequence[str], span: Span
) -> Diagnostic:
    return Diagnostic(
        "E0225",
        f"`{left}` and `{right}` have no dim to contract",
        (Label(span, f"{bracketed(left_dims)} @ {bracketed(right_dims)}"),),
        ("`@` sums over the dims that both have",),
    )


def dim_twice(dim: str, dims: Sequence[str], span: Span) -> Diagnostic:
    return Diagnostic(
        "E0226",
        f"a tensor cannot have the dim `{dim}` twice",
        (Label(span, bracketed(dims)),),
        (f"write the second one `{dim}'`: it has the same size",),
    )


def ids_without_of(name: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0227",
        f"`{name}` does not say what it counts",
        (Label(span),),
        ("declare it so: `tokens: [batch, seq] of vocab`",),
    )


def not_rows(ids: str, of: str, table: str, dims: Sequence[str], span: Span) -> Diagnostic:
    return Diagnostic(
        "E0227",
        f"`{ids}` counts `{of}`, and `{table}` has no such dim",
        (Label(span, f"`{table}` is {bracketed(dims)}"),),
    )


def bad_attend(message: str, q: Sequence[str], k: Sequence[str], v: Sequence[str], span: Span) -> Diagnostic:
    return Diagnostic(
        "E0228",
        message,
        (Label(span, f"q {bracketed(q)}, k {bracketed(k)}, v {bracketed(v)}"),),
        ("attend reads dims by place: q [.., seq, heads, head_dim], k and v [.., seq, kv_heads, head_dim]",),
    )


def bad_parts(message: str, span: Span, helps: tuple[str, ...] = ()) -> Diagnostic:
    """A `concat` or `split` whose parts do not make the whole."""
    return Diagnostic("E0229", message, (Label(span),), helps)


def no_such_dim(dim: str, name: str, dims: Sequence[str], span: Span, helps: tuple[str, ...] = ()) -> Diagnostic:
    return Diagnostic("E0230", f"`{name}` has no dim `{dim}`", (Label(span, f"`{name}` is {bracketed(dims)}"),), helps)


def no_pairs(dim: str, size: int, padded_to: int | None, span: Span) -> Diagnostic:
    """Of `rope`, on a dim that is odd, or padded: then its halves would be others."""
    if padded_to is None:
        message, cure = f"rope turns pairs, and `{dim}` is {size}", "its size must be even"
    else:
        message, cure = f"rope turns pairs, and `{dim}` is {size} padded to {padded_to}", "it cannot be padded"
    return Diagnostic("E0230", message, (Label(span),), (cure,))


def carry_changes(name: str, before: Sequence[str], after: Sequence[str], span: Span, first: Span) -> Diagnostic:
    return Diagnostic(
        "E0232",
        f"`{name}` enters a turn of the repeat as {bracketed(before)} and leaves it as {bracketed(after)}",
        (Label(span, f"leaves as {bracketed(after)}"), Label(first, f"enters as {bracketed(before)}")),
        ("what a repeat hands from turn to turn keeps its dims, in their order",),
    )


def carry_not_tensor(name: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0232", f"`{name}` is not a tensor before the repeat", (Label(span),), ("a repeat carries only tensors",)
    )


def bad_loss(message: str, span: Span, helps: tuple[str, ...] = ()) -> Diagnostic:
    return Diagnostic("E0235", message, (Label(span),), helps)


def bad_init(got: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0236",
        f"{got} is not an initial value",
        (Label(span),),
        ("write `ones`, `zeros`, `normal(0.02)` or a number",),
    )


def not_a_state(name: str, span: Span, known: Sequence[str]) -> Diagnostic:
    helps = (f"states here are {quoted(known)}",) if known else (f"declare it: state {name}: [dims] = zeros",)
    return Diagnostic("E0237", f"`{name}` is not a state of this layer", (Label(span),), helps)


def updated_twice(name: str, span: Span, first: Span) -> Diagnostic:
    return Diagnostic("E0237", f"`{name}` is updated twice", (Label(span), Label(first, "first here")))


def updated_in_repeat(name: str, span: Span, declared: Span) -> Diagnostic:
    return Diagnostic(
        "E0237",
        f"`{name}` is updated in a repeat that does not hold it",
        (Label(span), Label(declared, "declared outside")),
        ("declare it in the repeat: each turn then has its own",),
    )


def uneven_heads(
    heads: str, num_heads: int, kv_heads: str, num_kv_heads: int, span: Span, cures: tuple[Cure, ...]
) -> Diagnostic:
    return Diagnostic(
        "E0240",
        f"`{heads}` ({num_heads}) is not a multiple of `{kv_heads}` ({num_kv_heads})",
        (Label(span, "each kv head serves as many query heads"),),
        cures=cures,
    )


def bad_sinks(name: str, dims: list[str], heads: str, span: Span) -> Diagnostic:
    message = f"`{name}` is {bracketed(dims)}, must be {bracketed([heads])}"
    return Diagnostic("E0228", message, (Label(span, "a sink is one score for each query head"),))


def bad_segments(name: str, dims: list[str], wanted: list[str], span: Span) -> Diagnostic:
    message = f"the segments `{name}` are {bracketed(dims)}, must be {bracketed(wanted)}"
    return Diagnostic("E0228", message, (Label(span, "says of each position which document it is of"),))


def bad_route(message: str, span: Span, helps: tuple[str, ...] = ()) -> Diagnostic:
    return Diagnostic("E0244", message, (Label(span),), helps)


def input_without_dims(name: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0243", f"the input `{name}` has no dims", (Label(span),), (f"write {name}: [batch, seq] of vocab",)
    )


def heads_padded_apart(heads: str, kv_heads: str, group: int, padded: tuple[int, int, int], span: Span) -> Diagnostic:
    """`padded` are the sizes with padding of both, and the real one of the kv heads."""
    num_heads, num_kv_heads, real = padded
    helps = (f"pad them alike: {kv_heads} = pad({real}, {num_heads // group})",) if num_heads % group == 0 else ()
    return Diagnostic(
        "E0240",
        f"with padding, `{heads}` ({num_heads}) is not {group} times `{kv_heads}` ({num_kv_heads})",
        (Label(span, f"each kv head serves {group} query heads"),),
        helps,
    )
