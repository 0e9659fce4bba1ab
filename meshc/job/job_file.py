"""A job and where its values are written: from `job.yaml`, or of defaults for a spec alone, with the command line's
changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from meshc.diagnostics.model import Diagnostic
from meshc.job.catalogue import find_slice
from meshc.job.model import Job
from meshc.job.overrides import Override, merged
from meshc.job.paths import anchored
from meshc.job.read import place, validate
from meshc.job.shapes import shape_holds
from meshc.job.slice_fields import SliceFields
from meshc.job.slices import Slice
from meshc.job.yaml import Entry, Mapping, Node, Scalar, parse, parse_value
from meshc.source import SourceFile, Span


@dataclass(frozen=True, slots=True)
class JobFile:
    """`spec` is the path of the spec, `overrides` what changes in it; the job's own paths are absolute.

    `slice` is None where neither job nor flag names one.
    """

    job: Job
    tree: Mapping
    spec: Path
    overrides: tuple[Override, ...]
    slice: Slice | None

    @property
    def written(self) -> bool:
        """Whether a file holds it; of a spec alone all is default."""
        return Path(self.tree.span.source.name).suffix in (".yaml", ".yml")

    def span(self, *loc: int | str) -> Span | None:
        """Where a value of the job is written; None for a default."""
        at = place(self.tree, loc)
        return at.node.span if at.depth == len(loc) else None


def read_job(
    source: SourceFile, flags: Iterable[Override], slice_flag: Span | None
) -> tuple[JobFile | None, list[Diagnostic]]:
    """The job of a YAML file. `slice_flag` is the name that the command line gives, which wins."""
    tree, problems = parse(source)
    if tree is None or problems:
        return None, problems
    return _job(tree, Path(source.name).parent, tuple(flags), slice_flag)


def default_job(
    spec: Path, flags: Iterable[Override], slice_flag: Span | None
) -> tuple[JobFile | None, list[Diagnostic]]:
    """The job of a spec alone."""
    span = Span(SourceFile("spec", str(spec)), 0, len(str(spec)))
    tree = Mapping((Entry("spec", span, Scalar(str(spec), str(spec), span)),), span)
    return _job(tree, Path(), tuple(flags), slice_flag)


def _job(
    tree: Mapping, base: Path, flags: tuple[Override, ...], flag: Span | None
) -> tuple[JobFile | None, list[Diagnostic]]:
    problems: list[Diagnostic] = []
    for override in flags:
        if override.of_job:
            node, wrong = parse_value(override.value_span.source, override.value_span.start)
            problems += wrong
            tree = with_value(tree, override, node) if node else tree
    job, wrong = validate(Job, tree)
    problems += wrong
    if job is None or problems:
        return None, [*problems, *_unknown_slice(tree, flag, problems)]
    found, problems = _slice(job, tree, flag)
    of_spec = merged(_spec_overrides(tree), (o for o in flags if not o.of_job))
    return JobFile(anchored(job, tree, base), tree, base / job.spec, of_spec, found), problems


def _unknown_slice(tree: Mapping, flag: Span | None, said: list[Diagnostic]) -> list[Diagnostic]:
    """What is wrong with the name of the slice, whatever else is with the job."""
    if flag is not None:
        return find_slice(flag.text, flag)[1]
    entry = tree.get("slice")
    if entry is None or not isinstance(entry.value, Scalar) or not isinstance(entry.value.value, str):
        return []
    named = entry.value.span
    return [] if any(d.span == named for d in said) else find_slice(entry.value.value, named)[1]


def with_value(tree: Mapping, override: Override, value: Node) -> Mapping:
    """The tree with one more value, or another one, at the override's key."""
    return _put(tree, override.key.split("."), override.key_span, value)


def _put(tree: Mapping, path: list[str], key_span: Span, value: Node) -> Mapping:
    head, *rest = path
    before = tree.get(head)
    if rest:
        inside = before.value if before and isinstance(before.value, Mapping) else Mapping((), key_span)
        value = _put(inside, rest, key_span, value)
    entry = Entry(head, before.key_span if before and rest else key_span, value)
    if before is None:
        return Mapping((*tree.entries, entry), tree.span)
    return Mapping(tuple(entry if old is before else old for old in tree.entries), tree.span)


def _spec_overrides(tree: Mapping) -> list[Override]:
    entry = tree.get("set")
    entries = entry.value.entries if entry and isinstance(entry.value, Mapping) else ()
    scalars = ((e, e.value) for e in entries if isinstance(e.value, Scalar))
    return [Override(e.key, value.text, e.key_span, value.span) for e, value in scalars]


def _slice(job: Job, tree: Mapping, flag: Span | None) -> tuple[Slice | None, list[Diagnostic]]:
    if flag is not None:
        return find_slice(flag.text, flag)
    match job.slice:
        case None:
            return None, []
        case str(name):
            return find_slice(name, place(tree, ("slice",)).node.span)
        case SliceFields() as fields:
            slice = fields.slice()

            def at(*keys: str) -> Span:
                found = place(tree, ("slice", *keys))
                given = found.depth == len(keys) + 1
                return found.node.span if given else place(tree, ("slice",)).key_span or tree.span

            return slice, list(shape_holds(slice, at))
