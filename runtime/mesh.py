"""The device mesh: exactly the devices that the spec asked for, never fewer, never some of them left idle."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import jax
from jax.sharding import AxisType, Mesh

from . import distributed
from .errors import UserError


def make_mesh(axes: Mapping[str, int], devices: Sequence[jax.Device] | None = None) -> Mesh:
    """A mesh of all devices, first axis outermost, every axis `Auto`; `{}` is one device and a mesh without axes.

    Joins the other processes first, where the environment names a coordinator. Raises `UserError` where the number of
    devices is not the product of the sizes: a smaller mesh would leave devices idle without a word.
    """
    if devices is None:
        distributed.join()
        devices = jax.devices()
    wanted = math.prod(axes.values())
    if len(devices) != wanted:
        raise UserError(_wrong_count(axes, wanted, devices), _cure(wanted, devices))
    # The shape goes by position: its keyword has another name in jax 0.11.
    return jax.make_mesh(tuple(axes.values()), tuple(axes), axis_types=(AxisType.Auto,) * len(axes), devices=devices)


def _wrong_count(axes: Mapping[str, int], wanted: int, devices: Sequence[jax.Device]) -> str:
    sizes = " * ".join(f"{name} {size}" for name, size in axes.items()) or "no axis"
    return (
        f"the mesh has {wanted} device{'s' * (wanted != 1)} ({sizes}), this run has {len(devices)} ({_kinds(devices)})"
    )


def _kinds(devices: Sequence[jax.Device]) -> str:
    return ", ".join(sorted({device.device_kind for device in devices})) or "none"


def _cure(wanted: int, devices: Sequence[jax.Device]) -> str:
    if all(device.platform == "cpu" for device in devices):
        return f"on virtual devices of this machine: JAX_PLATFORMS=cpu JAX_NUM_CPU_DEVICES={wanted} python train.py"
    return "build the program again for this many devices, or show it others (CUDA_VISIBLE_DEVICES, TPU_VISIBLE_CHIPS)"
