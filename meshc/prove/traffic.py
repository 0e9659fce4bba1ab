"""Traffic: the collectives that XLA compiled, against those that were derived.

Compared are bytes a device and step over each set of axes; equivalences.py lists what may differ without being wrong.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from meshc.prove.model import Measure
from meshc.prove.wire import WireCollective, collectives
from meshc.semantics.collectives import Collective

SHARE_OF_AXES = 0.05
SHARE_NOT_DERIVED = 0.01
SCALAR_BYTES = 8
"""What a device sends at most to add up one float32 of each."""
REMATERIALIZATION = "nvoluntary full rematerialization"
"""XLA's partitioner says so on stderr, with a capital or a small i, when it replicates a tensor to reshard it."""

HALVES_OF_ALL_REDUCE = ("reduce-scatter", "all-gather")

Kind = tuple[str, tuple[str, ...]]
"""What moves and over which axes."""


def compare(
    text: str,
    stated: Sequence[Collective],
    mesh: Mapping[str, int],
    stderr: str = "",
    saved: Mapping[tuple[str, ...], float] | None = None,
) -> tuple[list[Measure], list[str]]:
    """Measures and notes for a compiled step: its HLO text, the derived list, axis -> size, and what XLA said.

    saved: bytes that XLA may have saved, by axes
    """
    found = collectives(text, mesh)
    derived = [replace(c, axes=_in_mesh_order(c.axes, mesh)) for c in stated if not _of_scalars(c)]
    scalars = [c for c in found if c.scalar]
    measures = [
        *_by_axes([c for c in found if not c.scalar], derived, saved or {}),
        _not_derived([c for c in found if not c.scalar], derived),
        Measure("loops of unknown length with collectives", "step", sum(not c.counted for c in found), 0),
        Measure("involuntary full rematerializations", "stderr", stderr.count(REMATERIALIZATION), 0),
    ]
    return measures, _notes(found, scalars)


def _by_axes(
    found: Sequence[WireCollective], stated: Sequence[Collective], saved: Mapping[tuple[str, ...], float]
) -> list[Measure]:
    """For each set of axes that the derived list names, how far XLA's bytes are from it."""
    derived, compiled = _bytes_by_kind(stated), _bytes_by_kind(found)
    small = sum(derived.values()) * SHARE_NOT_DERIVED  # axes that carry next to nothing: their share of all is judged
    measures = []
    for axes in dict.fromkeys(c.axes for c in stated if c.axes and c.bytes_per_device):
        expected = sum(n for (_, over), n in derived.items() if over == axes)
        actual = sum(n for (_, over), n in compiled.items() if over == axes)
        away = max(actual - expected, expected - saved.get(axes, 0.0) - actual, 0)
        measures.append(Measure("bytes over", _name(axes), away / max(expected, small), SHARE_OF_AXES))
    return measures


def _of_scalars(stated: Collective) -> bool:
    """One number a run, which is compared with nothing: XLA merges such, and lists of them are told as notes."""
    return stated.bytes_per_device <= SCALAR_BYTES * stated.count


def _not_derived(found: Sequence[WireCollective], stated: Sequence[Collective]) -> Measure:
    """The share of all bytes that go beyond what the derived list has of their kind and axes."""
    derived, compiled = _bytes_by_kind(stated), _bytes_by_kind(found)
    beyond = {kind: _beyond(kind, derived, compiled) for kind in compiled}
    total = sum(compiled.values())
    largest = sorted((kind for kind, excess in beyond.items() if excess), key=lambda kind: -beyond[kind])[:3]
    names = ", ".join(f"{op} over {_name(axes)}" for op, axes in largest)
    return Measure("not derived", names or "nothing", sum(beyond.values()) / total if total else 0.0, SHARE_NOT_DERIVED)


def _beyond(kind: Kind, derived: Mapping[Kind, float], compiled: Mapping[Kind, float]) -> float:
    """Bytes of one kind that were not derived: beyond the allowed share, and not half of an all-reduce that was."""
    op, axes = kind
    num_bytes, expected, whole = compiled[kind], derived.get(kind, 0.0), ("all-reduce", axes)
    if num_bytes <= expected * (1 + SHARE_OF_AXES):
        return 0.0
    spare = derived.get(whole, 0.0) - compiled.get(whole, 0.0) if op in HALVES_OF_ALL_REDUCE else 0.0
    return max(num_bytes - expected - max(spare, 0.0), 0.0)


def _bytes_by_kind(collectives: Iterable[Collective] | Iterable[WireCollective]) -> dict[Kind, float]:
    total: defaultdict[Kind, float] = defaultdict(float)
    for c in collectives:
        total[c.op, c.axes] += c.bytes_per_device if isinstance(c, Collective) else c.bytes_per_step
    return dict(total)


def _notes(found: Iterable[WireCollective], scalars: Sequence[WireCollective]) -> list[str]:
    total = sorted(_bytes_by_kind(found).items(), key=lambda one: -one[1])
    notes = [f"{op} over {_name(axes)}: {num_bytes:,.0f} bytes" for (op, axes), num_bytes in total]
    listed = Counter((c.op, c.axes) for c in scalars)
    return notes + [
        f"{count} scalar{'s' * (count != 1)} by {op} over {_name(axes)}" for (op, axes), count in sorted(listed.items())
    ]


def _in_mesh_order(axes: Sequence[str], mesh: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(a for a in mesh if a in axes)


def _name(axes: Sequence[str]) -> str:
    *most, last = axes or ("",)
    return f"{', '.join(most)} and {last}" if most else last
