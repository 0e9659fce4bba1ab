"""The device mesh that a program runs on: the coarsest factorisation that the mesh, its views and repeats all fit.

A user's axis is then a tuple of refined ones, outermost first. An axis that nothing cuts keeps its name; so a spec
without views and repeats runs on the mesh that it declares.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from meshc.semantics.program import Axis, Program, Rule, View

Axes = tuple[str, ...]
Piece = tuple[str, int]
"""A mesh axis and the number of its piece, outermost first."""


@dataclass(frozen=True)
class Refined:
    """`sizes` of the refined axes, larger than 1, in mesh order; `parts` of each declared axis, none of one of size 1.

    `repeated` are the axes on which a rule with `repeat` splits a dim that has less than it names: none for a dim of 1.
    """

    sizes: dict[str, int]
    parts: dict[str, Axes]
    repeated: dict[tuple[Rule, str], Axes] = field(default_factory=dict)

    def of(self, axes: Sequence[str]) -> Axes:
        """The refined axes of declared ones."""
        return tuple(part for axis in axes for part in self.parts.get(axis, (axis,)))

    @property
    def cut(self) -> dict[str, Axes]:
        """Declared axes that are not one of the device mesh: larger than 1, and of other names there."""
        return {axis: parts for axis, parts in self.parts.items() if parts not in ((), (axis,))}

    def of_rule(self, rule: Rule, dim: str) -> Axes:
        axes = self.repeated.get((rule, dim))
        return self.of(rule.axes) if axes is None else axes

    def outer(self, rule: Rule, dim: str, program: Program) -> Axes | None:
        """The outer axes of a rule that are as many devices as the dim has parts; None where there are no such."""
        size = program.dims[dim].size if dim in program.dims else 0
        axes = self.of(rule.axes)
        heads = (axes[:n] for n in range(len(axes)))
        return next((head for head in heads if math.prod(self.sizes[a] for a in head) == size), None)

    def declared(self, axes: Sequence[str], preferred: Sequence[str] = ()) -> Axes:
        """The axes under the names that the spec gives them, `preferred` ones first, then as few as will do.

        A part of an axis that has no name has the whole's.
        """
        names: list[str] = []
        left = tuple(axes)
        while left:
            whole = [a for a, parts in self.parts.items() if parts and left[: len(parts)] == parts]
            holder = next(a for a, parts in self.parts.items() if left[0] in parts)
            name = max(whole, key=lambda a: (a in preferred, len(self.parts[a])), default=holder)
            names.append(name)
            left = left[len(self.parts[name]) if whole else 1 :]
        return tuple(dict.fromkeys(names))


def refine(program: Program) -> Refined:
    """Cuts each mesh axis where a view or a repeat cuts it. (That views fit is checked when they are read.)"""
    mesh = {axis.name: axis.size for axis in program.axes}
    cuts = view_cuts(program.axes, program.views)
    repeats = list(_repeats(program))
    for rule, size in repeats:
        axes = [(a, mesh[a]) for a in rule.axes if a in mesh]
        _cut(cuts, axes, [math.prod(n for _, n in axes) // size])
    pieces = {name: [b // a for a, b in pairwise(sorted(points))][::-1] for name, points in cuts.items()}
    runs: dict[str, list[Piece]] = {}
    for view in program.views:
        runs |= _runs(view.axes, [((g, i), n) for g in view.group for i, n in enumerate(pieces[g])])
    names = _names(pieces, runs)
    sizes = {names[axis, i]: n for axis, found in pieces.items() for i, n in enumerate(found)}
    parts = {axis: tuple(names[axis, i] for i in range(len(found))) for axis, found in pieces.items()}
    parts |= {axis: tuple(names[piece] for piece in run) for axis, run in runs.items()}
    refined = Refined(sizes, parts)
    claims = {(rule, dim): refined.outer(rule, dim, program) for rule, _ in repeats for dim in rule.dims}
    return Refined(sizes, parts, {claim: axes for claim, axes in claims.items() if axes is not None})


def view_cuts(axes: Sequence[Axis], views: Sequence[View]) -> dict[str, set[int]]:
    """The strides at which each axis is cut by views, 1 and its size included."""
    sizes = {axis.name: axis.size for axis in axes}
    cuts = {name: {1, size} for name, size in sizes.items()}
    for view in views:
        _cut(cuts, [(name, sizes[name]) for name in view.group], _strides([a.size for a in view.axes]))
    return cuts


def _repeats(program: Program) -> Iterator[tuple[Rule, int]]:
    """Rules with `repeat`, and the size of a dim that they split over more devices than it has."""
    for rule in program.rules:
        shards = math.prod(program.axis(a).size for a in rule.axes)
        for name in rule.dims if rule.repeat else ():
            dim = program.dims.get(name)
            if dim is not None and shards > dim.size and shards % dim.size == 0:
                yield rule, dim.size


def _strides(sizes: Sequence[int]) -> list[int]:
    return [math.prod(sizes[i:]) for i in range(len(sizes))]


def _cut(cuts: Mapping[str, set[int]], axes: Sequence[tuple[str, int]], strides: Sequence[int]) -> None:
    """Cuts axes, taken together, where their devices are cut at these strides, as far as that cuts each evenly."""
    inner = 1
    for name, size in reversed(axes):
        for stride in strides:
            if inner < stride < inner * size and stride % inner == 0 and size % (stride // inner) == 0:
                cuts[name].add(stride // inner)
        inner *= size


def _runs(axes: Sequence[Axis], pieces: Sequence[tuple[Piece, int]]) -> dict[str, list[Piece]]:
    """For each axis of a view the pieces of mesh axes, in order, whose sizes multiply to it."""
    runs: dict[str, list[Piece]] = {}
    left = list(pieces)
    for axis in axes:
        run, size = runs.setdefault(axis.name, []), 1
        while size < axis.size:
            piece, n = left.pop(0)
            run.append(piece)
            size *= n
    return runs


def _names(pieces: Mapping[str, Sequence[int]], runs: Mapping[str, Sequence[Piece]]) -> dict[Piece, str]:
    """An uncut axis keeps its name, a piece that is an axis of a view has that one's, others have both or a number."""
    names: dict[Piece, str] = {(axis, 0): axis for axis, found in pieces.items() if len(found) == 1}
    names |= {run[0]: axis for axis, run in runs.items() if len(run) == 1 and run[0] not in names}
    taken = {*pieces, *runs}
    for axis, found in pieces.items():
        for i in range(len(found)):
            if (axis, i) not in names:
                holder = next((name for name, run in runs.items() if (axis, i) in run), None)
                wanted = f"{axis}_{holder}" if holder else f"{axis}_{i}"
                while wanted in taken:
                    wanted += "_"
                names[axis, i] = wanted
                taken.add(wanted)
    return names
