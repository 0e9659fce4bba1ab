"""The environment variables between a launcher and a program: the one list of them. Imports no jax.

A launcher sets them for each process (`Environment.variables`), the program reads them (`read`). They are jax's own
names, so a program that a scheduler starts with them, without meshc, joins in the same way.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from .errors import UserError

COORDINATOR = "JAX_COORDINATOR_ADDRESS"  # host:port of process 0
NUM_PROCESSES = "JAX_NUM_PROCESSES"
PROCESS_ID = "JAX_PROCESS_ID"
LOCAL_DEVICES = "JAX_LOCAL_DEVICE_IDS"  # which of the machine's devices are this process's: 0,1,2
PLATFORMS = "JAX_PLATFORMS"  # cpu, cuda, tpu
CPU_DEVICES = "JAX_NUM_CPU_DEVICES"  # virtual devices of each process, on the cpu platform

XLA_FLAGS = "XLA_FLAGS"
PATIENT = (
    "--xla_cpu_collective_call_warn_stuck_timeout_seconds=120 --xla_cpu_collective_call_terminate_timeout_seconds=240"
)
"""Many virtual devices on few cores may take longer to meet than the 40 s after which XLA ends the process."""

THREADS = "NPROC"  # how many threads XLA takes its machine to have


def threads(cpu_devices: int) -> str:
    """Threads for that many virtual devices.

    A collective holds a thread until all devices have come to it. With XLA's default, one a device, two collectives
    that do not depend on each other can hold all of them, each waiting for devices that have no thread left.
    """
    return str(max(4 * cpu_devices, os.cpu_count() or 1))


@dataclass(frozen=True)
class Environment:
    """How one process stands among the others. Without a coordinator it is alone."""

    coordinator: str = ""
    processes: int = 1
    process: int = 0
    local_devices: tuple[int, ...] = ()  # empty: all that the process sees
    platform: str = ""  # empty: jax chooses
    cpu_devices: int = 0  # 0: jax's default, one

    @property
    def alone(self) -> bool:
        return not self.coordinator

    def variables(self) -> dict[str, str]:
        """What a launcher puts into the environment of this process."""
        values = {PLATFORMS: self.platform, CPU_DEVICES: str(self.cpu_devices or "")}
        if not self.alone:
            values |= {COORDINATOR: self.coordinator, NUM_PROCESSES: str(self.processes), PROCESS_ID: str(self.process)}
            values |= {LOCAL_DEVICES: ",".join(map(str, self.local_devices))}
        return {name: value for name, value in values.items() if value}


def read(environ: Mapping[str, str]) -> Environment:
    """The place that the variables give this process; raises `UserError` for a wrong or missing one."""
    platform, cpu_devices = environ.get(PLATFORMS, ""), _number(environ, CPU_DEVICES, 0)
    if not environ.get(COORDINATOR):
        return Environment(platform=platform, cpu_devices=cpu_devices)
    processes, process = _number(environ, NUM_PROCESSES, None), _number(environ, PROCESS_ID, None)
    if process >= processes:
        raise UserError(f"`{PROCESS_ID}` is {process}, and there are {processes} processes (`{NUM_PROCESSES}`)")
    local = tuple(_integer(LOCAL_DEVICES, item) for item in environ.get(LOCAL_DEVICES, "").split(",") if item)
    return Environment(environ[COORDINATOR], processes, process, local, platform, cpu_devices)


def _number(environ: Mapping[str, str], name: str, default: int | None) -> int:
    text = environ.get(name, "")
    if text:
        return _integer(name, text)
    if default is None:
        raise UserError(f"`{COORDINATOR}` is set and `{name}` is not", f"set `{name}`, or unset `{COORDINATOR}`")
    return default


def _integer(name: str, text: str) -> int:
    if not text.strip().isdecimal():
        raise UserError(f"`{name}` is {text!r}, not a number")
    return int(text)
