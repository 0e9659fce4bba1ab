"""What is said about rules and strategies before anything is placed by them."""

from __future__ import annotations

from collections.abc import Sequence

from meshc.diagnostics.edits import removed
from meshc.diagnostics.model import Diagnostic, Edit, Label
from meshc.diagnostics.suggest import did_you_mean, nearest, quoted
from meshc.source import Span


def place_in_place(inner: str, outer: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0241", f"`{inner}` cannot stand in `{outer}`", (Label(span),), ("write the two beside each other",)
    )


def only_in_use(what: str, outer: str, span: Span) -> Diagnostic:
    """An exchange or a stage among rules of weights at rest."""
    return Diagnostic("E0241", f"`{what}` says nothing about {outer}", (Label(span),), (f"write it outside `{outer}`",))


def bad_option(name: str, value: str, span: Span, known: Sequence[str]) -> Diagnostic:
    helps = did_you_mean(value.strip('`"'), known)
    if known and not any("known" in line for line in helps):
        helps = (*helps, f"`{name}` is {quoted(known, 'or')}")
    near = nearest(value.strip('`"'), known)
    edits = (Edit(span, f'"{near}"' if value.startswith('"') else near),) if near else ()
    return Diagnostic("E0242", f"`{name}` cannot be {value}", (Label(span),), helps, edits)


def only_interleaved(schedule: str, span: Span, written: Span | None) -> Diagnostic:
    """`span` is that of the rounds, `written` of the schedule where it is given beside them."""
    edits = _interleaved(span, written)
    return Diagnostic("E0242", f"`{schedule}` has no rounds", (Label(span),), ('use schedule = "interleaved"',), edits)


def _interleaved(rounds: Span, schedule: Span | None) -> tuple[Edit, ...]:
    if schedule is not None:
        return (Edit(schedule, '"interleaved"'),)
    return (Edit(Span(rounds.source, rounds.end, rounds.end), ', schedule = "interleaved"'),)


def options_differ(name: str, one: str, other: str, span: Span, first: Span) -> Diagnostic:
    return Diagnostic(
        "E0242",
        f"`{name}` is {other} and {one}",
        (Label(span, one), Label(first, other)),
        ("it holds for the whole program",),
    )


def not_an_axis(name: str, got: str, span: Span, where: Span, known: Sequence[str]) -> Diagnostic:
    """A strategy's argument that stands where an axis is needed."""
    message = f"`{name}` must be a mesh axis, got {got}"
    labels = (Label(span), Label(where, "stands for an axis here"))
    if (axis := span.text.strip('"')) != span.text and axis in known:
        return Diagnostic(
            "E0204", message, labels, (f"write `{axis}`, without quotes",), (Edit(span, axis, safe=True),)
        )
    return Diagnostic("E0204", message, labels, (f"the mesh has {quoted(known)}",) if known else ())


def axis_of_view(axis: str, view: str, span: Span, declared: Span) -> Diagnostic:
    return Diagnostic(
        "E0245",
        f"`{axis}` is an axis of the view `{view}` only",
        (Label(span), Label(declared, "declared here")),
        (f"write it within {view} {{ … }}",),
    )


def axis_twice(axis: str, span: Span, again: Span | None = None) -> Diagnostic:
    """`again` is its second place in a rule that is written so."""
    edits = (removed(again),) if again else ()
    message = f"`{axis}` stands twice in one rule"
    return Diagnostic("E0247", message, (Label(span),), ("an axis splits a dim once",), edits)


def saves_nothing(text: str, axes: Sequence[str], places: Sequence[str], span: Span) -> Diagnostic:
    """`places` are those of tensors at rest, of which devices could hold parts."""
    sizes = " and ".join(f"`{axis}` is 1" for axis in axes)
    return Diagnostic(
        "W0306",
        f"`{text}` saves no memory: {sizes}",
        (Label(span, f"splits {' and '.join(places)} over one device"),),
        (f"give {quoted(axes)} some of the devices, or take it out",),
        (removed(span),),
    )


def not_a_condition(got: str, span: Span) -> Diagnostic:
    return Diagnostic("E0223", f"expected a condition, got {got}", (Label(span),), ("a condition is true or false",))
