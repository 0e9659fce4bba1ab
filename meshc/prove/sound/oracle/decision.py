"""What the oracle is asked: which kinds of things are wrong with a spec."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from meshc.prove.sound.kinds import FIRST, Kind
from meshc.prove.sound.oracle import launch, silence, tensors
from meshc.prove.sound.oracle.devices import devices_of
from meshc.prove.sound.oracle.expand import Stop, expand
from meshc.prove.sound.oracle.pipeline import pipeline_of
from meshc.prove.sound.oracle.reading import Spec, Wrong, read
from meshc.prove.sound.oracle.rules import written_out
from meshc.prove.sound.oracle.sizes import sizes_of

COMPLETE: frozenset[Kind] = frozenset(
    {
        "syntax", "name", "call", "size", "world", "view", "claim", "twice", "divide", "exchange", "stage", "order",
        "copy", "silent", "launch", "whole", "idle", "tensor",
    }
)  # fmt: skip
"""The kinds that are decided in full for what `meshc prove --sound` draws."""


def decide(text: str, devices: int | None, job: Mapping[str, Any] | None) -> frozenset[Kind]:
    return frozenset(told(text, devices, job).kinds)


def told(text: str, devices: int | None, job: Mapping[str, Any] | None) -> Wrong:
    """With words for people."""
    wrong = Wrong()
    spec = read(text, wrong)
    if wrong.kinds & FIRST:
        return wrong
    launch.check(job, wrong)
    axes, dims = launch.overrides(job, spec, wrong)
    sizes = sizes_of({**_declared(spec, wrong), **dims}, wrong)
    with suppress(Stop):
        _decide(spec, sizes, axes, devices, job, wrong)
    return wrong


def _declared(spec: Spec, wrong: Wrong) -> dict[str, Any]:
    names = [dim.name.text for dim in spec.dims]
    if len(set(names)) < len(names):
        wrong.say("call", "a dim declared twice")
    return {dim.name.text: dim.size for dim in spec.dims}


def _decide(
    spec: Spec,
    sizes: dict[str, int],
    axes: dict[str, int],
    there: int | None,
    job: Mapping[str, Any] | None,
    wrong: Wrong,
) -> None:
    devices = devices_of(spec, sizes, there, axes, wrong)
    declared = dict(sizes)
    model = expand(spec, sizes, wrong)
    rules = written_out(spec, devices, declared, wrong)
    launch.feeds(job, model, wrong)
    if wrong.kinds & (FIRST | {"world", "view"}):
        return
    pipeline = pipeline_of(model, rules, devices, sizes, launch.microsteps(job), wrong)
    placed = tensors.Placed(model, rules, devices, sizes, pipeline, wrong)
    silence.check(placed)
    tensors.check(placed)
    tensors.wholes(placed)
    tensors.attention(placed)
    tensors.experts(placed)
