"""Pipelines: layers cut into stages along a mesh axis, microbatches that go through them in lockstep ticks."""

from .engine import Pipeline, Told, run
from .forward import predict
from .schedule import Schedule, order, schedule
from .stage import Turns, scan

__all__ = ["Pipeline", "Schedule", "Told", "Turns", "order", "predict", "run", "scan", "schedule"]
