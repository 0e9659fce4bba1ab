"""Checkpoints that a job names against the model: the mesh may be any other, names and shapes must be the same."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from meshc.diagnostics import saved as say
from meshc.diagnostics.model import Diagnostic, Label
from meshc.diagnostics.suggest import nearest
from meshc.job.job_file import JobFile
from meshc.job.saved import Array, Saved, at_home, exists, find_saved
from meshc.semantics.placed import PlacedProgram
from meshc.semantics.program import Dim, Weight
from meshc.source import SourceFile, Span


def checkpoints_fit(job: JobFile, placed: PlacedProgram) -> Iterator[Diagnostic]:
    """E0530 for a checkpoint of another model, W0530 where there is none to begin with."""
    saved = job.job.checkpoint
    if (span := job.span("checkpoint", "init_from")) and saved.init_from and "://" not in saved.init_from:
        found = find_saved(saved.init_from)
        if found:
            yield from _differences(found.weights, _held(placed, True), span, saved.init_from)
        elif job.job.launch.backend == "local" and not exists(saved.init_from):
            yield say.nothing_to_begin_with(saved.init_from, span)
    span = job.span("checkpoint", "dir")
    if span and at_home(saved.dir).is_absolute():
        yield from _goes_on(job, placed, saved.dir, span)


def run_fits(job: JobFile, placed: PlacedProgram, run_dir: str) -> Iterator[Diagnostic]:
    """E0530 for a run's directory, as the command line names it, that holds a run of another model."""
    kept = at_home(job.job.checkpoint.dir)
    if not kept.is_absolute():
        span = Span(SourceFile("--out", run_dir), 0, len(run_dir))
        yield from _goes_on(job, placed, str(at_home(run_dir) / kept), span)


def _held(placed: PlacedProgram, trained: bool) -> dict[str, Weight]:
    """Weights by path, or what is carried from step to step."""
    return {w.weight.dotted: w.weight for w in placed.weights if w.weight.trained == trained}


def _goes_on(job: JobFile, placed: PlacedProgram, path: str, span: Span) -> Iterator[Diagnostic]:
    """What keeps a run from going on with the checkpoints in a directory."""
    if found := find_saved(path):
        others = [
            *_differences(found.weights, _held(placed, True), span, path),
            *_differences(found.carried, _held(placed, False), span, path),
        ]
        yield from others[:1] or _other_run(job, found, span)


def _other_run(job: JobFile, found: Saved, span: Span) -> Iterator[Diagnostic]:
    """A run goes on in the dtype and with the seed that it was begun with."""
    train = job.job.train
    dtypes = {array.dtype for array in found.weights.values()}
    if dtypes != {train.precision.params}:
        here = job.span("train", "precision", "params")
        yield say.other_run(found.folder, span, "weights", sorted(dtypes)[0], train.precision.params, here)
    elif found.seed not in (None, train.seed):
        here = job.span("train", "seed")
        yield say.other_run(found.folder, span, "the seed", str(found.seed), str(train.seed), here)


def _differences(
    found: Mapping[str, Array], weights: Mapping[str, Weight], span: Span, path: str
) -> Iterator[Diagnostic]:
    missing = [weight for name, weight in weights.items() if name not in found]
    extra = {name: array for name, array in found.items() if name not in weights}
    labels = list(_of_sizes(found, weights))
    if missing and (renamed := _renamed([w.dotted for w in missing], extra)):
        there, here = renamed
        labels.append(Label(missing[0].value.span, f"all of `{here}` is `{there}` in it"))
        yield say.another_model(path, span, labels, (), renamed)
        return
    labels += [Label(w.value.span, f"`{w.dotted}` is not in it") for w in missing]
    if labels or extra:
        shown = [(name, array.shape, nearest(name, [w.dotted for w in missing])) for name, array in extra.items()]
        yield say.another_model(path, span, labels, shown)


def _renamed(missing: Sequence[str], extra: Collection[str]) -> tuple[str, str] | None:
    """The path there and here of a part that has another name: that alone makes up for all that is missing."""
    for other in extra:
        here, there = missing[0].split("."), other.split(".")
        unlike = [i for i, (a, b) in enumerate(zip(here, there, strict=False)) if a != b]
        if len(here) != len(there) or len(unlike) != 1:
            continue
        new, old = (".".join(parts[: unlike[0] + 1]) for parts in (here, there))
        inside = {f"{old}{name.removeprefix(new)}" for name in missing if f"{name}.".startswith(f"{new}.")}
        if len(inside) == len(missing) and inside == set(extra):
            return old, new
    return None


def _of_sizes(found: Mapping[str, Array], weights: Mapping[str, Weight]) -> Iterator[Label]:
    """One label for each dim of another size, however many weights have it."""
    others: dict[tuple[Dim, int], list[Weight]] = {}
    for name in found.keys() & weights.keys():
        weight, there = weights[name], found[name].shape
        if len(there) != len(weight.dims):
            shape = [dim.real for dim in weight.dims]
            yield Label(weight.value.span, f"`{name}` is {list(there)} there, {shape} here")
            continue
        for dim, size in zip(weight.dims, there, strict=True):
            if dim.real != size:
                others.setdefault((dim, size), []).append(weight)
    for (dim, size), having in sorted(others.items(), key=lambda item: item[0][0].name):
        names = sorted(weight.dotted for weight in having)
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        span = dim.span or having[0].value.span
        yield Label(span, f"`{dim.name}` is {size} there, {dim.real} here, in `{names[0]}`{more}")
