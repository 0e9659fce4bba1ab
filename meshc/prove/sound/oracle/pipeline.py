"""Stages: what they cut, how many layers each has, and how many microbatches go through."""

from __future__ import annotations

from dataclasses import dataclass

from meshc.prove.sound.oracle.devices import Atom, Devices
from meshc.prove.sound.oracle.reading import Wrong
from meshc.prove.sound.oracle.rules import Rules, Stage
from meshc.prove.sound.oracle.values import Expanded


@dataclass
class Pipeline:
    """repeats: the model's repeats that are cut; atoms: of the stages' axis; parts: of a batch, in one step"""

    repeats: set[int | None]
    atoms: tuple[Atom, ...]
    parts: int


def pipeline_of(
    model: Expanded, rules: Rules, devices: Devices, sizes: dict[str, int], microsteps: int, wrong: Wrong
) -> Pipeline:
    found = Pipeline(set(), (), microsteps)
    staging = [stage for stage in rules.stages if stage.atoms]
    if len(staging) > 1:
        wrong.say("claim", "cut into stages twice")
    for stage in staging[:1]:
        _cut(found, stage, model, devices, wrong)
    rows = sizes.get(model.batch, 1)
    if rows % found.parts:
        wrong.say("divide", f"{rows} rows in {found.parts} microbatches")
    return found


def _cut(found: Pipeline, stage: Stage, model: Expanded, devices: Devices, wrong: Wrong) -> None:
    numbers = [number for number, (dim, _) in model.turns.items() if dim == stage.dim]
    if not numbers:
        wrong.say("stage", f"no repeat of `{stage.dim}`")
        return
    group = next(one for one in model.beside if numbers[0] in one)
    found.repeats, found.atoms = set(group), stage.atoms
    turns = sum(model.turns[number][1] for number in group)
    options = stage.options
    microbatches, rounds = options.get("microbatches", 1), options.get("rounds", 1)
    if not isinstance(microbatches, int) or not isinstance(rounds, int):
        return
    found.parts *= max(1, microbatches)
    devices_along = devices.count(stage.atoms)
    stages = devices_along * rounds
    named = options.get("stages", "even")
    if isinstance(named, list):
        if len(named) != stages or any(not isinstance(n, int) or n < 1 for n in named) or sum(named) != turns:
            wrong.say("divide", f"{turns} layers in stages of {named}")
    elif turns % stages:
        wrong.say("divide", f"{turns} layers in {stages} stages")
    waits = "microbatches" in options and options.get("schedule", "1f1b") != "gpipe"
    if waits and microbatches < devices_along:
        wrong.say("idle", f"{microbatches} microbatches for {devices_along} stages")
