"""Addresses of coordinators, directories of checkpoints, and which processes a job starts."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from meshc.job import addresses, launching
from meshc.job.addresses import is_loopback, split_port, why_loopback
from meshc.job.catalogue import find_slice
from meshc.job.idle import KEYS
from meshc.job.launch_plan import launch_plan
from meshc.job.launching import NEEDED_BY_BACKEND, READ_BY_BACKEND, SET_BY_LAUNCHER
from meshc.job.model import Backend, Job, Launch
from meshc.job.shared_dirs import is_bucket, why_local
from meshc.runtime import env


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("node0", ("node0", None)),
        ("node0:1234", ("node0", 1234)),
        ("10.0.0.1:80", ("10.0.0.1", 80)),
        ("[::1]:80", ("::1", 80)),
        ("fe80::1", ("fe80::1", None)),
        (" a ", ("a", None)),
        ("", ("", None)),
        (":80", ("", 80)),
    ],
)
def test_addresses(text: str, parts: tuple[str, int | None]):
    assert split_port(text) == parts


@pytest.mark.parametrize("text", ["http://a", "a b", "a:0", "a:65536", "a:b", "a:1:2", "[a", "-a", "a/b", "[x y]:1"])
def test_no_addresses(text: str):
    assert split_port(text) is None


@pytest.mark.parametrize(
    "host",
    ["", " ", "localhost", "LOCALHOST.", "a.localhost", "127.0.0.1", "127.0.1.1", "127.1", "2130706433", "0x7f.1", "::1",
     "0.0.0.0", "::", "us@localhost", "us@localhost:22", "[::1]:22"],
)  # fmt: skip
def test_loopback(host: str):
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host", ["node0", "10.0.0.1", "128.0.0.1", "localhost.example", "fe80::1", "1.2.3.4.5", "local"]
)
def test_no_loopback(host: str):
    assert not is_loopback(host)


def test_a_name_that_the_hosts_file_leads_to_loopback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    hosts = tmp_path / "hosts"
    hosts.write_text("127.0.1.1 node0 Node0.example # node2\n10.0.0.2\tnode1 # and node2\nnonsense node3\n")
    monkeypatch.setattr(addresses, "HOSTS_FILE", hosts)
    assert why_loopback("node0.EXAMPLE") == f"{hosts} says 127.0.1.1"
    assert not any(is_loopback(name) for name in ("node1", "node2", "node3"))
    monkeypatch.setattr(addresses, "HOSTS_FILE", tmp_path / "none")
    assert not is_loopback("node0")


@pytest.mark.parametrize(
    "path", ["ckpt", "../ckpt", "~/ckpt", "/tmp", "/tmp/a", "//tmp/a", "/./tmp/a", "/home/us/a", "/dev/shm/a", "file:///tmp/a"]
)  # fmt: skip
def test_a_directory_of_one_host(path: str):
    assert why_local(path) is not None
    assert not is_bucket(path)


@pytest.mark.parametrize("path", ["/mnt/a", "/tmpfs/a", "/nfs/home/a", "/"])
def test_a_directory_of_which_one_cannot_tell(path: str):
    assert why_local(path) is None


@pytest.mark.parametrize("path", ["gs://a/b", "s3://a", "GS://a", "az://a/b"])
def test_a_bucket(path: str):
    assert is_bucket(path)


@pytest.mark.parametrize(
    ("slice", "launch", "ids", "devices"),
    [
        ("cpu-2x2", {"backend": "slurm"}, ((0, 1),), 4),
        ("cpu-2x2", {"backend": "slurm", "processes_per_host": 2}, ((0,), (1,)), 4),
        ("v4-32", {"backend": "tpu-vm", "name": "pod"}, ((0, 1, 2, 3),), 16),
        (
            "h100-16",
            {"backend": "ssh", "hosts": ("a", "b"), "processes_per_host": 4},
            ((0, 1), (2, 3), (4, 5), (6, 7)),
            16,
        ),
    ],
)
def test_each_device_of_a_host_has_its_process(
    slice: str, launch: dict, ids: tuple[tuple[int, ...], ...], devices: int
):
    plan = launch_plan(Job(spec="s", launch=Launch(**launch)), find_slice(slice)[0])
    assert plan is not None
    assert (plan.local_devices, plan.devices) == (ids, devices)


def test_tables_of_backends_speak_of_settings_there_are():
    backends = set(get_args(Backend))
    assert backends == set(READ_BY_BACKEND) == set(NEEDED_BY_BACKEND)
    assert frozenset().union(*READ_BY_BACKEND.values()) == KEYS
    assert all(name in READ_BY_BACKEND[backend] for backend in backends for name, _ in NEEDED_BY_BACKEND[backend])


def test_what_the_launcher_sets_is_what_a_program_reads():
    assert set(SET_BY_LAUNCHER) == {env.COORDINATOR, env.NUM_PROCESSES, env.PROCESS_ID, env.LOCAL_DEVICES}
    assert launching.VISIBLE[0] == "CUDA_VISIBLE_DEVICES"
