"""Which axes a dim of a tensor lies on in a place, by the words of the language: "Placement rules" and "Decisions"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from meshc.prove.sound.oracle.devices import Atom, Devices
from meshc.prove.sound.oracle.reading import Wrong
from meshc.prove.sound.oracle.rules import At, Rule
from meshc.prove.sound.oracle.values import EXPERTS, Dims, Path

RANK = {"use": 0, "params": 1, "grads": 2, "optimizer": 2}
BEGINS = {"use": ("use",), "params": ("use", "params"), "grads": ("use", "params", "grads"),
          "optimizer": ("use", "params", "optimizer")}  # fmt: skip
Depth = tuple[int, int, int]
"""How far in a place is: at rest is further in than in use, of one weight further than of all."""


@dataclass(frozen=True)
class Where:
    """A tensor with its dims in a place. weight: its dotted name, at rest"""

    dims: Dims
    path: Path
    phase: str = "use"
    weight: str | None = None


def depth_of(at: At, where: Where) -> Depth | None:
    """How far in the rule's place is of those around a tensor, None where the tensor is not in it."""
    if at.phase not in BEGINS[where.phase] or not _names(at.of, where.weight):
        return None
    position = 0
    for group in at.within:
        inside = [i for i, name in enumerate(where.path, 1) if name in group and i > position]
        if not inside:
            return None
        position = inside[-1] if group is at.within[-1] else inside[0]
    return RANK[at.phase], int(at.of is not None), position


def _names(path: str | None, weight: str | None) -> bool:
    """A path is a weight's, or a pattern of some."""
    return path is None or (weight is not None and fnmatchcase(weight, path))


@dataclass(frozen=True)
class Holding:
    """A rule that speaks of a dim, and how far in it does."""

    depth: Depth
    rule: Rule


def holding(rules: Sequence[Rule], dim: str, where: Where, devices: Devices) -> list[Holding]:
    if dim.endswith("'"):
        return []
    found = []
    for rule in rules:
        if dim not in rule.dims or (rule.first and next(d for d in rule.dims if d in where.dims) != dim):
            continue
        depth = depth_of(rule.at, where)
        left = None if depth is None else _left(rule, depth, where, devices)
        if depth is not None and left is not None:
            found.append(Holding(depth, left))
    return found


def _left(rule: Rule, depth: Depth, where: Where, devices: Devices) -> Rule | None:
    """Claims on regrouped axes from outside of the view do not apply within it, but at rest."""
    inside = any(EXPERTS in group for group in rule.at.within)
    if EXPERTS not in where.path or inside or depth[0] > 0 or not rule.atoms:
        return rule
    atoms = tuple(atom for atom in rule.atoms if atom not in devices.regrouped)
    return replace(rule, atoms=atoms) if atoms else None


def clash(found: Sequence[Holding], dim: str, where: Where, wrong: Wrong) -> None:
    """A dim claimed twice."""
    direct = [one for one in found if one.rule.owner is None and one.rule.sets]
    said = {(one.depth, one.rule.atoms) for one in direct}  # two that say the same do not conflict
    if len({depth for depth, _ in said}) < len(said):
        wrong.say("claim", f"`{dim}` of {where} by two rules")
    if direct:
        return
    owned = [one for one in found if one.rule.owner is not None]
    for one in owned:
        for other in owned:
            if not one.rule.sets or one.rule.number == other.rule.number:
                continue
            if one.rule.owner == other.rule.owner:
                if other.rule.sets and one.depth == other.depth:
                    wrong.say("claim", f"`{dim}` of {where} twice by one strategy")
            elif other.rule.sets or not other.depth[0] > one.depth[0]:
                wrong.say("claim", f"`{dim}` of {where} by two strategies")


def standing(found: Sequence[Holding]) -> list[Holding]:
    """Of the rules that speak of a dim, those that hold."""
    direct = [one for one in found if one.rule.owner is None and one.rule.sets]
    if direct:
        deepest = max(one.depth for one in direct)
        return [
            one
            for one in found
            if (one in direct and one.depth == deepest)
            or (one.rule.append and (one.depth > deepest or (one.rule.owner is None and one.depth == deepest)))
        ]
    sets = [one for one in found if one.rule.sets]
    if not sets:
        return list(found)
    last = max(one.depth for one in sets)
    return [one for one in found if one.depth >= last and (one.rule.append or one.depth == last)]


def lying(where: Where, rules: Sequence[Rule], devices: Devices) -> dict[str, list[Atom]]:
    """The axes of each dim, from the outermost. `where free` is decided last."""
    held = {dim: standing(holding(rules, dim, where, devices)) for dim in where.dims}
    found: dict[str, list[Atom]] = {dim: [] for dim in where.dims}
    for free, ranks in ((False, (0,)), (False, (1, 2)), (True, (0, 1, 2))):
        for dim in where.dims:
            for one in _in_order([o for o in held[dim] if o.rule.free == free and o.depth[0] in ranks]):
                for atom in one.rule.atoms:
                    taken = any(atom in found[other] for other in where.dims if other != dim)
                    gives_way = free or (where.phase != "use" and EXPERTS in where.path and one.depth[0] > 0
                                         and atom in devices.regrouped)  # fmt: skip
                    if atom not in found[dim] and not (taken and gives_way):
                        found[dim].append(atom)
    return {dim: _sorted(dim, atoms, held) for dim, atoms in found.items()}


def _in_order(held: list[Holding]) -> list[Holding]:
    """What the experts have in use comes before what is added at rest."""
    return sorted(held, key=lambda one: (one.rule.append, one.depth))


def _sorted(dim: str, atoms: list[Atom], held: dict[str, list[Holding]]) -> list[Atom]:
    """Axes that are set first, appended ones in mesh order behind them, those of inner places behind outer ones."""

    def key(atom: Atom) -> tuple:
        ones = [one for one in held[dim] if atom in one.rule.atoms]
        setting = [one for one in ones if one.rule.sets]
        if setting:
            return (0, (0, 0, 0), setting[0].rule.atoms.index(atom), atom)
        return (1, min(one.depth for one in ones), 0, atom)

    return sorted(atoms, key=key)
