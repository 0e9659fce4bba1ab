"""Paths that a job names, as absolute ones: a program finds its data wherever it is started."""

from __future__ import annotations

import glob
import os
from pathlib import Path

from meshc.job.model import Job
from meshc.job.read import Loc, place
from meshc.job.yaml import Mapping


def anchored(job: Job, tree: Mapping, directory: Path) -> Job:
    """The job with its paths relative to `directory`, that of its file; those of the command line to where we are."""

    def anchor(path: str, *loc: int | str, pattern: bool = False) -> str:
        if path.startswith("~") or "://" in path:
            return path
        base = str((directory if _is_written(tree, loc) else Path()).absolute())
        return os.path.normpath(Path(glob.escape(base) if pattern else base, path))

    data, saved = job.data, job.checkpoint
    paths = tuple(anchor(path, "data", "paths", i, pattern=True) for i, path in enumerate(data.paths))
    tokenizer = data.tokenizer if data.tokenizer == "bytes" else anchor(data.tokenizer, "data", "tokenizer")
    init_from = saved.init_from and anchor(saved.init_from, "checkpoint", "init_from")
    return job.model_copy(
        update={
            "data": data.model_copy(update={"paths": paths, "tokenizer": tokenizer}),
            "checkpoint": saved.model_copy(update={"init_from": init_from}),
        }
    )


def _is_written(tree: Mapping, loc: Loc) -> bool:
    """Whether a value stands in the job's file, not in a flag."""
    return place(tree, loc).node.span.source is tree.span.source
