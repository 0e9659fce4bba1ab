"""Where checkpoints go, against the hosts that write them: each writes its part, so all must see the directory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from meshc.diagnostics import launch as say
from meshc.diagnostics.model import Diagnostic
from meshc.job.job_file import JobFile
from meshc.job.launch_plan import launch_plan

OF_ONE_HOST = ("/tmp", "/var", "/dev", "/run", "/home", "/root", "/Users", "/local", "/localscratch")
"""Below these a path is a host's own, unless its owner says otherwise: temporary files, homes, local disks."""


def directory_shared(job: JobFile) -> Iterator[Diagnostic]:
    """E0524, of a job for several machines: one that says how it is started, or where its checkpoints go."""
    saved, machines = job.job.checkpoint, _machines(job)
    if machines == 1 or saved.shared or is_bucket(saved.dir):
        return
    if saved.shared is False:
        span = job.span("checkpoint", "shared") or job.tree.span
        yield say.own_directory(saved.dir, machines, "", span)
    elif (why := why_local(saved.dir)) is not None:
        written = job.span("checkpoint", "dir")
        span = written or job.span("launch", "backend") or job.tree.span
        yield say.own_directory(saved.dir, machines, why, span, default=written is None)


def is_bucket(path: str) -> bool:
    return re.match(r"(?!file:)[a-z][a-z0-9+.-]*://", path, re.IGNORECASE) is not None


def why_local(path: str) -> str | None:
    """What makes a path one of a single host; None where it may as well be shared."""
    path = re.sub(r"^file://", "", path, flags=re.IGNORECASE)
    if path.startswith("~"):
        return "it lies in a home directory"
    if not path.startswith("/"):
        return "it is relative to the run's directory"
    parts = PurePosixPath("/", *(part for part in PurePosixPath(path).parts[1:] if part != ".")).parts
    top = f"/{parts[1]}" if len(parts) > 1 else "/"
    if top in ("/home", "/root", "/Users"):
        return "it lies in a home directory"
    return f"`{top}` is a host's own" if top in OF_ONE_HOST else None


def _machines(job: JobFile) -> int:
    """How many machines write: as the launch says, or, where only the directory is written, as the slice does."""
    if job.span("launch") is not None and (plan := launch_plan(job.job, job.slice)):
        return min(plan.machines, job.slice.hosts) if job.slice else plan.machines
    several = job.slice is not None and not job.slice.virtual and job.span("checkpoint", "dir") is not None
    return job.slice.hosts if several and job.slice else 1
