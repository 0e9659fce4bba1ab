"""What is said of checkpoints that a job names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from meshc.diagnostics.model import Diagnostic, Label
from meshc.source import Span

MOST = 6
"""Labels, and weights too many, that one message shows."""


def another_model(
    path: str,
    span: Span,
    labels: Sequence[Label],
    extra: Sequence[tuple[str, tuple[int, ...], str | None]],
    renamed: tuple[str, str] | None = None,
) -> Diagnostic:
    """`labels` are weights and dims of the model that are not so in the checkpoint; `extra` what only it has, of which
    shape, and which of the missing ones it may be; `renamed` a part's path there and here.
    """
    first = Label(span, "what is in it has other names or shapes")
    left = len(labels) - MOST
    told = [f"{left} more of the model's differ"] if left > 0 else []
    told += [
        f"only in it: `{name}` {list(shape)}" + (f", perhaps `{near}` here" if near else "")
        for name, shape, near in extra[:MOST]
    ]
    told += [f"and {len(extra) - MOST} more"] * (len(extra) > MOST)
    told += [f"call it so again: `… as {renamed[0].rpartition('.')[2]}`"] if renamed else []
    helps = (*told, "another mesh, padding or number of stages would do; names and sizes must be the same")
    return Diagnostic("E0530", f"`{path}` is a checkpoint of another model", (first, *labels[:MOST]), helps)


def other_run(folder: Path, span: Span, what: str, there: str, here: str, setting: Span | None) -> Diagnostic:
    labels = [Label(span, f"{what} {there}")]
    labels += [Label(setting, here)] if setting else []
    message = (
        f"`{folder}` cannot be gone on with: {what} {'are' if what == 'weights' else 'is'} {there} there, {here} here"
    )
    helps = ("keep what it was begun with", "or name another `dir`, and take its weights by `init_from`")
    return Diagnostic("E0530", message, tuple(labels), helps)


def nothing_to_begin_with(path: str, span: Span) -> Diagnostic:
    helps = ("name a run's directory, its checkpoints, or one of them",)
    return Diagnostic("W0530", f"there is no checkpoint in `{path}` yet", (Label(span),), helps)
