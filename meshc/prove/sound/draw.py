"""One spec for each number: a model, a mesh, a partition, perhaps a slice and a job, and perhaps mistakes in them."""

from __future__ import annotations

import math
from random import Random

from meshc.prove.mixed.models import draw_model
from meshc.prove.mixed.partitions import draw_partition
from meshc.prove.sound.apt import apt_partition
from meshc.prove.sound.plants import PLANTS
from meshc.prove.sound.sketch import Draw, Sketch
from meshc.prove.sound.twists import twist

DEVICES = (4, 8, 8, 8, 6, 2)
MOST_TRIED = 20


def draw(number: int) -> Draw:
    """The spec of a number: always the same one."""
    r = Random(number)
    model = draw_model(r)
    make = apt_partition if r.random() < 0.6 else draw_partition
    sketch = Sketch(r, model, make(r, model, (r.choice(DEVICES),)))
    sketch.dims["layers"] = _few(sketch.dims.get("layers", "2"))
    _where(r, sketch)
    twist(r, sketch)
    for _ in range(r.choices((0, 1, 2), (50, 44, 6))[0]):
        _plant(r, sketch)
    return sketch.drawn(number)


def _few(layers: str) -> str:
    """At most 4 layers: more are only slower."""
    return layers if int(layers) <= 4 else "4"


def _where(r: Random, sketch: Sketch) -> None:
    """A slice that the mesh fills, or none; a job, or none."""
    if r.random() < 0.5:
        sketch.devices = math.prod(sketch.axes.values())
        if r.random() < 0.3:
            sketch.written[r.choice(list(sketch.axes))] = "*"
    if r.random() < 0.35:
        sketch.job = {}
        if (microsteps := r.choices((1, 2, 4), (5, 3, 1))[0]) > 1:
            sketch.train("microsteps", microsteps)
        if (remat := r.choices(("attention", "none", "dots", "full"), (4, 1, 1, 2))[0]) != "attention":
            sketch.train("remat", remat)
        sketch.job["data"] = {"source": "synthetic"}


def _plant(r: Random, sketch: Sketch) -> None:
    """One mistake of a kind, of those that can be made in this spec."""
    kinds = list(PLANTS)
    for _ in range(MOST_TRIED):
        kind = r.choice(kinds)
        planted = r.choice(PLANTS[kind])(r, sketch)
        if planted:
            sketch.planted.append(planted)
            return
