"""What of a job decides sizes and traffic."""

from __future__ import annotations

from meshc.cost.report import Widths
from meshc.job.model import Job, Optimizer
from meshc.semantics.collectives import Settings

BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2}


def settings_of(job: Job) -> Settings:
    precision = job.train.precision
    return Settings(BYTES[precision.params], BYTES[precision.compute], job.train.remat)


def widths_of(job: Job) -> Widths:
    precision = job.train.precision
    return Widths(BYTES[precision.params], BYTES[precision.compute], moments(job.train.optimizer))


def moments(optimizer: Optimizer) -> int:
    """Tensors of a weight's shape that an optimizer keeps beside it.

    Adafactor's factored moments are lines and columns only.
    """
    match optimizer.name:
        case "adamw" | "adam" | "lamb":
            return 2
        case "lion":
            return 1
        case "sgd":
            return int(optimizer.momentum > 0)
        case "adafactor":
            return 0
