"""All mistakes that can be planted, by their kind. Each is put into a sketch, or None where it cannot be made there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random

from meshc.prove.sound import plants_job, plants_names, plants_rules, plants_sizes
from meshc.prove.sound.kinds import Kind
from meshc.prove.sound.sketch import Planted, Sketch

Plant = Callable[[Random, Sketch], Planted | None]

PLANTS: Mapping[Kind, Sequence[Plant]] = {
    "name": plants_names.NAMES,
    "call": plants_names.CALLS,
    "tensor": plants_names.TENSORS,
    "size": plants_sizes.SIZES,
    "world": plants_sizes.WORLDS,
    "divide": plants_sizes.DIVISIONS,
    "view": plants_rules.VIEWS,
    "claim": plants_rules.CLAIMS,
    "twice": plants_rules.TWICE,
    "exchange": plants_rules.EXCHANGES,
    "stage": plants_rules.STAGES,
    "order": plants_rules.ORDERS,
    "copy": plants_rules.COPIES,
    "whole": plants_rules.WHOLES,
    "silent": plants_rules.SILENT,
    "launch": plants_job.JOBS,
}
