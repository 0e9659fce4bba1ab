"""Rules that speak of nothing, or of what they cannot."""

from __future__ import annotations

from meshc.prove.sound.oracle.claims import Where, depth_of
from meshc.prove.sound.oracle.rules import At, Rule
from meshc.prove.sound.oracle.tensors import Placed, at_rest, everywhere


def check(placed: Placed) -> None:
    rules = placed.rules
    spoken = {one.owner for one in rules.exchanges if _attended(placed, one.at)} | {one.owner for one in rules.stages}
    spoken |= {rule.owner for rule in rules.claims if _matches(placed, rule)}
    spoken |= {owner for owner, *_ in rules.silent}  # an axis of size 1 claims nothing, and need match nothing
    spoken |= {one.owner for one in rules.exchanges if not one.atoms}
    for owner, name in enumerate(rules.uses):
        if owner not in spoken:
            placed.wrong.say("silent", f"`{name}` matches nothing")
    for rule in rules.claims:
        if rule.repeat and any(dim not in placed.model.kv and dim in placed.sizes for dim in rule.dims):
            placed.wrong.say("copy", f"a repeat of {rule.dims}")
        if rule.zigzag and any(dim not in placed.model.sequences and dim in placed.sizes for dim in rule.dims):
            placed.wrong.say("order", f"zigzag of {rule.dims}")


def _attended(placed: Placed, at: At) -> bool:
    return any(depth_of(at, Where(one.k, one.path)) is not None for one in placed.model.attends)


def _matches(placed: Placed, rule: Rule) -> bool:
    """Whether some tensor in a rule's place has one of its dims; and, of `where free`, leaves it an axis there."""
    spots = [Where(spot.dims, spot.path) for spot in placed.model.spots]
    weights = [where for where, _ in everywhere(placed.model)] + [where for where, _, _ in at_rest(placed.model)]
    for where in (*spots, *weights):
        if depth_of(rule.at, where) is not None:
            lies = placed.lies(where) if rule.free else {}
            if any(dim in rule.dims and (not rule.free or set(lies[dim]) & set(rule.atoms)) for dim in where.dims):
                return True
    return False
