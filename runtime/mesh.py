"""The device mesh: exactly the devices that the spec asked for, never fewer, never some of them left idle."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence

import jax
import numpy as np
from jax.experimental import mesh_utils
from jax.sharding import AxisType, Mesh

from . import distributed
from .errors import UserError


def make_mesh(axes: Mapping[str, int], devices: Sequence[jax.Device] | None = None) -> Mesh:
    """A mesh of all devices, first axis outermost, every axis `Auto`; `{}` is one device and a mesh without axes.

    Joins the other processes first, where the environment names a coordinator. Raises `UserError` where the number of
    devices is not the product of the sizes, for a smaller mesh would leave devices idle without a word, and where jax
    has none of the platform that it was told to use.
    """
    wanted = math.prod(axes.values())
    if devices is None:
        distributed.join()
        devices = _devices(wanted)
    if len(devices) != wanted:
        raise UserError(_wrong_count(axes, wanted, devices), _cure(wanted, devices))
    laid = arranged(tuple(axes.values()), devices)
    return Mesh(laid, tuple(axes), axis_types=(AxisType.Auto,) * len(axes))


def arranged(shape: tuple[int, ...], devices: Sequence[jax.Device]) -> np.ndarray:
    """Devices in the shape of a mesh: row by row, those of a node in a row; on a TPU as its torus has it.

    Of several slices that only the data-centre network joins, the outermost axes go across them, as far as their sizes
    divide the number of slices; `jax.make_mesh` refuses several slices, and on some TPUs a mesh whose axes share a side
    of the torus. (The compiler says by the same rule which axis crosses which link.)
    """
    slices = {getattr(device, "slice_index", 0) for device in devices}
    if len(slices) == 1 or devices[0].platform != "tpu":
        # Elsewhere than on a TPU a slice is a node, and jax's order of devices has those of a node in a row.
        return mesh_utils.create_device_mesh(shape, devices, allow_split_physical_axes=True)
    across, left = [], len(slices)
    for size in shape:
        across.append(math.gcd(size, left))
        left //= across[-1]
    inside = [size // count for size, count in zip(shape, across, strict=True)]
    return mesh_utils.create_hybrid_device_mesh(inside, across, devices, allow_split_physical_axes=True)


def _devices(wanted: int) -> Sequence[jax.Device]:
    try:
        return jax.devices()
    except (RuntimeError, AssertionError) as error:  # it asserts where the plugin of a platform is not installed
        platform = jax.config.jax_platforms or "any platform"
        why = f": {str(error).splitlines()[0]}" if str(error) else ""
        cure = f"install jax for it, or use virtual devices: `meshc run` or `meshc build` with `--slice cpu-{wanted}`"
        raise UserError(f"jax finds no devices of {platform} on this machine{why}", cure) from None


def _wrong_count(axes: Mapping[str, int], wanted: int, devices: Sequence[jax.Device]) -> str:
    sizes = " * ".join(f"{name} {size}" for name, size in axes.items()) or "no axis"
    return (
        f"the mesh has {wanted} device{'s' * (wanted != 1)} ({sizes}), this run has {len(devices)} ({_kinds(devices)})"
    )


def _kinds(devices: Sequence[jax.Device]) -> str:
    return ", ".join(sorted({device.device_kind for device in devices})) or "none"


def _cure(wanted: int, devices: Sequence[jax.Device]) -> str:
    if all(device.platform == "cpu" for device in devices):
        variables = f"JAX_PLATFORMS=cpu JAX_NUM_CPU_DEVICES={wanted}"
        return f"on virtual devices of this machine: {variables} python {sys.argv[0]}"
    return "build the program again for this many devices, or show it others (CUDA_VISIBLE_DEVICES, TPU_VISIBLE_CHIPS)"
