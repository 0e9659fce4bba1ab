"""What is said about how a job is started, and where its hosts meet."""

from __future__ import annotations

from typing import Protocol

from meshc.diagnostics.arrange import plural
from meshc.diagnostics.model import Diagnostic, Label
from meshc.diagnostics.suggest import listed
from meshc.source import Span


class Machine(Protocol):
    """A slice, as far as its hosts go."""

    @property
    def name(self) -> str: ...
    @property
    def chips(self) -> int: ...
    @property
    def chips_per_host(self) -> int: ...
    @property
    def hosts(self) -> int: ...
    @property
    def virtual(self) -> bool: ...


class Plan(Protocol):
    """Which processes start. `devices` are all that they drive, None where nothing says how many."""

    @property
    def hosts(self) -> int: ...
    @property
    def processes(self) -> int: ...
    @property
    def processes_per_host(self) -> int: ...
    @property
    def devices_per_process(self) -> int | None: ...
    @property
    def devices(self) -> int | None: ...


def _at(code: str, span: Span, message: str, *helps: str, label: str = "") -> Diagnostic:
    return Diagnostic(code, message, (Label(span, label),), helps)


# ---------------------------------------------------------------- where processes meet


def loopback(address: str, machines: int, why: str, span: Span, example: str | None) -> Diagnostic:
    """`why` is what the hosts file says, empty where the name itself says it."""
    shown = f"the coordinator `{address}`" if address.strip() else "an empty coordinator"
    message = f"{shown} leads each of {machines} hosts to itself"
    better = f"name the first host as the others reach it: coordinator: {example or 'node0:1234'}"
    return _at("E0520", span, message, better, "or leave it out: the backend knows the first host", label=why)


def loopback_host(name: str, machines: int, why: str, span: Span) -> Diagnostic:
    message = f"the first of {machines} hosts is `{name}`, where the others find themselves"
    return _at("E0520", span, message, "name it as the others reach it, or give a `coordinator`", label=why)


def not_the_first_host(host: str, first: str | None, span: Span) -> Diagnostic:
    """`first` is the first host's name, None where it is of no use to the others."""
    message = f"the coordinator `{host}` is not the first host, and the first process listens"
    helps = (f"put `{host}` first in `hosts`", *([f"or coordinator: {first}"] if first else []))
    return _at("E0520", span, message, *helps)


# ---------------------------------------------------------------- hosts and devices


HERE = "`--set launch.backend=local` runs it on this machine"
ELSEWHERE = "backend: ssh, slurm, kubernetes or tpu-vm starts one on each host"


def one_machine(slice: Machine, span: Span) -> Diagnostic:
    return _at("E0521", span, f"`local` starts one process on this machine, {_needs(slice)}", ELSEWHERE)


def other_hosts(plan: Plan, slice: Machine, span: Span, of_slice: Span | None, named: bool) -> Diagnostic:
    """`named`: the job names its hosts, and does not only count them."""
    message = f"{plural(plan.processes, 'process')} would start on {plural(plan.hosts, 'host')}, {_needs(slice)}"
    labels = (Label(span, plural(plan.hosts, "host")),)
    if of_slice is not None:
        labels += (Label(of_slice, f"{plural(slice.hosts, 'host')} of {slice.chips_per_host}"),)
    whole = f"name {'its host' if slice.hosts == 1 else f'all {slice.hosts} hosts'} in `hosts`"
    helps = (whole if named else f"nodes: {slice.hosts}, or leave it out",)
    return Diagnostic("E0521", message, labels, (*helps, HERE) if slice.virtual else helps)


def _needs(slice: Machine) -> str:
    if slice.hosts == 1:
        return f"`{slice.name}` is one host"
    hosts = plural(slice.hosts, "host")
    return f"`{slice.name}` is {slice.chips} {_unit(slice)} in {hosts}, {slice.chips_per_host} each"


def _unit(slice: Machine) -> str:
    return "devices" if slice.virtual else "chips"


