"""Settings that a job gives and that nothing reads, since another setting says so; and one that is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from meshc.diagnostics import job as say
from meshc.diagnostics.edits import removed
from meshc.diagnostics.model import Diagnostic, Edit
from meshc.job import yaml
from meshc.job.groups import matches
from meshc.job.job_file import JobFile
from meshc.job.launching import READ_BY_BACKEND
from meshc.job.model import Launch, OptimizerName
from meshc.job.read import place

READ_BY_OPTIMIZER: dict[OptimizerName, frozenset[str]] = {
    "adamw": frozenset(("b1", "b2", "eps")),
    "adam": frozenset(("b1", "b2", "eps")),
    "lamb": frozenset(("b1", "b2", "eps")),
    "lion": frozenset(("b1", "b2")),
    "sgd": frozenset(("momentum",)),
    "adafactor": frozenset(("eps",)),
}
READ_BY_SOURCE = {
    "python-stdlib": frozenset(("tokenizer",)),
    "text": frozenset(("paths", "tokenizer")),
    "tokens": frozenset(("paths", "token_dtype", "separator")),
    "synthetic": frozenset[str](),
}


KEYS = frozenset(Launch.model_fields) - {"backend"}


def settings_hold(job: JobFile, paths: Sequence[str]) -> Iterator[Diagnostic]:
    """W0514 for what is written to no effect, E0507 for a source of files without files. `paths` are the weights'."""
    yield from _data(job)
    yield from _optimizer(job)
    yield from _groups(job, paths)
    backend = job.job.launch.backend
    unread = KEYS - READ_BY_BACKEND[backend]
    yield from _unread(job, ("launch",), unread, f"the backend `{backend}`", "backend", READ_BY_BACKEND)


def _data(job: JobFile) -> Iterator[Diagnostic]:
    data = job.job.data
    read = READ_BY_SOURCE[data.source]
    known = frozenset[str]().union(*READ_BY_SOURCE.values())
    yield from _unread(job, ("data",), known - read, f"the source `{data.source}`", "source", READ_BY_SOURCE)
    if "paths" in read and not data.paths:
        span = job.span("data", "paths") or job.span("data", "source") or job.tree.span
        yield say.source_without_paths(data.source, span)


def _optimizer(job: JobFile) -> Iterator[Diagnostic]:
    optimizer = job.job.train.optimizer
    known = frozenset[str]().union(*READ_BY_OPTIMIZER.values())
    section = ("train", "optimizer")
    yield from _unread(job, section, known - READ_BY_OPTIMIZER[optimizer.name], f"`{optimizer.name}`", "name")
    if optimizer.schedule == "constant":
        yield from _unread(job, section, {"final", "decay"}, "the schedule `constant`", "schedule")


def _groups(job: JobFile, paths: Sequence[str]) -> Iterator[Diagnostic]:
    """The first group that matches a weight holds, so a later one may be left with none."""
    taken: set[str] = set()
    for i, group in enumerate(job.job.train.optimizer.groups):
        section = ("train", "optimizer", "groups", i)
        matched = {path for path in paths if matches(group, path)}
        if matched and matched <= taken and (span := job.span(*section, "match")):
            yield say.group_taken(group.match, span)
        taken |= matched
        if group.frozen:
            yield from _unread(job, section, {"lr_scale", "weight_decay"}, "a frozen group", "frozen")


def _unread(
    job: JobFile,
    section: Sequence[int | str],
    names: set[str] | frozenset[str],
    by: str,
    choice: str,
    readers: Mapping[Any, frozenset[str]] = MappingProxyType({}),
) -> Iterator[Diagnostic]:
    """`choice` is the key that makes it `by`; `readers` are the choices instead, and what each of them reads.

    Where the command line chooses, what the file says is for the choice that the file makes.
    """
    chosen, file = job.span(*section, choice), job.tree.span.source
    elsewhere = chosen is not None and chosen.source is not file
    for name in sorted(names):
        span = job.span(*section, name)
        if span and not (elsewhere and span.source is file):
            others = [other for other, read in readers.items() if name in read]
            yield replace(say.unread_setting(name, by, span, others), edits=_without(job, section, name))


def _without(job: JobFile, section: Sequence[int | str], name: str) -> tuple[Edit, ...]:
    """The section without a setting; one that has no other stays, for a mapping cannot be empty."""
    whole, entry = place(job.tree, tuple(section)).node, place(job.tree, (*section, name))
    if not job.written or entry.key_span is None or not isinstance(whole, yaml.Mapping) or len(whole.entries) < 2:
        return ()
    if entry.key_span.source is not entry.node.span.source or entry.key_span.source is not job.tree.span.source:
        return ()
    return (removed(entry.key_span.to(entry.node.span)),)
