"""The job's launch settings against the slice and the mesh: what would hang, or leave devices out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from meshc.diagnostics import launch as say
from meshc.diagnostics.model import Diagnostic
from meshc.job.addresses import host_of, is_host, split_port, why_loopback
from meshc.job.job_file import JobFile
from meshc.job.launch_plan import LaunchPlan, hosts_named, launch_plan
from meshc.job.model import Backend
from meshc.job.slices import Slice
from meshc.source import Span

COMMON = frozenset(("nodes", "processes_per_host", "devices_per_process", "coordinator", "port", "python", "env"))
READ_BY_BACKEND: dict[Backend, frozenset[str]] = {
    "local": frozenset(),
    "ssh": COMMON | {"hosts"},
    "slurm": COMMON | {"hosts", "name", "partition", "account", "time"},
    "kubernetes": COMMON | {"name", "namespace", "image"},
    "tpu-vm": COMMON | {"name", "zone", "project"},
}
NEEDED_BY_BACKEND: dict[Backend, tuple[tuple[str, str], ...]] = {
    "local": (),
    "ssh": (("hosts", "hosts: [node0, node1]"),),
    "slurm": (),
    "kubernetes": (("image", "image: registry/image:tag"),),
    "tpu-vm": (("name", "name: NAME, of the TPU"),),
}
SET_BY_LAUNCHER = ("JAX_COORDINATOR_ADDRESS", "JAX_NUM_PROCESSES", "JAX_PROCESS_ID", "JAX_LOCAL_DEVICE_IDS")
HOST, ADDRESS = "a host, as in `node0` or `us@node0`", "a host or host:port, as in `node0:1234`"
VISIBLE = ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "TPU_VISIBLE_CHIPS")


def launch_holds(job: JobFile, devices: int | None) -> Iterator[Diagnostic]:
    """What is wrong with a job's start. `devices` are those of the mesh, None where that is not known."""
    if job.span("launch") is None:
        return
    contradictions = [*_malformed(job), *_contradictions(job)]
    yield from contradictions
    yield from _needed(job)
    plan = launch_plan(job.job, job.slice)
    if plan is None:
        return
    if not contradictions:
        yield from _coordinator(job, plan)
        yield from _hosts(job, plan)
    yield from _devices(job, plan, None if contradictions else devices)


def _at(job: JobFile, *names: str) -> Span:
    """The first of these settings that is written, else the backend, else the section."""
    spans = (job.span("launch", name) for name in (*names, "backend"))
    return next((span for span in spans if span), job.span("launch") or job.tree.span)


def _malformed(job: JobFile) -> Iterator[Diagnostic]:
    """E0504 for names that are none where they go: to ssh, a shell's environment, a cluster."""
    launch = job.job.launch
    for i, name in enumerate(launch.hosts):
        if not is_host(name):
            yield say.no_name(f"launch.hosts[{i}]", name, HOST, job.span("launch", "hosts", i) or _at(job, "hosts"))
    if launch.coordinator and split_port(launch.coordinator) is None:
        yield say.no_name("launch.coordinator", launch.coordinator, ADDRESS, _at(job, "coordinator"))
    for name in launch.env:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) and (span := job.span("launch", "env", name)):
            yield say.no_name("a name in `launch.env`", name, "letters, digits and `_`", span)
    if launch.backend == "kubernetes":
        for key in ("name", "namespace"):
            value = getattr(launch, key)
            if value is not None and not re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", value):
                yield say.no_name(f"launch.{key}", value, "lower-case letters, digits and `-`", _at(job, key))


