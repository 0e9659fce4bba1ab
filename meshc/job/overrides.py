"""Overrides: what `--set` and a job's `set` change in a spec, and what `--set` changes in a job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from meshc.diagnostics import job as say
from meshc.diagnostics.model import Diagnostic, Label
from meshc.source import SourceFile, Span

SECTIONS = ("train", "data", "checkpoint", "launch")
"""The parts of a job that `--set` can change; any other name is a dim, and `mesh.NAME` an axis."""


@dataclass(frozen=True, slots=True)
class Override:
    """`key = value`: `batch`, `mesh.tp` or `train.steps`; `value` is text still.

    The spans are in the flag or the job's file.
    """

    key: str
    value: str
    key_span: Span
    value_span: Span

    @property
    def span(self) -> Span:
        """All of it where it is a flag; in a file the value."""
        return self.key_span.to(self.value_span) if self.key_span.source.name == "--set" else self.value_span

    @property
    def of_job(self) -> bool:
        return self.key.partition(".")[0] in SECTIONS and "." in self.key


def parse_flags(flags: Iterable[str], flag: str = "--set") -> tuple[tuple[Override, ...], list[Diagnostic]]:
    """The overrides of several `--set name=value`, each in a text of its own that messages show as `--set`."""
    overrides: dict[str, Override] = {}
    problems: list[Diagnostic] = []
    for text in flags:
        source = SourceFile(flag, text)
        key, equals, value = text.partition("=")
        if not key.strip() or not equals or not value.strip():
            problems.append(say.bad_override(text, Span(source, 0, len(text))))
            continue
        start = len(key) + 1 + len(value) - len(value.lstrip())
        key_span = Span(source, len(key) - len(key.lstrip()), len(key.rstrip()))
        override = Override(key.strip(), value.strip(), key_span, Span(source, start, start + len(value.strip())))
        if before := overrides.get(override.key):
            problems.append(say.override_twice(override.key, key_span, before.key_span))
        overrides[override.key] = override
    return tuple(overrides.values()), problems


def merged(job: Iterable[Override], flags: Iterable[Override]) -> tuple[Override, ...]:
    """A job's overrides and those of the command line, which win."""
    return tuple({override.key: override for override in (*job, *flags)}.values())


def redirected(found: Diagnostic, moved: Mapping[Span, Span]) -> Diagnostic:
    """A diagnostic that points at the override where it pointed at what is overridden.

    Of its main place it says where that is declared, too: there a warning can be allowed.
    """
    labels = tuple(Label(moved.get(label.span, label.span), label.text) for label in found.labels)
    if labels == found.labels:
        return found
    declared = (Label(found.labels[0].span, "declared here"),) if labels[0] != found.labels[0] else ()
    return replace(found, labels=(*labels, *declared))
