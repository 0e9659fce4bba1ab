"""The compiler on one screen: read, resolve, place, check; then derive the collectives and emit the program."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from meshc.diagnostics.arrange import arranged, has_errors
from meshc.diagnostics.fold import folded
from meshc.diagnostics.model import Diagnostic
from meshc.diagnostics.run import no_spec
from meshc.diagnostics.suppress import suppress
from meshc.job.overrides import redirected
from meshc.job.target import Request, Target, is_job, read
from meshc.load import load
from meshc.source import SourceFile, Span
from meshc.uncollected import uncollected

if TYPE_CHECKING:
    from meshc.cost.report import Report
    from meshc.job.job_file import JobFile
    from meshc.job.model import Job
    from meshc.semantics.collectives import Collective
    from meshc.semantics.memory import Memory
    from meshc.semantics.placed import PlacedProgram
    from meshc.semantics.program import Program
    from meshc.semantics.trials import Subject


@dataclass(frozen=True)
class Checked:
    """What checking found. `target` and `placed` are None where it did not come so far.

    `sources` are the files read: the spec and all that it imports, also indirectly.
    """

    target: Target | None
    placed: PlacedProgram | None
    sources: tuple[SourceFile, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def failed(self) -> bool:
        return has_errors(self.diagnostics)


@dataclass(frozen=True)
class Compiled:
    """A program ready to be written: `files` by their path in its directory, `manifest` what `program.json` says."""

    target: Target
    job: Job
    placed: PlacedProgram
    collectives: tuple[Collective, ...]
    report: Report
    files: dict[str, str]
    manifest: dict[str, Any]


@uncollected()
def check(request: Request, with_job: bool = False, cures: bool = True, memory: Memory | None = None) -> Checked:
    """Everything that is wrong with a spec or job, in one run.

    cures: try what is offered in place of what is wrong, which takes longer than finding it
    memory: what earlier checks left, to be used again
    """
    from meshc.semantics.imports import read_import
    from meshc.semantics.memory import Memory
    from meshc.semantics.overrides import override_at
    from meshc.semantics.resolve import resolve
    from meshc.semantics.trials import Subject, check_program
    from meshc.syntax.ast import Name, Text

    memory = memory or Memory()
    target, problems = read(request, with_job)
    if target is None:
        return _checked(None, None, [], problems)
    microsteps = target.job.job.train.microsteps if target.job else 1
    overrides = tuple(override_at(Name(o.key, o.key_span), o.value, o.value_span) for o in target.overrides)
    sources = [target.spec]

    def imported(path: Text, importer: SourceFile) -> SourceFile | Diagnostic:
        found = read_import(path, importer)
        if isinstance(found, SourceFile):
            sources.append(found)
        return found

    devices = target.slice.chips if target.slice else None
    program, found = resolve(target.spec, overrides, imported, devices, memory)
    # Of an unknown slice it has been said already that nothing is known.
    found = [d for d in found if d.code != "E0219" or not has_errors(problems)]
    subject = Subject(target.spec, overrides, imported, target.slice, microsteps, memory.files)
    placed = None
    if program is not None:
        placed, more = check_program(program, microsteps, target.slice, memory=memory)
        # What lies idle in a spec with unknown names would not in the corrected one.
        wrong = has_errors([*problems, *found])
        found += [d for d in more if d.severity == "error" or not wrong]
    memory.turn(whole=program is not None)
    if cures:
        found = _cured(target, subject, program, found)
    if program is None or placed is None:
        return _checked(target, None, sources, [*problems, *found])
    problems += [redirected(d, _moved(program, target)) for d in found]
    if not has_errors(problems) and not any(axis.assumed for axis in program.axes):
        problems += [redirected(d, _moved(program, target)) for d in _wasted(placed, target, found)]
    if target.job:
        known = not any(d.code == "E0508" for d in problems)  # what is wrong with an unknown slice has been said
        problems += _job_holds(target.job, placed, known)
    return _checked(target, placed, sources, problems)


def _cured(target: Target, subject: Subject, program: Program | None, found: list[Diagnostic]) -> list[Diagnostic]:
    """The problems with what would do in their place, as tried."""
    from meshc.diagnostics.cures import cured
    from meshc.semantics.alternatives import MICROSTEPS
    from meshc.semantics.trials import Trials

    if not any(problem.cures for problem in found):
        return found
    written = target.job.span(*MICROSTEPS.split(".")) if target.job else None
    trials = Trials(subject, program, found, {MICROSTEPS: written} if written else {})
    return cured(found, trials.attempt if trials.most else None, trials.written)


def _wasted(placed: PlacedProgram, target: Target, said: list[Diagnostic]) -> Iterator[Diagnostic]:
    """What costs more than it need, in bytes, operations and time, and state that no device has room for."""
    from meshc.cost.checks import Priced, priced_too_high
    from meshc.semantics.collectives import Settings

    train, slice = target.job.job.train if target.job else None, target.slice
    settings = Settings(ragged=slice is not None and slice.platform != "cpu")
    if target.job:
        from meshc.cost.of_job import settings_of

        settings = settings_of(target.job.job, slice)
    yield from priced_too_high(Priced(placed, slice, settings=settings, train=train, said=tuple(said)))


def _job_holds(job: JobFile, placed: PlacedProgram, slice_known: bool) -> Iterator[Diagnostic]:
    """What is wrong with a job for this program."""
    from meshc.job.groups import groups_match
    from meshc.job.idle import settings_hold
    from meshc.job.launching import launch_holds
    from meshc.job.shared_dirs import directory_shared
    from meshc.semantics.feeds import source_feeds
    from meshc.semantics.resumes import checkpoints_fit

    paths = [w.weight.dotted for w in placed.weights if w.weight.trained]
    yield from groups_match(job, paths)
    yield from settings_hold(job, paths)
    yield from source_feeds(job, placed.program)
    if slice_known:
        yield from launch_holds(job, None if any(axis.assumed for axis in placed.program.axes) else placed.devices)
        yield from directory_shared(job)
    yield from checkpoints_fit(job, placed)


def compile_program(
    request: Request, emit: bool = True, unchecked: bool = False
) -> tuple[Compiled | None, tuple[Diagnostic, ...]]:
    """A spec or job through the whole compiler; None where there are errors. Without `emit` no files are made.

    unchecked: make the program in spite of errors, where something was placed at all. For `meshc.prove.sound`, which
    shows that such programs do not run; they may fail anywhere, here too.
    """
    from meshc.codegen.beside import copies, manifest
    from meshc.cost.of_job import settings_of
    from meshc.cost.report import report
    from meshc.job.launch_plan import launch_plan
    from meshc.semantics.collectives import derive

    checked = check(request, with_job=True, cures=not unchecked)
    target, placed = checked.target, checked.placed
    if placed is None or target is None or target.job is None or (checked.failed and not unchecked):
        return None, checked.diagnostics
    job = target.job.job
    collectives = derive(placed, settings_of(job, target.slice))
    elsewhere = launch_plan(job, target.slice) if job.launch.backend != "local" else None
    told = report(placed, collectives, settings_of(job), job.train.optimizer, target.slice, elsewhere)
    files: dict[str, str] = {}
    if emit:
        from meshc.codegen.emit import emit as emit_program
        from meshc.codegen.supported import unsupported

        if (problems := unsupported(placed)) and not unchecked:
            return None, arranged((*checked.diagnostics, *problems))
        files = {**emit_program(placed, job, collectives, told.network), **copies(checked.sources)}
    return Compiled(target, job, placed, collectives, told, files, manifest(told, target.spec)), checked.diagnostics


def _moved(program: Program, target: Target) -> dict[Span, Span]:
    """Declarations whose size another place says: the declared name's span to the override's."""
    declared = {name: dim.span for name, dim in program.dims.items()}
    declared |= {f"mesh.{axis.name}": axis.span for view in (program, *program.views) for axis in view.axes}
    return {span: o.span for o in target.overrides if (span := declared.get(o.key))}


def formatted(path: str) -> tuple[str, str | None, list[Diagnostic]]:
    """The text of a spec and the one way to write it, None where it cannot be said."""
    from meshc.syntax.format import format_source

    if is_job(path):
        return "", None, [no_spec(path)]
    source = load(path)
    if isinstance(source, Diagnostic):
        return "", None, [source]
    return source.text, *format_source(source)


def _checked(
    target: Target | None, placed: PlacedProgram | None, sources: list[SourceFile], problems: list[Diagnostic]
) -> Checked:
    unique = {source.name: source for source in sources}
    own = [target.spec] if target else []
    if target and target.job and target.job.written:
        own.append(target.job.tree.span.source)
    found = tuple(folded(arranged(suppress((problem.fixed for problem in problems), own))))
    return Checked(target, placed, tuple(unique.values()), found)
