"""The mesh and its views, cut so finely that each axis is some whole cuts: the atoms that rules put dims on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from meshc.prove.sound.oracle.reading import Spec, Wrong
from meshc.prove.sound.oracle.sizes import NoSize, Unknown, checked, number
from meshc.syntax import ast

Atom = tuple[int, int]
"""Which axis of the mesh, and which cut of it: sorts from the outermost to the innermost."""


@dataclass
class Devices:
    """axes: of the mesh and of views -> their atoms; size: of each atom; regrouped: atoms that the view takes together;
    of_view: axes that only the view has
    """

    axes: dict[str, tuple[Atom, ...]] = field(default_factory=dict)
    size: dict[Atom, int] = field(default_factory=dict)
    regrouped: set[Atom] = field(default_factory=set)
    of_view: set[str] = field(default_factory=set)

    def count(self, atoms: tuple[Atom, ...]) -> int:
        return math.prod(self.size[atom] for atom in atoms)


def devices_of(
    spec: Spec, dims: Mapping[str, int], there: int | None, overrides: Mapping[str, int], wrong: Wrong
) -> Devices:
    sizes = _mesh(spec.mesh, dims, there, overrides, wrong)
    found = Devices()
    cuts: dict[str, list[int]] = {name: [size] for name, size in sizes.items()}
    views: list[tuple[list[str], dict[str, int]]] = []
    for view in spec.views:
        group = [name.text for name in view.regroup or ()]
        unknown = [name for name in group if name not in sizes]
        for name in unknown:
            wrong.say("name", f"no axis `{name}` to regroup")
        if not unknown:
            views.append((group, _view(view, group, sizes, dims, cuts, wrong)))
    for at, name in enumerate(sizes):
        found.axes[name] = tuple((at, i) for i in range(len(cuts[name])))
        found.size.update({(at, i): size for i, size in enumerate(cuts[name])})
    for group, axes in views:
        _put(found, group, axes, wrong)
    return found


def _mesh(
    mesh: ast.Mesh | None, dims: Mapping[str, int], there: int | None, overrides: Mapping[str, int], wrong: Wrong
) -> dict[str, int]:
    entries = mesh.axes if mesh else ()
    if len({axis.name.text for axis in entries}) < len(entries):
        wrong.say("call", "an axis twice in the mesh")
    stars = [axis.name.text for axis in entries if axis.size is None and axis.name.text not in overrides]
    sizes = {axis.name.text: _axis(axis, dims, overrides, wrong) for axis in entries}
    if len(stars) > 1:
        wrong.say("world", "two `*`")
    elif stars and there is None:
        wrong.say("world", "`*` without a slice")
    elif stars and there is not None:
        rest = math.prod(size for name, size in sizes.items() if name != stars[0])
        if there % rest:
            wrong.say("world", f"`*` of {there} devices beside {rest}")
        sizes[stars[0]] = max(1, there // rest)
    elif there is not None and math.prod(sizes.values()) != there:
        wrong.say("world", f"{math.prod(sizes.values())} devices on {there}")
    return sizes


def _axis(axis: ast.Axis, dims: Mapping[str, int], overrides: Mapping[str, int], wrong: Wrong) -> int:
    name = axis.name.text
    if name in overrides:
        return checked(name, overrides[name], wrong)
    if axis.size is None:
        return 1
    try:
        return checked(name, number(axis.size, lambda dim: _look(dim, dims)), wrong)
    except NoSize:
        wrong.say("size", f"axis `{name}`")
    except Unknown:
        wrong.say("name", f"the size of axis `{name}`")
    return 1


def _look(dim: str, dims: Mapping[str, int]) -> int:
    if dim not in dims:
        raise Unknown(dim)
    return dims[dim]


def _view(
    view: ast.Mesh,
    group: list[str],
    sizes: dict[str, int],
    dims: Mapping[str, int],
    cuts: dict[str, list[int]],
    wrong: Wrong,
) -> dict[str, int]:
    """The view's axes; `cuts` of the mesh's axes become those of the common refinement."""
    of_mesh = [sizes[name] for name in group]
    axes = {axis.name.text: _axis(axis, dims, {}, wrong) for axis in view.axes}
    stars = [axis.name.text for axis in view.axes if axis.size is None]
    if len(stars) == 1:
        axes[stars[0]] = max(1, math.prod(of_mesh) // math.prod(axes.values()))
    if len(stars) > 1 or math.prod(axes.values()) != math.prod(of_mesh):
        wrong.say("view", f"{axes} for {of_mesh}")
        return {}
    marks = sorted({1, *_marks(of_mesh), *_marks(list(axes.values()))})
    if any(larger % smaller for smaller, larger in pairwise(marks)):
        wrong.say("view", f"{axes} and {of_mesh} have no common refinement")
        return {}
    outer = 1
    for name, size in zip(group, of_mesh, strict=True):
        inner = [mark for mark in marks if outer <= mark <= outer * size]
        cuts[name] = [larger // smaller for smaller, larger in pairwise(inner)] or [1]
        outer *= size
    return axes


def _marks(sizes: list[int]) -> list[int]:
    return [math.prod(sizes[:i]) for i in range(1, len(sizes) + 1)]


def _put(found: Devices, group: list[str], axes: dict[str, int], wrong: Wrong) -> None:
    """Deals the atoms of the axes taken together out to the view's, in order."""
    atoms = [atom for name in group for atom in found.axes[name]]
    found.regrouped |= set(atoms)
    waiting = [atom for atom in atoms if found.size[atom] > 1]
    for name, size in axes.items():
        if name in found.axes:
            wrong.say("call", f"axis `{name}` twice")
        taken: list[Atom] = []
        while found.count(tuple(taken)) < size and waiting:
            taken.append(waiting.pop(0))
        found.axes[name] = tuple(taken)
        found.of_view.add(name)
