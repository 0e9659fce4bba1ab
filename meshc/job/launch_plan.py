"""Which processes a job starts, and which devices each of them drives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from meshc.diagnostics.arrange import plural
from meshc.job.addresses import is_loopback
from meshc.job.model import Job, Launch
from meshc.job.slices import Slice

MOST_SHOWN = 4


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """`machines` are the hosts that are machines of their own: one where all processes run on this one.

    `devices_per_process` is None where no slice says how many devices a host has.
    """

    backend: str
    hosts: int
    machines: int
    processes_per_host: int
    devices_per_process: int | None

    @property
    def processes(self) -> int:
        return self.hosts * self.processes_per_host

    @property
    def devices(self) -> int | None:
        """That all processes together drive."""
        return None if self.devices_per_process is None else self.processes * self.devices_per_process

    @property
    def local_devices(self) -> tuple[tuple[int, ...], ...]:
        """The devices of its host that each process of a host drives: its local device ids."""
        each = self.devices_per_process or 0
        return tuple(tuple(range(i * each, (i + 1) * each)) for i in range(self.processes_per_host))

    @property
    def words(self) -> str:
        """`slurm, 2 hosts x 1 process, which drives devices 0 and 1 of its host`."""
        started = f"{self.backend}, {plural(self.hosts, 'host')} x {plural(self.processes_per_host, 'process')}"
        if self.devices_per_process is None:
            return started
        ids = [_ids(local) for local in self.local_devices]
        if len(ids) == 1:
            return f"{started}, which drives {ids[0]} of its host"
        shown = ids if len(ids) <= MOST_SHOWN else [*ids[:2], "…", ids[-1]]
        return f"{started}, which drive {'; '.join(shown)} of their host"

    def as_json(self) -> dict[str, Any]:
        return {
            "backend": self.backend,
            "hosts": self.hosts,
            "processes_per_host": self.processes_per_host,
            "processes": self.processes,
            "local_device_ids": [list(local) for local in self.local_devices],
        }


def hosts_named(launch: Launch) -> int | None:
    """How many hosts the job itself names or counts."""
    return launch.nodes if launch.nodes is not None else len(launch.hosts) or None


def launch_plan(job: Job, slice: Slice | None) -> LaunchPlan | None:
    """What a job says of its start; None where it says too little to count hosts."""
    launch = job.launch
    hosts = hosts_named(launch) or (slice.hosts if slice else None)
    if launch.backend == "local":
        hosts = slice.hosts if slice and slice.virtual else 1
    if hosts is None:
        return None
    return LaunchPlan(
        launch.backend, hosts, _machines(launch, hosts), launch.processes_per_host, _devices(launch, slice)
    )


def _machines(launch: Launch, hosts: int) -> int:
    here = launch.backend == "local" or (launch.hosts and all(is_loopback(name) for name in launch.hosts))
    return 1 if here or len(set(launch.hosts)) == 1 else hosts


def _devices(launch: Launch, slice: Slice | None) -> int | None:
    if launch.devices_per_process is not None or slice is None:
        return launch.devices_per_process
    return slice.chips_per_host // launch.processes_per_host


def _ids(ids: tuple[int, ...]) -> str:
    if len(ids) <= 2:
        return f"device{'s' if len(ids) > 1 else ''} {' and '.join(map(str, ids))}"
    return f"devices {ids[0]} to {ids[-1]}"
