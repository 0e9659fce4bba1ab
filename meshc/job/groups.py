"""Optimizer groups against the weights there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from meshc.diagnostics import job as say
from meshc.diagnostics.model import Diagnostic
from meshc.job.job_file import JobFile
from meshc.job.model import Group, Optimizer


def matches(group: Group, path: str) -> bool:
    return fnmatchcase(path, group.match)


def group_of(optimizer: Optimizer, path: str) -> Group | None:
    """The group of a weight: the first that matches. (runtime/optimizer.py does the same for a program.)"""
    return next((group for group in optimizer.groups if matches(group, path)), None)


def groups_match(job: JobFile, paths: Sequence[str]) -> Iterator[Diagnostic]:
    """Each group of the optimizer speaks of a weight."""
    for i, group in enumerate(job.job.train.optimizer.groups):
        if not any(matches(group, path) for path in paths):
            span = job.span("train", "optimizer", "groups", i, "match")
            yield say.group_matches_nothing(group.match, span, paths)
