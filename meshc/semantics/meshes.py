"""The device mesh and its second views: sizes, the one `*`, and whether two factorisations fit each other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice, pairwise

from meshc.diagnostics import spec_names, spec_sizes
from meshc.diagnostics.model import Cure, Edit
from meshc.diagnostics.suggest import divisors
from meshc.semantics.alternatives import MOST_PAIRED, axis_may_be, to_multiply, traded
from meshc.semantics.overrides import Overrides, overridden
from meshc.semantics.program import Axis, View
from meshc.semantics.refine import view_cuts
from meshc.semantics.report import Report
from meshc.semantics.sizes import Entry, SizeTable
from meshc.syntax import ast

STAND_IN = 2  # for an axis of unknown size; any size above 1 shows what does not depend on it


@dataclass(frozen=True)
class Devices:
    """The mesh of a spec; `sound` when every size is known."""

    axes: tuple[Axis, ...] = ()
    views: tuple[View, ...] = ()
    mesh: ast.Mesh | None = None
    sound: bool = True

    @property
    def names(self) -> list[str]:
        return [axis.name for view in (self, *self.views) for axis in view.axes]


def read_meshes(items: Sequence[ast.Mesh], overrides: Overrides, devices: int | None, report: Report) -> Devices:
    """The mesh and views of a spec, on `devices` devices (None: on as many as the mesh says)."""
    mains = [item for item in items if item.name is None]
    for second in mains[1:]:
        report(spec_names.two_blocks("mesh", second.span, mains[0].span))
    _distinct((axis.name for item in (*mains[:1], *(i for i in items if i.name)) for axis in item.axes), report)
    items = [_once(item) for item in items]
    mains = [item for item in items if item.name is None]
    if not mains:
        views = [item for item in items if item.name]
        for view in views:
            for name in view.regroup or ():
                report(spec_names.unknown_axis(name.text, name.span, [], None))
        return Devices(sound=not views)
    views_follow = any(item.name for item in items)
    axes = _axes(mains[0], overrides, devices, report, None if views_follow else STAND_IN)
    if axes is None:
        return Devices(_names_of(mains[0]), tuple(_unsized(i) for i in items if i.name), mains[0], sound=False)
    found = [_view(item, axes, mains[0], overrides, report) for item in items if item.name]
    views = tuple(view for view in found if view)
    if len(views) == len(found) and _fit_each_other(axes, views, report):
        return Devices(axes, views, mains[0])
    return Devices(axes, tuple(_unsized(item) for item in items if item.name), mains[0], sound=False)


def _names_of(mesh: ast.Mesh) -> tuple[Axis, ...]:
    """The axes of a mesh whose sizes are wrong, so that its names are known."""
    return tuple(Axis(a.name.text, 1, a.name.span) for a in mesh.axes)


def _unsized(item: ast.Mesh) -> View:
    assert item.name is not None
    return View(item.name.text, (), _names_of(item), item.span)


def _fit_each_other(axes: Sequence[Axis], views: Sequence[View], report: Report) -> bool:
    """Whether views that each fit the mesh also cut its axes where they fit one another."""
    for i, view in enumerate(views):
        for axis, cuts in view_cuts(axes, views[: i + 1]).items():
            if any(b % a for a, b in pairwise(sorted(cuts))):
                other = next(o for o in views if axis in o.group)
                cures = tuple(_trades(view.axes))
                parts = sorted(cuts)[1:-1]
                report(spec_sizes.views_apart(view.name, other.name, axis, parts, view.span, other.span, cures))
                return False
    return True


def _distinct(names: Iterable[ast.Name], report: Report) -> None:
    first: dict[str, ast.Name] = {}
    for name in names:
        if name.text in first:
            report(spec_names.defined_twice(name.text, name.span, first[name.text].span))
        first.setdefault(name.text, name)


def _once(mesh: ast.Mesh) -> ast.Mesh:
    """Without the axes that have the name of one before, which is reported: what follows counts each name once."""
    first = {axis.name.text: axis for axis in reversed(mesh.axes)}
    return replace(mesh, axes=tuple(axis for axis in mesh.axes if first[axis.name.text] is axis))


def _axes(
    mesh: ast.Mesh, overrides: Overrides, total: int | None, report: Report, stand_in: int | None = None
) -> tuple[Axis, ...] | None:
    """The axes of a mesh or view whose sizes multiply to `total` where one is `*`; `stand_in` where that is unknown."""
    entries = {a.name.text: Entry(a.name, a.size) for a in mesh.axes if a.size is not None}
    stars = [a for a in mesh.axes if a.size is None]
    declared = {a.name.text: Entry(a.name, a.size or ast.Number(1, a.span)) for a in mesh.axes}
    changed = overridden(declared, overrides, "mesh.")
    wild = {o.key.text.removeprefix("mesh."): o for o in overrides if o.key.text.startswith("mesh.") and not o.size}
    stars = [
        replace(a, span=wild[a.name.text].key.span) if a.name.text in wild else a
        for a in mesh.axes
        if a.name.text in wild or (a in stars and changed[a.name.text] is declared[a.name.text])
    ]
    entries = {name: entry for name, entry in changed.items() if all(name != star.name.text for star in stars)}
    table = SizeTable(entries, report, lambda n, s, known: spec_names.unknown_axis(n, s, known, mesh.axes[-1].span))
    sizes = {name: dim and dim.size for name in entries for dim in (table.dim(name),)}
    if len(stars) > 1:
        report(spec_sizes.two_stars(stars[1].span, stars[0].span))
    if len(stars) > 1 or None in sizes.values():
        return None
    known = {name: size for name, size in sizes.items() if size is not None}
    if stars:
        left = _left(stars[0], known, total, report) or (stand_in if total is None else None)
        if left is None:
            return None
        known[stars[0].name.text] = left
    assumed = {star.name.text for star in stars} if total is None else set()
    return tuple(Axis(a.name.text, known[a.name.text], a.name.span, a.name.text in assumed, a.span) for a in mesh.axes)


def _left(star: ast.Axis, known: Mapping[str, int], total: int | None, report: Report) -> int | None:
    others = math.prod(known.values())
    if total is None:
        report(spec_sizes.star_unknown(star.name.text, star.span))
        return None
    if total % others:
        cures = [
            cure
            for name, size in known.items()
            for cure in axis_may_be(Axis(name, size), divisors(total // (others // size)))
            if total % (others // size) == 0
        ]
        report(spec_sizes.star_uneven(star.name.text, others, total, star.span, tuple(cures)))
        return None
    return total // others


def _view(item: ast.Mesh, axes: Sequence[Axis], mesh: ast.Mesh, overrides: Overrides, report: Report) -> View | None:
    sizes = {axis.name: axis.size for axis in axes}
    assert item.name is not None
    group = item.regroup or ()
    unknown = [name for name in group if name.text not in sizes]
    for name in unknown:
        report(spec_names.unknown_axis(name.text, name.span, list(sizes), mesh.axes[-1].span if mesh.axes else None))
    if unknown:
        return None
    names = tuple(name.text for name in group)
    in_order = tuple(axis.name for axis in axes if axis.name in names)
    if names != in_order:
        pairs = zip(group, in_order, strict=True) if len(group) == len(in_order) else ()  # else one is named twice
        edits = tuple(Edit(name.span, other) for name, other in pairs if name.text != other)
        report(spec_sizes.regroup_order(item.name.text, f"regroup({', '.join(in_order)})", item.name.span, edits))
        return None
    total = math.prod(sizes[name] for name in names)
    inner = _axes(item, overrides, total, report)
    if inner is None:
        return None
    left = " * ".join(f"{name} ({sizes[name]})" for name in names)
    right = " * ".join(f"{axis.name} ({axis.size})" for axis in inner)
    product = math.prod(axis.size for axis in inner)
    if product != total:
        cures = tuple(to_multiply(inner, total))
        report(spec_sizes.regroup_product(item.name.text, left, total, right, product, item.name.span, cures))
        return None
    if common_refinement([sizes[name] for name in names], [axis.size for axis in inner]) is None:
        cures = (*_trades(inner), *_trades([axis for axis in axes if axis.name in names]))
        report(spec_sizes.no_refinement(item.name.text, left, right, item.name.span, cures))
        return None
    return View(item.name.text, names, inner, item.span)


def _trades(axes: Sequence[Axis]) -> Iterator[Cure]:
    """Axes of a view that trade devices."""
    for one, other in islice(combinations(axes, 2), MOST_PAIRED):
        yield from traded(axes, one, other, one.size * other.size)


def common_refinement(one: Sequence[int], other: Sequence[int]) -> list[int] | None:
    """The coarsest factorisation that both are groupings of, outermost first; None where there is none.

    A factorisation cuts the devices at the products of its last factors; the union of two sets of cuts is a
    factorisation only if each cut divides the next.
    """
    cuts = sorted({1, *_cuts(one), *_cuts(other)})
    if any(b % a for a, b in pairwise(cuts)):
        return None
    return [b // a for a, b in pairwise(cuts)][::-1]


def _cuts(sizes: Sequence[int]) -> list[int]:
    return [math.prod(sizes[i:]) for i in range(len(sizes))]
