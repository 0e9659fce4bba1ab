"""What a command is asked to work on: a spec or a job, with the flags that change it, read and ready to be compiled."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from meshc.diagnostics import job as say
from meshc.diagnostics.model import Diagnostic
from meshc.job.catalogue import find_slice
from meshc.job.overrides import SECTIONS, Override, parse_flags
from meshc.job.slices import Slice
from meshc.load import load
from meshc.source import SourceFile, Span

if TYPE_CHECKING:
    from meshc.job.job_file import JobFile


@dataclass(frozen=True, slots=True)
class Request:
    """The command line: a path and what its flags say, as text. `over` are settings of ours, which win over `sets`.

    `source` is the file's text, where it is known already and perhaps not (yet) what lies on disk.
    """

    path: str
    slice: str | None = None
    sets: tuple[str, ...] = ()
    steps: int | None = None
    over: tuple[str, ...] = ()
    source: SourceFile | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """`job` is None where only a spec is to be checked and nothing speaks of a job."""

    spec: SourceFile
    overrides: tuple[Override, ...]
    slice: Slice | None
    job: JobFile | None


def is_job(path: str) -> bool:
    """Whether a path names a job rather than a spec."""
    return Path(path).suffix in (".yaml", ".yml")


def read(request: Request, with_job: bool) -> tuple[Target | None, list[Diagnostic]]:
    """The target of a request, or None and why not.

    A spec is asked for its job only `with_job`: reading one costs time.
    """
    source = request.source or load(request.path)
    if isinstance(source, Diagnostic):
        return None, [source]
    flags, problems = _flags(request)
    asked = _whole("--slice", request.slice) if request.slice is not None else None
    written = is_job(request.path)
    if written or with_job or any(flag.of_job for flag in flags):
        target, found = _with_job(source, written, flags, asked)
    else:
        slice, found = find_slice(asked.text, asked) if asked else (None, [])
        target = Target(source, flags, slice, None)
    return target, problems + found


def _with_job(
    source: SourceFile, written: bool, flags: tuple[Override, ...], asked: Span | None
) -> tuple[Target | None, list[Diagnostic]]:
    from meshc.job.job_file import default_job, read_job

    if not written:
        job, problems = default_job(Path(source.name), flags, asked)
        of_spec = tuple(flag for flag in flags if not flag.of_job)
        return Target(source, of_spec, job.slice if job else None, job), problems
    job, problems = read_job(source, flags, asked)
    if job is None:
        return None, problems
    spec = load(job.spec, asked=job.span("spec"))
    if isinstance(spec, Diagnostic):
        return None, [*problems, spec]
    return Target(spec, job.overrides, job.slice, job), problems


def _flags(request: Request) -> tuple[tuple[Override, ...], list[Diagnostic]]:
    flags, problems = parse_flags(request.sets)
    for flag in flags:
        section, dot, _ = flag.key.partition(".")
        if dot and section not in (*SECTIONS, "mesh"):
            problems.append(say.unknown_section(flag.key, section, flag.key_span, (*SECTIONS, "mesh")))
    if request.steps is not None:
        span = _whole("--steps", str(request.steps))
        flags = (*(f for f in flags if f.key != "train.steps"), Override("train.steps", span.text, span, span))
    over, _ = parse_flags(request.over)
    flags = tuple(flag for flag in flags if not any(f"{flag.key}.".startswith(f"{o.key}.") for o in over))
    wrong = {problem.span for problem in problems}
    return (*(flag for flag in flags if flag.key_span not in wrong), *over), problems


def _whole(flag: str, text: str) -> Span:
    return Span(SourceFile(flag, text), 0, len(text))