def uneven_processes(each: int, slice: Machine, span: Span) -> Diagnostic:
    host = slice.chips_per_host
    shared = f"the {host} {_unit(slice)} of a host"
    message = f"{each} processes cannot share {shared} evenly: {host} % {each} = {host % each}"
    fits = [n for n in range(1, host + 1) if host % n == 0]
    return _at("E0522", span, message, f"`processes_per_host` may be {listed(fits)}")


def devices_left_out(plan: Plan, slice: Machine, span: Span) -> Diagnostic:
    host, driven = slice.chips_per_host, plan.processes_per_host * (plan.devices_per_process or 0)
    if driven < host:
        some = f"{plan.devices} of {slice.chips} {_unit(slice)}"
        message = f"the processes drive {some}: {driven} of the {host} on each host"
    else:
        message = f"the processes want {driven} {_unit(slice)} on each host, which has {host}"
    right = host // plan.processes_per_host
    return _at("E0522", span, message, f"devices_per_process: {right}, or leave it out")


def devices_hidden(name: str, shown: int, slice: Machine, span: Span) -> Diagnostic:
    some = f"{shown} of the {slice.chips_per_host} {_unit(slice)} of a host"
    message = f"`{name}` shows {some}, which its process is to drive"
    return _at("E0522", span, message, "leave it out, or name a slice of as many")


def other_devices(plan: Plan, devices: int, span: Span) -> Diagnostic:
    started = f"{plural(plan.processes, 'process')} on {plural(plan.hosts, 'host')}"
    if plan.devices is not None:
        message = f"{started} drive {plan.devices} devices, the mesh has {devices}"
    else:
        message = f"the mesh's {plural(devices, 'device')} cannot be shared by {started} evenly"
    return _at("E0522", span, message, "name the `slice`, and the mesh is held against it")


# ---------------------------------------------------------------- settings that contradict each other


def hosts_counted_otherwise(nodes: int, named: int, span: Span, hosts: Span) -> Diagnostic:
    labels = (Label(span, f"{nodes} here"), Label(hosts, f"{named} here"))
    message = f"`nodes` is {nodes}, and `hosts` names {named}"
    return Diagnostic("E0523", message, labels, ("leave out `nodes`: the names are counted",))


def host_twice(name: str, span: Span) -> Diagnostic:
    helps = ("name each host once; `processes_per_host` starts several processes on each",)
    return _at("E0523", span, f"`{name}` is named twice: two processes would want the same chips", *helps)


def two_ports(one: int, other: int, span: Span, port: Span) -> Diagnostic:
    labels = (Label(span, f"{one} here"), Label(port, f"{other} here"))
    return Diagnostic("E0523", f"the coordinator's port is {one} and {other}", labels, ("keep one of them",))


def no_name(path: str, text: str, wanted: str, span: Span) -> Diagnostic:
    shown = path if "`" in path else f"`{path}`"
    return _at("E0504", span, f"{shown} must be {wanted}, not `{text}`")


def set_by_launcher(name: str, span: Span) -> Diagnostic:
    message = f"`{name}` is set for each process, by what starts it"
    return _at("E0523", span, message, "leave it out; `launch` has the settings that it follows from")


def backend_needs(backend: str, name: str, example: str, span: Span) -> Diagnostic:
    return _at("E0507", span, f"the backend `{backend}` needs `launch.{name}`", f"as in: {example}")


def machine_unknown(backend: str, span: Span) -> Diagnostic:
    message = f"on how many hosts `{backend}` starts processes, nothing says"
    return _at("E0507", span, message, "name the `slice`; or, without one, `launch.nodes`")


# ---------------------------------------------------------------- directories


def own_directory(path: str, machines: int, why: str, span: Span, default: bool = False) -> Diagnostic:
    """`why` is what makes the path a host's own, empty where the job says so."""
    shown = f"checkpoints go to `{path}`" if default else f"the checkpoints' directory `{path}`"
    joint = ", which" if default else ""
    message = f"{shown}{joint} is another one on each of {machines} hosts, which write one checkpoint together"
    helps = (
        "name a directory that all hosts see, on a file system that they share: dir: /mnt/run",
        "where all see this one, say so: checkpoint: {shared: true}",
    )
    return _at("E0524", span, message, *helps, label=why)
