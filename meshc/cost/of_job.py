"""What of a job decides sizes and traffic."""

from __future__ import annotations

from meshc.job.model import BYTES, Job
from meshc.job.slices import Slice
from meshc.semantics.collectives import Settings


def settings_of(job: Job, slice: Slice | None = None) -> Settings:
    """`slice` is what it runs on; virtual devices of the CPU where there is none."""
    precision, ragged = job.train.precision, slice is not None and slice.platform != "cpu"
    return Settings(BYTES[precision.params], BYTES[precision.compute], job.train.remat, ragged)
