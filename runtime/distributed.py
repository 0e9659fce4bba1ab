"""Joining the other processes of a run, where the environment says there are some."""

from __future__ import annotations

import os

import jax

from . import env


def join() -> None:
    """`jax.distributed.initialize`, once, before the first device is asked for. Nothing where the process is alone."""
    place = env.read(os.environ)
    if place.alone or jax.distributed.is_initialized():
        return
    jax.distributed.initialize(
        place.coordinator, place.processes, place.process, local_device_ids=place.local_devices or None
    )


def is_first() -> bool:
    """Whether this process is the one that writes and prints."""
    return jax.process_index() == 0
