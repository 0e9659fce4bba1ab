"""What is said about a slice that cannot be."""

from __future__ import annotations

from collections.abc import Sequence

from meshc.diagnostics.model import Diagnostic, Edit, Label
from meshc.source import Span


def no_whole_hosts(
    sides: Sequence[int], chips_per_host: int, span: Span, others: Sequence[Sequence[int]]
) -> Diagnostic:
    """`others` are sides of as many chips that hosts fill."""
    block = {4: "2 x 2", 8: "2 x 4"}.get(chips_per_host)
    of = f", which are blocks of {block}" if block else ""
    texts = [str(list(other)) for other in others]
    return Diagnostic(
        "E0402",
        f"a torus of {' x '.join(map(str, sides))} is not made of hosts of {chips_per_host} chips{of}",
        (Label(span),),
        (f"`sides` may be {' or '.join(texts)}",) if texts else ("give it other `chips`, which such hosts make",),
        (Edit(span, texts[0]),) if texts and "sides" not in span.text and span.text.startswith("[") else (),
    )


def torus_of(platform: str, span: Span, torus: Span) -> Diagnostic:
    edits = (Edit(span, "tpu"),) if span.text == platform else ()
    labels = (Label(span, f"the platform is {platform}"), Label(torus, "only TPUs are wired so"))
    helps = ("write `platform: tpu`", "or `levels`: node, rack, network")
    return Diagnostic("E0403", f"a slice of platform `{platform}` has no torus", labels, helps, edits)


def tpu_without_torus(chips: int, span: Span) -> Diagnostic:
    helps = ("give its `torus`: {sides: [4, 4], link_bandwidth: 5.0e+10}",)
    return Diagnostic("E0403", f"{chips} TPU chips are wired by no torus", (Label(span),), helps)
