"""What of a job decides sizes and traffic."""

from __future__ import annotations

from meshc.job.model import Job
from meshc.semantics.collectives import Settings

BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2}


def settings_of(job: Job) -> Settings:
    precision = job.train.precision
    return Settings(BYTES[precision.params], BYTES[precision.compute], job.train.remat)
