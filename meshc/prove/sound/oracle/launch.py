"""The job, by the tables of `docs/job.md`: its keys and what each may be."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping
from typing import Any

from meshc.prove.sound.oracle.reading import Spec, Wrong
from meshc.prove.sound.oracle.values import Expanded

Takes = Callable[[Any], bool]


def _whole(least: int) -> Takes:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= least


def _number(least: float, above: bool = False) -> Takes:
    def takes(value: Any) -> bool:
        real = isinstance(value, int | float) and not isinstance(value, bool)
        return real and (value > least if above else value >= least)

    return takes


def _one_of(*words: str) -> Takes:
    return lambda value: value in words


def _or_null(takes: Takes) -> Takes:
    return lambda value: value is None or takes(value)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _truth(value: Any) -> bool:
    return isinstance(value, bool)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _keys(value: Any) -> bool:
    return isinstance(value, Mapping)


FLOATS = _one_of("float64", "float32", "bfloat16", "float16")
POSITIVE, SHARE = _number(0, above=True), _number(0)
OPTIMIZER = {
    "name": _one_of("adamw", "adam", "sgd", "lion", "adafactor", "lamb"),
    "lr": POSITIVE,
    "schedule": _one_of("constant", "cosine", "linear"),
    "warmup": _whole(0),
    "final": SHARE,
    "decay": _or_null(_whole(1)),
    **dict.fromkeys(("b1", "b2", "momentum", "weight_decay"), SHARE),
    "eps": POSITIVE,
    "clip": _or_null(POSITIVE),
    "groups": lambda value: isinstance(value, list) and all(_section(GROUP, one) and "match" in one for one in value),
}
GROUP = {"match": _text, "lr_scale": SHARE, "weight_decay": _or_null(SHARE), "frozen": _truth}
PRECISION = {"params": FLOATS, "compute": FLOATS}
TRAIN = {
    "steps": _whole(1),
    "microsteps": _whole(1),
    "optimizer": lambda value: _section(OPTIMIZER, value),
    "precision": lambda value: _section(PRECISION, value),
    "remat": _one_of("none", "attention", "dots", "full"),
    "seed": _whole(0),
}
DATA = {
    "source": _one_of("python-stdlib", "text", "tokens", "synthetic"),
    "paths": _texts,
    "tokenizer": _text,
    "token_dtype": _one_of("uint8", "uint16", "uint32", "int32"),
    "separator": _or_null(_whole(0)),
}
CHECKPOINT = {
    "dir": _text, "shared": _or_null(_truth), "every": _whole(1), "keep": _whole(1), "init_from": _or_null(_text),
}  # fmt: skip
WORDS = ("coordinator", "name", "partition", "account", "time", "image", "namespace", "zone", "project", "python")
LAUNCH = {
    "backend": _one_of("local", "ssh", "slurm", "kubernetes", "tpu-vm"),
    "nodes": _or_null(_whole(1)),
    "hosts": _texts,
    "processes_per_host": _whole(1),
    "devices_per_process": _or_null(_whole(1)),
    "port": _or_null(lambda value: _whole(1)(value) and value < 2**16),
    **dict.fromkeys(WORDS, _or_null(_text)),
    "env": _keys,
}
JOB = {
    "spec": _text,
    "slice": lambda value: True,
    "set": _keys,
    "train": lambda value: _section(TRAIN, value),
    "data": lambda value: _section(DATA, value),
    "checkpoint": lambda value: _section(CHECKPOINT, value),
    "launch": lambda value: _section(LAUNCH, value),
}


def _section(table: Mapping[str, Takes], value: Any) -> bool:
    return isinstance(value, Mapping) and all(key in table and table[key](one) for key, one in value.items())


def check(job: Mapping[str, Any] | None, wrong: Wrong) -> None:
    for key, value in (job or {}).items():
        if key not in JOB or not JOB[key](value):
            wrong.say("launch", f"{key}: {value}")
    data = (job or {}).get("data")
    if isinstance(data, Mapping) and data.get("source") in ("text", "tokens") and not data.get("paths"):
        wrong.say("launch", "no paths to read")


def overrides(job: Mapping[str, Any] | None, spec: Spec, wrong: Wrong) -> tuple[dict[str, int], dict[str, int]]:
    """What `set` says of axes and of dims."""
    axes: dict[str, int] = {}
    dims: dict[str, int] = {}
    given = (job or {}).get("set", {})
    of_mesh = {axis.name.text for axis in spec.mesh.axes} if spec.mesh else set()
    of_dims = {dim.name.text for dim in spec.dims}
    for key, value in given.items() if isinstance(given, Mapping) else ():
        is_axis = str(key).startswith("mesh.")
        name = str(key).removeprefix("mesh.")
        if name not in (of_mesh if is_axis else of_dims):
            wrong.say("name", f"`set` of `{key}`")
        elif not isinstance(value, int) or isinstance(value, bool):
            wrong.say("size", f"{key}: {value}")
        else:
            (axes if is_axis else dims)[name] = value
    return axes, dims


def microsteps(job: Mapping[str, Any] | None) -> int:
    train = (job or {}).get("train", {})
    steps = train.get("microsteps", 1) if isinstance(train, Mapping) else 1
    return steps if _whole(1)(steps) else 1


def feeds(job: Mapping[str, Any] | None, model: Expanded, wrong: Wrong) -> None:
    """Whether the data are what the model takes, and each group of the optimizer matches a weight."""
    if job is None:
        return
    data = job.get("data", {})
    source = data.get("source", "python-stdlib") if isinstance(data, Mapping) else "synthetic"
    inputs = [one for one in model.inputs if one not in model.segments]
    if source in ("python-stdlib", "text", "tokens") and not _is_text(inputs):
        wrong.say("launch", f"{source} for {model.inputs}")
    train = job.get("train", {})
    optimizer = train.get("optimizer", {}) if isinstance(train, Mapping) else {}
    for group in optimizer.get("groups", []) if isinstance(optimizer, Mapping) else []:
        match = group.get("match") if isinstance(group, Mapping) else None
        if match and not any(fnmatch.fnmatchcase(weight.name, match) for weight in model.weights):
            wrong.say("launch", f"no weight is `{match}`")


def _is_text(inputs: list[Any]) -> bool:
    return len(inputs) == 1 and inputs[0].of is not None and len(inputs[0].dims) == 2
