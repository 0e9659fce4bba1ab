"""Mistakes in a job: keys and values that cannot be."""

from __future__ import annotations

from random import Random
from typing import Any

from meshc.prove.sound.sketch import Planted, Sketch

WRONG: tuple[tuple[str, Any], ...] = (
    ("lanch", {"backend": "local"}),
    ("train", {"stesp": 5}),
    ("train", {"steps": 0}),
    ("train", {"steps": "many"}),
    ("train", {"steps": 2.5}),
    ("train", {"microsteps": 0}),
    ("train", {"seed": -1}),
    ("train", {"remat": "some"}),
    ("train", {"optimizer": {"name": "adamx"}}),
    ("train", {"optimizer": {"lr": 0}}),
    ("train", {"optimizer": {"lr": -0.1}}),
    ("train", {"optimizer": {"schedule": "cosin"}}),
    ("train", {"optimizer": {"groups": [{"match": "*.nothing", "frozen": True}]}}),
    ("train", {"optimizer": {"groups": [{"frozen": True}]}}),
    ("train", {"precision": {"params": "float31"}}),
    ("train", "fast"),
    ("data", {"source": "textt"}),
    ("data", {"source": "text"}),
    ("data", {"source": "tokens", "paths": []}),
    ("data", {"source": "synthetic", "separator": -1}),
    ("data", {"source": "synthetic", "token_dtype": "uint9"}),
    ("checkpoint", {"every": 0}),
    ("checkpoint", {"keep": 0}),
    ("checkpoint", {"evry": 10}),
    ("launch", {"backend": "slrum"}),
    ("launch", {"nodes": 0}),
    ("launch", {"hosts": "a"}),
    ("launch", {"port": 70000}),
    ("launch", {"port": 0}),
    ("launch", {"node": 2}),
    ("set", {"embed": "wide"}),
    ("set", 3),
)


def setting(r: Random, s: Sketch) -> Planted | None:
    key, value = r.choice(WRONG)
    old = (s.job or {}).get(key)
    joined = {**old, **value} if isinstance(old, dict) and isinstance(value, dict) else value
    s.job = {**(s.job or {}), key: joined}
    return Planted("size" if value == {"embed": "wide"} else "launch", f"{key}: {value}")


def unfed(r: Random, s: Sketch) -> Planted | None:
    """Text to a model of rows of numbers, or of labels."""
    if s.has_sequence:
        return None
    s.job = {**(s.job or {}), "data": {"source": "python-stdlib"}}
    return Planted("launch", "text for a model of rows of numbers")


JOBS = (setting, setting, setting, unfed)
