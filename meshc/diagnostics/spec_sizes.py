"""What is said about sizes: of dims, of mesh axes, of regrouped views."""

from __future__ import annotations

from collections.abc import Sequence

from meshc.diagnostics.model import Cure, Diagnostic, Edit, Label
from meshc.source import Span

LARGEST = 2**31 - 1


def size_cycle(names: Sequence[str], span: Span) -> Diagnostic:
    """`names` begin and end with the same dim or axis."""
    return Diagnostic("E0216", f"the size of `{names[0]}` depends on itself", (Label(span, " -> ".join(names)),))


def not_positive(name: str, value: int, span: Span) -> Diagnostic:
    return Diagnostic("E0217", f"`{name}` is {value}", (Label(span),), ("a size is at least 1",))


def too_large(span: Span) -> Diagnostic:
    return Diagnostic("E0217", "this size is too large", (Label(span),), (f"a size is at most {LARGEST}",))


def number_too_large(span: Span) -> Diagnostic:
    return Diagnostic("E0217", "this number is too large", (Label(span),), ("a number is at most 1.8e308",))


def not_an_integer(text: str, span: Span) -> Diagnostic:
    return Diagnostic("E0217", f"{text} is not an integer", (Label(span),), ("a size is a whole number",))


def inexact(left: int, right: int, span: Span) -> Diagnostic:
    """A division with a remainder."""
    low = left // right
    return Diagnostic(
        "E0217",
        f"{left} / {right} is not an integer",
        (Label(span, f"{left} = {right} * {low} + {left % right}"),),
        (f"`//` rounds down, to {low}",),
    )


def division_by_zero(span: Span) -> Diagnostic:
    return Diagnostic("E0217", "division by zero", (Label(span),))


def pad_inside(span: Span) -> Diagnostic:
    return Diagnostic("E0217", "`pad` stands alone", (Label(span),), ("give the padded size a dim of its own",))


def two_stars(span: Span, first: Span) -> Diagnostic:
    return Diagnostic(
        "E0218", "two axes have the size `*`", (Label(span), Label(first, "the first")), ("give one a number",)
    )


def star_unknown(name: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0219",
        f"the size of `{name}` depends on the slice, and none is given",
        (Label(span),),
        ("name a slice (`--slice cpu-8`), or set the size (`--set mesh." + name + "=2`)",),
    )


def star_uneven(name: str, others: int, devices: int, span: Span, cures: tuple[Cure, ...]) -> Diagnostic:
    """The other axes do not divide the devices."""
    return Diagnostic(
        "E0219",
        f"nothing is left for `{name}`: the other axes take {others}, which does not divide {devices} devices",
        (Label(span),),
        cures=cures,
    )


def regroup_product(
    name: str, group: str, total: int, axes: str, product: int, span: Span, cures: tuple[Cure, ...]
) -> Diagnostic:
    """`group` and `axes` are the factorisations as text: `dp (4) * tp (2)`."""
    return Diagnostic(
        "E0220",
        f"`{name}` regroups {total} devices into {product}",
        (Label(span, f"{group} = {total}, but {axes} = {product}"),),
        (f"the sizes of `{name}` must multiply to {total}; one may be `*`",),
        cures=cures,
    )


def no_refinement(name: str, group: str, axes: str, span: Span, cures: tuple[Cure, ...]) -> Diagnostic:
    """The two factorisations cut the devices at places of which neither divides the other."""
    return Diagnostic(
        "E0221",
        f"`{name}` cuts the devices where the mesh does not",
        (Label(span, f"{group} against {axes}"),),
        ("order the axes so that each cut of one divides, or is divided by, each cut of the other",),
        cures=cures,
    )


def views_apart(
    name: str, other: str, axis: str, cuts: list[int], span: Span, where: Span, cures: tuple[Cure, ...]
) -> Diagnostic:
    """Two views cut one axis at sizes of which neither divides the other."""
    return Diagnostic(
        "E0221",
        f"`{name}` and `{other}` cut `{axis}` into pieces that do not fit each other",
        (Label(span, f"cuts `{axis}` into parts of {' and '.join(map(str, cuts))} devices"), Label(where)),
        ("choose sizes so that each cut of one divides, or is divided by, each cut of the other",),
        cures=cures,
    )


def regroup_order(name: str, order: str, span: Span, edits: tuple[Edit, ...]) -> Diagnostic:
    message = f"`{name}` names the axes out of mesh order"
    return Diagnostic("E0221", message, (Label(span),), (f"write {order}",), edits)
