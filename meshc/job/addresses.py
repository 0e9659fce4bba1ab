"""Names and addresses of hosts, judged without asking the network: which of them mean the machine that reads them."""

from __future__ import annotations

import ipaddress
import re
import socket
from pathlib import Path

HOSTS_FILE = Path("/etc/hosts")
_NAME = re.compile(r"(?!-)[A-Za-z0-9_.-]{1,253}")


def split_port(address: str) -> tuple[str, int | None] | None:
    """`host`, `host:1234`, `[::1]:1234` in parts; None for what is no address."""
    match = re.fullmatch(r"(?:\[(?P<six>[^\[\]]*)\]|(?P<four>[^:\[\]]*))(?::(?P<port>[0-9]{1,5}))?", address.strip())
    if match is None:
        bare = address.strip()
        return (bare, None) if _ip(bare) else None
    host = match["six"] if match["six"] is not None else match["four"]
    port = int(match["port"]) if match["port"] else None
    if port is not None and not 1 <= port <= 65535:
        return None
    known = not host or _ip(host) is not None or _NAME.fullmatch(host)
    return (host, port) if known else None


def host_of(name: str) -> str:
    """The host of what ssh takes: `user@host:port`."""
    parts = split_port(name.rpartition("@")[2])
    return parts[0] if parts else name


def is_host(name: str) -> bool:
    """Whether ssh takes it for a host, and for nothing else: an option, or more than one word, is none."""
    user, at, host = name.rpartition("@")
    parts = split_port(host)
    named = parts is not None and parts[0] != "" and host == host.strip()
    return named and (not at or _NAME.fullmatch(user) is not None)


def is_loopback(host: str) -> bool:
    """Whether a name or address leads every machine to itself, as far as this one can tell."""
    return why_loopback(host_of(host)) is not None


def why_loopback(host: str) -> str | None:
    """What makes it so: `` where the name itself says it, else what the hosts file has for it. None where it is not."""
    name = host.strip().rstrip(".").lower()
    if not name or name in ("localhost", "ip6-localhost", "localhost.localdomain") or name.endswith(".localhost"):
        return ""
    if (address := _ip(name)) is not None:
        return "" if address.is_loopback or address.is_unspecified else None
    return next((f"{file} says {address}" for file, address in _in_hosts_file(name) if _is_loop(address)), None)


def _is_loop(address: str) -> bool:
    ip = _ip(address)
    return ip is not None and ip.is_loopback


def _ip(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Also the short forms that resolvers take: `127.1`."""
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        pass
    if not re.fullmatch(r"(0x[0-9a-f]+|[0-9]+)(\.(0x[0-9a-f]+|[0-9]+)){0,3}", text, re.IGNORECASE):
        return None
    try:
        return ipaddress.IPv4Address(socket.inet_aton(text))
    except (OSError, ValueError):
        return None


def _in_hosts_file(name: str) -> list[tuple[str, str]]:
    try:
        lines = HOSTS_FILE.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    entries = (line.partition("#")[0].split() for line in lines)
    return [(str(HOSTS_FILE), entry[0]) for entry in entries if name in (alias.lower() for alias in entry[1:])]
