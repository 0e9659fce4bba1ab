"""Every tensor in every place: whether an axis splits it twice, and whether its dims divide."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from meshc.prove.sound.oracle.claims import Where, clash, depth_of, holding, lying, standing
from meshc.prove.sound.oracle.devices import Atom, Devices
from meshc.prove.sound.oracle.pipeline import Pipeline
from meshc.prove.sound.oracle.reading import Wrong
from meshc.prove.sound.oracle.rules import Rules
from meshc.prove.sound.oracle.values import EXPERTS, Expanded, Route


@dataclass
class Placed:
    """The model expanded, the rules written out, and what is found wrong on the way. parts: a batch's microbatches"""

    model: Expanded
    rules: Rules
    devices: Devices
    sizes: dict[str, int]
    pipeline: Pipeline
    wrong: Wrong

    def lies(self, where: Where) -> dict[str, list[Atom]]:
        return lying(where, self.rules.claims, self.devices)

    def size(self, dim: str) -> int:
        whole = self.sizes[dim.rstrip("'")]
        return whole // self.pipeline.parts if dim == self.model.batch and whole % self.pipeline.parts == 0 else whole

    def copied(self, dim: str, where: Where) -> bool:
        return any(one.rule.repeat for one in standing(holding(self.rules.claims, dim, where, self.devices)))


def everywhere(model: Expanded) -> Iterator[tuple[Where, int | None]]:
    """Each tensor in each place, and the repeat of the model that it is in. What an operation takes whole is whole."""
    for spot in model.spots:
        yield Where(tuple(dim for dim in spot.dims if dim not in spot.whole), spot.path), spot.staged
    for weight in model.weights:
        yield Where(weight.dims, weight.path), weight.staged


def at_rest(model: Expanded) -> Iterator[tuple[Where, int | None, tuple[str, ...]]]:
    for weight in model.weights:
        for phase in ("params", "grads", "optimizer"):
            if not weight.state:
                where = Where((*weight.stack, *weight.dims), weight.path, phase, weight.name)
                yield where, weight.staged, weight.stack


def wholes(placed: Placed) -> None:
    """A rule inside of an operation that splits what it takes whole."""
    for spot in placed.model.spots:
        where = Where(spot.dims, spot.path)
        for dim in spot.whole:
            held = standing(holding(placed.rules.claims, dim, where, placed.devices))
            if any(one.rule.atoms and one.depth[2] == len(spot.path) for one in held):
                placed.wrong.say("whole", f"`{dim}` split in {spot.path}")


def check(placed: Placed) -> None:
    for where, staged in everywhere(placed.model):
        found = _lie(placed, where)
        if staged in placed.pipeline.repeats and any(set(a) & set(placed.pipeline.atoms) for a in found.values()):
            placed.wrong.say("stage", f"{where} on the stages' axis")
    for where, staged, stack in at_rest(placed.model):
        found = _lie(placed, where, stack)
        by_stages = placed.pipeline.atoms if staged in placed.pipeline.repeats else ()
        for dim in stack:
            _stacked(placed, dim, found.pop(dim), where, by_stages)
        if any(set(atoms) & set(by_stages) for atoms in found.values()):
            placed.wrong.say("twice", f"{where} at rest on the stages' axis")


def _stacked(placed: Placed, dim: str, atoms: list[Atom], where: Where, by_stages: tuple[Atom, ...]) -> None:
    """A stack lies on the axis of its stages alone; the optimizer's state of it may be split further."""
    held = standing(holding(placed.rules.claims, dim, where, placed.devices))
    cleared = by_stages and any(one.rule.sets and not set(by_stages) <= set(one.rule.atoms) for one in held)
    if where.phase != "optimizer" and (cleared or set(atoms) - set(by_stages)):
        placed.wrong.say("whole", f"`{dim}` of {where} is split at rest")
    if not by_stages and placed.size(dim) % placed.devices.count(tuple(atoms)):
        placed.wrong.say("divide", f"{dim} of {where} by {atoms}")


def _lie(placed: Placed, where: Where, stack: tuple[str, ...] = ()) -> dict[str, list[Atom]]:
    for dim in where.dims:
        clash(holding(placed.rules.claims, dim, where, placed.devices), dim, where, placed.wrong)
    found = placed.lies(where)
    atoms = [atom for one in found.values() for atom in one]
    if len(set(atoms)) < len(atoms):
        placed.wrong.say("twice", f"{where}: {found}")
    for dim, one in found.items():
        shards = placed.devices.count(tuple(one))
        size = placed.size(dim)
        if dim not in stack and size % shards and not placed.copied(dim, where):
            placed.wrong.say("divide", f"{dim} = {size} of {where} by {shards}")
        if EXPERTS not in where.path:
            _zigzag(placed, dim, one, where)
    return found


