"""A diagnostic as a value: code, headline, labelled places, help. How it is printed is the renderers' business."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from meshc.source import Span

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Label:
    """A place and what there is to say about it (may be empty)."""

    span: Span
    text: str = ""


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace a span by text; `safe` when it is surely what was meant, so that nobody need look at it first: what is
    built of the result is the same, and nothing goes that somebody may have meant to use, or has worked on.

    `meshc lint --fix` applies the edits of a diagnostic if all of them are safe, and else under `--unsafe-fixes`.
    """

    span: Span
    text: str
    safe: bool = False


@dataclass(frozen=True, slots=True)
class Option:
    """One change of a spec that may do: `text` is what a help line says of it.

    `sizes` are other sizes, by the keys that `--set` has for them: `heads`, `mesh.tp`, `train.microsteps`. `elsewhere`:
    on as many devices as the mesh then has, whatever the slice.
    """

    text: str
    sizes: tuple[tuple[str, int], ...] = ()
    edits: tuple[Edit, ...] = ()
    elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class Cure:
    """A help line to be: `says`, with those of the options that do in place of its `{}`. They are tried nearest first.

    Without words it only makes edits of what a help line says already. `usable` is false for what is told, but not to
    be written into the spec by itself. `unless`: told only where no other mesh is before it, or nothing.
    """

    says: str
    options: tuple[Option, ...]
    usable: bool = True
    unless: Literal["mesh", "any"] | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem.

    `labels[0]` is the primary place; it is empty only where there is no text to point at (a missing file).
    `message` is lower case, names in backticks, no final period. `helps` are the cures, each a line. `edits` together
    are one cure, the first that has any: who applies one of them applies all. Those of one diagnostic do not overlap.
    `cures` are more help lines, which have to be tried first (cures.py): the driver leaves none.
    `also` are more places of the same mistake. Diagnostics that name the same `cause` are one report (fold.py).
    """

    code: str
    message: str
    labels: tuple[Label, ...] = ()
    helps: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    cures: tuple[Cure, ...] = ()
    also: tuple[Span, ...] = ()
    cause: str = ""

    @property
    def severity(self) -> Severity:
        return "error" if self.code.startswith("E") else "warning"

    @property
    def fixed(self) -> Diagnostic:
        """The same, of places that stay where they are when an editor's session goes on."""
        labels = tuple(Label(label.span.fixed, label.text) for label in self.labels)
        edits = tuple(replace(edit, span=edit.span.fixed) for edit in self.edits)
        return replace(self, labels=labels, edits=edits, also=tuple(span.fixed for span in self.also))

    @property
    def span(self) -> Span | None:
        return self.labels[0].span if self.labels else None
