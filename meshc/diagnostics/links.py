"""What is said about a mesh on the links of its slice."""

from __future__ import annotations

from collections.abc import Sequence

from meshc.diagnostics.model import Cure, Diagnostic, Edit, Label
from meshc.diagnostics.suggest import listed
from meshc.diagnostics.units import duration
from meshc.source import Span


def needless_crossing(
    axis: str, span: Span, crosses: str, stays: str, order: Sequence[str], took: float, takes: float,
    edits: tuple[Edit, ...],
) -> Diagnostic:  # fmt: skip
    """`crosses` and `stays` are the slowest links as text, now and in the better `order`; `took` and `takes` seconds
    that all collectives of float32 numbers are at least.
    """
    return Diagnostic(
        "W0320",
        f"`{axis}` crosses {crosses}, and in another order of the axes its slowest link is {stays}",
        (Label(span, "the first axis crosses the slowest links, the last one the fastest"),),
        (
            f"order the axes `{', '.join(order)}`: by bandwidth alone, a step's traffic is then {took / takes:.2g} "
            f"times faster, in float32 {duration(takes)} instead of {duration(took)}",
        ),
        edits,
    )


def uneven_crossing(
    axis: str, size: int, span: Span, link: str, unit: int, slice: str, sizes: Sequence[int], cures: tuple[Cure, ...]
) -> Diagnostic:
    """`unit` devices lie on one side of the link; with one of `sizes` all groups cross it alike."""
    legal = (f"a size that lies evenly: {listed(sizes, near=size)}",) if sizes else ()
    return Diagnostic(
        "W0321",
        f"groups of {size} along `{axis}` do not lie evenly across `{link}`, which joins {unit} and {unit} devices",
        (Label(span, f"on `{slice}` some groups cross it otherwise than others, and all wait for the slowest"),),
        legal,
        cures=cures,
    )
