"""Replica groups of HLO collectives, in each form that XLA prints, and the mesh axes that they run along.

    {{0,1},{2,3}}                                      the groups themselves; {} is one group of all
    [4,2]<=[8]   [2,4]<=[2,2,2]T(1,0,2)                 iota: 0..n reshaped, transposed, reshaped to [groups, size]
    mesh['a'=2,'b'=4], device_ids=([2,2,2]T(1,0,2)) {'b'}   axes of XLA's own mesh; `'b':(2)2` is a factor of an axis

Devices are numbered by their place in the mesh, row-major, as `jit` numbers the devices of a `jax.sharding.Mesh`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

Groups = tuple[tuple[int, ...], ...]


def replica_groups(attributes: str, num_devices: int) -> Groups:
    """The groups of a collective's attributes. Raises ValueError for a form that is not known."""
    found = re.search(r"replica_groups=", attributes)
    if not found:
        return (tuple(range(num_devices)),)
    text = attributes[found.end() :]
    if text.startswith("{"):
        listed = re.match(r"\{((?:\{[\d,\s]*\},?\s*)*)\}", text)
        if listed:
            groups = tuple(tuple(map(int, g.split(","))) for g in re.findall(r"\{([\d,\s]+)\}", listed[1]))
            return groups or (tuple(range(num_devices)),)
    if text.startswith("["):
        iota = re.match(r"\[([\d,]+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?", text)
        if iota:
            order = _iota(_ints(iota[2]), _ints(iota[3]) if iota[3] else None)
            size = _ints(iota[1])[-1]
            return tuple(tuple(order[i : i + size]) for i in range(0, len(order), size))
    if text.startswith("mesh["):
        return _mesh_groups(text)
    raise ValueError(f"replica groups in an unknown form: {text[:80]}")


MESH_GROUPS = re.compile(
    r"mesh\[([^\]]*)\](?:,?\s*device_ids=\((?:(\[[\d,]+\])(?:T\(([\d,]+)\))?|([\d,\s]+))\))?\s*\{([^}]*)\}"
)


def _mesh_groups(text: str) -> Groups:
    found = MESH_GROUPS.match(text)
    if not found:
        raise ValueError(f"replica groups in an unknown form: {text[:80]}")
    sizes = {name: int(size) for name, size in re.findall(r"'?([^',=]+)'?=(\d+)", found[1])}
    if found[2]:
        order = _iota(_ints(found[2].strip("[]")), _ints(found[3]) if found[3] else None)
    else:
        order = _ints(found[4]) if found[4] else list(range(math.prod(sizes.values())))
    factors, inside = _factors(sizes, found[5])
    coordinates = [_unravel(i, factors) for i in range(len(order))]
    groups: dict[tuple[int, ...], list[tuple[tuple[int, ...], int]]] = {}
    for at, device in zip(coordinates, order, strict=True):
        outside = tuple(c for i, c in enumerate(at) if i not in inside)
        groups.setdefault(outside, []).append((tuple(at[i] for i in inside), device))
    return tuple(tuple(device for _, device in sorted(group)) for group in groups.values())


def _factors(sizes: Mapping[str, int], listed: str) -> tuple[list[int], list[int]]:
    """Factors of all axes, those that are named in part cut into pieces; and the numbers of the named ones."""
    named = [
        (a, int(pre or 1), int(size or 0)) for a, pre, size in re.findall(r"'([^']+)'(?::\((\d+)\)(\d+))?", listed)
    ]
    factors, numbers = [], {}
    for axis, size in sizes.items():
        done = 1
        for _, before, part in sorted((n for n in named if n[0] == axis), key=lambda n: n[1]):
            part = part or size
            if before > done:
                factors.append(before // done)
            numbers[axis, before] = len(factors)
            factors.append(part)
            done = before * part
        if done < size:
            factors.append(size // done)
    return factors, [numbers[axis, before] for axis, before, _ in named]


def source_target_pairs(attributes: str) -> Groups:
    """The (source, target) pairs of a collective-permute."""
    found = re.search(r"source_target_pairs=\{((?:\{\d+,\d+\},?\s*)*)\}", attributes)
    if not found:
        raise ValueError(f"no source-target pairs: {attributes[:80]}")
    return tuple((int(a), int(b)) for a, b in re.findall(r"\{(\d+),(\d+)\}", found[1]))


def axes_of(groups: Sequence[Sequence[int]], mesh: Mapping[str, int]) -> tuple[str, ...]:
    """The mesh axes along which members of a group differ, in mesh order."""
    sizes = list(mesh.values())
    varying = set()
    for group in groups:
        places = [_unravel(device, sizes) for device in group]
        varying |= {i for i in range(len(sizes)) if len({p[i] for p in places}) > 1}
    return tuple(axis for i, axis in enumerate(mesh) if i in varying)


def spans_axes(groups: Sequence[Sequence[int]], mesh: Mapping[str, int]) -> bool:
    """Whether the groups are exactly those of whole mesh axes, every device in one of them."""
    size = math.prod(mesh[a] for a in axes_of(groups, mesh))
    members = sorted(device for group in groups for device in group)
    return all(len(g) == size for g in groups) and members == list(range(math.prod(mesh.values())))


def _iota(shape: Sequence[int], transpose: Sequence[int] | None) -> list[int]:
    """0..n as an array of `shape`, its dims permuted, flattened."""
    if transpose is None:
        return list(range(math.prod(shape)))
    strides = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    turned = [shape[i] for i in transpose]
    return [
        sum(c * strides[i] for c, i in zip(_unravel(n, turned), transpose, strict=True))
        for n in range(math.prod(shape))
    ]


def _unravel(index: int, shape: Sequence[int]) -> tuple[int, ...]:
    place = []
    for size in reversed(shape):
        index, at = divmod(index, size)
        place.append(at)
    return tuple(reversed(place))


def _ints(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]