def _zigzag(placed: Placed, dim: str, atoms: list[Atom], where: Where) -> None:
    held = standing(holding(placed.rules.claims, dim, where, placed.devices))
    ordered = {atom for one in held if one.rule.zigzag for atom in one.rule.atoms}
    last = max((i for i, atom in enumerate(atoms) if atom in ordered), default=None)
    if last is None:
        return
    if dim not in placed.model.sequences:
        placed.wrong.say("order", f"`{dim}` is no sequence")
        return
    pairs = placed.devices.count(tuple(atoms[: last + 1]))
    if placed.size(dim) % (2 * pairs):
        placed.wrong.say("divide", f"{dim} = {placed.size(dim)} in {2 * pairs} chunks")


def attention(placed: Placed) -> None:
    for one in placed.model.attends:
        q, k = Where(one.q, one.path), Where(one.k, one.path)
        of_q, of_k = placed.lies(q), placed.lies(k)
        exchanged = {atom for rule in _exchanges(placed, k) for atom in rule}
        if set(of_k[one.k[-3]]) - exchanged:
            placed.wrong.say("exchange", f"keys of {k} without an exchange")
        _heads(placed, one.q[-2], one.k[-2], of_q[one.q[-2]], of_k[one.k[-2]])


def _exchanges(placed: Placed, where: Where) -> list[tuple[Atom, ...]]:
    here = [one for one in placed.rules.exchanges if depth_of(one.at, where) is not None]
    for one in here:
        for other in here:
            if set(one.atoms) & set(other.atoms) and one.method != other.method:
                placed.wrong.say("claim", "two exchanges")
    return [one.atoms for one in here]


def _heads(placed: Placed, heads: str, kv: str, of_q: list[Atom], of_k: list[Atom]) -> None:
    """Key and value heads lie as their query heads, or on the outer axes of these, or whole."""
    if of_k != of_q[: len(of_k)]:
        placed.wrong.say("exchange", f"{kv} on {of_k}, {heads} on {of_q}")
        return
    local, shards = placed.sizes[heads] // placed.devices.count(tuple(of_q)), placed.devices.count(tuple(of_k))
    group = placed.sizes[heads] // placed.sizes[kv]
    fewer = placed.devices.count(tuple(of_q)) != math.gcd(shards, placed.sizes[kv])
    if fewer and local and local % group and group % local:
        placed.wrong.say("exchange", f"{local} query heads of groups of {group}")


def experts(placed: Placed) -> None:
    """Tokens that are equal on several devices are split before they are sent."""
    for one in placed.model.sent:
        inside = [w for w in placed.model.weights if w.path[-1:] == (EXPERTS,) and w.path[:-1] == one.path]
        sharding: set[Atom] = set()
        hidden: set[Atom] = set()
        for weight in inside:
            for dim, atoms in placed.lies(Where(weight.dims, weight.path)).items():
                (sharding if dim in one.route.experts else hidden).update(atoms)
        spread = {a for a in placed.devices.regrouped if placed.devices.size[a] > 1} if _viewed(placed) else sharding
        lies = placed.lies(Where(one.dims, one.path))
        tokens = {atom for dim in one.route.tokens for atom in lies[dim]}
        if one.staged in placed.pipeline.repeats and spread & set(placed.pipeline.atoms):
            placed.wrong.say("stage", "tokens inside of experts on the stages' axis")
        _rows(placed, one.route, (tokens | spread) - hidden - sharding)
        parts = placed.devices.count(tuple(spread - hidden - tokens))
        local = [placed.size(dim) // placed.devices.count(tuple(lies[dim])) for dim in one.route.tokens]
        if not any(size % parts == 0 for size in local):
            placed.wrong.say("divide", f"{local} tokens by {parts}")


def _rows(placed: Placed, route: Route, rows: set[Atom]) -> None:
    """What lies in experts' slots is cut by rows, too: further in, no dim of it can lie on an axis of theirs."""
    for spot in placed.model.spots:
        where = Where(tuple(dim for dim in spot.dims if dim not in spot.whole), spot.path)
        for dim in where.dims if spot.route == route.number else ():
            held = standing(holding(placed.rules.claims, dim, where, placed.devices))
            if any(set(one.rule.atoms) & rows and not one.rule.free for one in held):
                placed.wrong.say("twice", f"`{dim}` of {where} beside rows on {rows}")


def _viewed(placed: Placed) -> bool:
    return bool(placed.devices.of_view)