def _contradictions(job: JobFile) -> Iterator[Diagnostic]:
    launch = job.job.launch
    if launch.nodes is not None and launch.hosts and launch.nodes != len(launch.hosts):
        yield say.hosts_counted_otherwise(launch.nodes, len(launch.hosts), _at(job, "nodes"), _at(job, "hosts"))
    virtual = job.slice is not None and job.slice.virtual
    for i, name in enumerate(launch.hosts):
        if name in launch.hosts[:i] and not virtual:
            span = job.span("launch", "hosts", i) or _at(job, "hosts")
            yield say.host_twice(name, span)
    if launch.coordinator:
        _, port = split_port(launch.coordinator) or ("", None)
        if launch.port and port not in (None, launch.port):
            yield say.two_ports(port or 0, launch.port, _at(job, "coordinator"), _at(job, "port"))
    for name in launch.env:
        if name in SET_BY_LAUNCHER and (span := job.span("launch", "env", name)):
            yield say.set_by_launcher(name, span)


def _needed(job: JobFile) -> Iterator[Diagnostic]:
    launch = job.job.launch
    for name, example in NEEDED_BY_BACKEND[launch.backend]:
        if not getattr(launch, name):
            yield say.backend_needs(launch.backend, name, example, _at(job))
    if launch.backend != "local" and launch_plan(job.job, job.slice) is None:
        yield say.machine_unknown(launch.backend, _at(job))


def _coordinator(job: JobFile, plan: LaunchPlan) -> Iterator[Diagnostic]:
    """E0520: with several machines each would look for the others at itself, or at one that does not listen."""
    launch = job.job.launch
    if plan.machines == 1:
        return
    names = [host_of(name) for name in launch.hosts]
    first = next((name for name in names[:1] if why_loopback(name) is None), None)
    if launch.coordinator is None:
        if names and (why := why_loopback(names[0])) is not None:
            yield say.loopback_host(names[0], plan.machines, why, job.span("launch", "hosts", 0) or _at(job, "hosts"))
        return
    parts = split_port(launch.coordinator)
    host = parts[0] if parts else ""
    if (why := why_loopback(host)) is not None:
        yield say.loopback(launch.coordinator, plan.machines, why, _at(job, "coordinator"), first)
    elif host in names[1:] and host != names[0]:
        yield say.not_the_first_host(host, first, _at(job, "coordinator"))


def _hosts(job: JobFile, plan: LaunchPlan) -> Iterator[Diagnostic]:
    """E0521: all hosts of a slice must take part, and no others."""
    slice, launch = job.slice, job.job.launch
    if slice is None:
        return
    if launch.backend == "local":
        span = job.span("launch", "backend")
        if slice.hosts > 1 and not slice.virtual and span and span.source is job.tree.span.source:
            yield say.one_machine(slice, span)
    elif hosts_named(launch) not in (None, slice.hosts):
        named = bool(launch.hosts)
        yield say.other_hosts(plan, slice, _at(job, *(("hosts",) if named else ("nodes",))), job.span("slice"), named)


def _devices(job: JobFile, plan: LaunchPlan, devices: int | None) -> Iterator[Diagnostic]:
    """E0522: the processes of a host share its devices evenly, and drive all of them."""
    if plan.backend == "local":
        return
    slice, launch = job.slice, job.job.launch
    each = plan.processes_per_host
    if slice is not None and slice.chips_per_host % each:
        yield say.uneven_processes(each, slice, _at(job, "processes_per_host"))
    elif slice is not None and launch.devices_per_process not in (None, slice.chips_per_host // each):
        yield say.devices_left_out(plan, slice, _at(job, "devices_per_process"))
    elif slice is not None:
        yield from _visible(job, plan, slice)
    elif devices is not None and (plan.devices not in (None, devices) or devices % plan.processes):
        yield say.other_devices(plan, devices, _at(job, "devices_per_process", "nodes", "hosts"))


def _visible(job: JobFile, plan: LaunchPlan, slice: Slice) -> Iterator[Diagnostic]:
    for name in VISIBLE:
        value = job.job.launch.env.get(name)
        span = job.span("launch", "env", name)
        if value is None or span is None:
            continue
        shown = len([item for item in value.split(",") if item.strip()])
        if shown < slice.chips_per_host and plan.processes_per_host == 1:
            yield say.devices_hidden(name, shown, slice, span)
