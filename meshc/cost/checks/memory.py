"""State at rest against the memory of a chip: what does not fit, and what devices hold alike though they need not."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from meshc.cost.checks.context import Priced, PricedCheck
from meshc.cost.memory import elements, gradient, moments
from meshc.diagnostics import waste as say
from meshc.diagnostics.model import Diagnostic
from meshc.job.groups import group_of
from meshc.job.model import BYTES, Optimizer, Train
from meshc.semantics.collectives import Settings
from meshc.semantics.placed import Layout, PlacedWeight, local_shape
from meshc.source import Span

MOST_ALIKE = 0.02
"""Share of a chip's memory above which what is held alike is reported."""


@dataclass(frozen=True)
class State:
    """What a device holds at rest at least, whatever a compiler does: bytes."""

    priced: Priced
    settings: Settings
    train: Train

    @property
    def optimizer(self) -> Optimizer:
        return self.train.optimizer

    def weight(self, weight: PlacedWeight) -> int:
        trained = weight.weight.trained
        width = self.settings.param_bytes if trained else self.settings.state_bytes
        return width * elements(self.priced.placed, weight.weight.dims, weight.rest)

    def moments(self, weight: PlacedWeight) -> int:
        if not weight.weight.trained:
            return 0
        return self.settings.param_bytes * moments(self.priced.placed, weight, self.optimizer)

    def gradient(self, weight: PlacedWeight) -> int:
        """Where all have to be there at once: while they add up, or until their common norm is known."""
        placed, group = self.priced.placed, group_of(self.optimizer, weight.weight.dotted)
        if not weight.weight.trained or (group is not None and group.frozen):
            return 0
        if placed.microsteps > 1:
            return gradient(placed, weight, self.settings)
        if self.optimizer.clip is None:
            return 0
        return self.settings.gradient_bytes(False) * elements(placed, weight.weight.dims, weight.optimizer)

    def of(self, weight: PlacedWeight) -> int:
        return self.weight(weight) + self.moments(weight) + self.gradient(weight)

    @cached_property
    def total(self) -> int:
        return sum(self.of(weight) for weight in self.priced.placed.weights)

    @property
    def whole(self) -> int:
        """Of all devices, each part counted once."""
        placed = self.priced.placed
        return sum(
            placed.shards(w.rest.sharded) * self.weight(w) + placed.shards(w.optimizer.sharded) * self.moments(w)
            + placed.shards((w.optimizer if placed.microsteps == 1 else placed.added_up(w)).sharded) * self.gradient(w)
            for w in placed.weights
        )  # fmt: skip


def _state(priced: Priced) -> State:
    return State(priced, priced.settings, priced.train or Train())


# ---------------------------------------------------------------- what does not fit


def state_fits(priced: Priced) -> Iterator[Diagnostic]:
    """E0401: weights, optimizer state and gradients alone are more than a chip's memory."""
    state = _state(priced)
    assert priced.slice
    if state.total <= priced.slice.hbm_bytes:
        return
    weights = priced.placed.weights
    parts = {
        "weights": sum(state.weight(w) for w in weights if w.weight.trained),
        "optimizer state": sum(state.moments(w) for w in weights),
        "gradients": sum(state.gradient(w) for w in weights),
        "state": sum(state.weight(w) for w in weights if not w.weight.trained),
    }
    yield say.no_room(
        state.total, priced.slice.hbm_bytes, priced.slice.name, parts, priced.placed.program.mesh_span,
        _largest(state), tuple(_rooms(state, priced.slice.hbm_bytes)),
    )  # fmt: skip


def _largest(state: State) -> list[tuple[Span, str, int]]:
    """The weights that hold the most, with their bytes."""
    worst = sorted(state.priced.placed.weights, key=lambda w: -state.of(w))[:3]
    return [(w.weight.value.span, w.weight.dotted, state.of(w)) for w in worst]


def _rooms(state: State, memory: int) -> Iterator[str]:
    """What alone would make it fit."""
    devices = state.priced.placed.devices
    if state.whole <= memory * devices:
        yield say.split_over_all(devices, state.whole / devices)
    else:
        yield say.more_devices(math.ceil(state.whole / memory))
    for what, other in _cheaper(state):
        if other.total <= memory:
            yield say.fits_with(what, other.total)


def _cheaper(state: State) -> Iterator[tuple[str, State]]:
    if state.settings.param_bytes > 2:
        narrow = replace(state.settings, param_bytes=BYTES["bfloat16"])
        yield "precision: {params: bfloat16}", replace(state, settings=narrow)
    for name in ("lion", "adafactor"):
        if name != state.optimizer.name:
            optimizer = state.optimizer.model_copy(update={"name": name})
            yield (
                f"optimizer: {{name: {name}}}",
                replace(state, train=state.train.model_copy(update={"optimizer": optimizer})),
            )


# ---------------------------------------------------------------- what is held alike


def weights_are_split(priced: Priced) -> Iterator[Diagnostic]:
    """W0322 for weights whole on every device, with the optimizer's state of them where that is whole, too; W0323 for
    optimizer state alone, along axes over which gradients are summed anyway, so that splitting it sends no more.
    """
    state = _state(priced)
    assert priced.slice
    most = MOST_ALIKE * priced.slice.hbm_bytes
    trained = [w for w in priced.placed.weights if w.weight.trained]
    whole = [w for w in trained if not w.rest.sharded and _splits(priced, w, w.rest, _free(priced, w.rest))]
    if priced.says("W0307"):
        whole = []  # of what all stages hold it speaks
    held = sum(state.weight(w) for w in whole)
    if held > most:
        yield _whole(state, whole, held)
    said = {w for w in whole if held > most}
    groups: dict[tuple[str, ...], list[PlacedWeight]] = {}
    for weight in trained:
        axes = tuple(a for a in _free(priced, weight.optimizer) if a in weight.summed)
        if weight not in said and _splits(priced, weight, weight.optimizer, axes):
            groups.setdefault(axes, []).append(weight)
    for axes, weights in groups.items():
        bytes_alike = sum(state.moments(w) for w in weights)
        if bytes_alike * (1 - 1 / priced.placed.shards(axes)) > most:
            yield _alike(state, axes, weights, bytes_alike)


def _free(priced: Priced, layout: Layout) -> tuple[str, ...]:
    """Axes along which devices hold the same; but for those of stages, which are others' to split."""
    stages = priced.placed.pipeline.axes if priced.placed.pipeline else ()
    return tuple(a for a in priced.placed.sizes if a not in layout.sharded and a not in stages)


def _splits(priced: Priced, weight: PlacedWeight, layout: Layout, axes: Sequence[str]) -> list[str]:
    """The dims that divide by these axes, too."""
    shards, stack = priced.placed.shards(axes), len(weight.weight.stack)
    own = local_shape(weight.weight.dims, layout, priced.placed.sizes)
    dims = zip(weight.weight.dims[stack:], own[stack:], strict=True)
    return [dim.name for dim, n in dims if shards > 1 and n % shards == 0]


def _whole(state: State, weights: Sequence[PlacedWeight], held: int) -> Diagnostic:
    priced = state.priced
    assert priced.slice
    of_optimizer = sum(state.moments(w) for w in weights if not w.optimizer.sharded)
    largest = max(weights, key=state.weight)
    axes = _free(priced, largest.rest)
    names = priced.placed.refined.declared(axes)
    dims = _dims([_splits(priced, w, w.rest, axes) for w in weights])
    return say.whole_weights(
        [w.weight.dotted for w in sorted(weights, key=lambda w: -state.weight(w))], priced.placed.devices, held,
        of_optimizer, (held + of_optimizer) / priced.slice.hbm_bytes, _place(priced, largest, names), names, dims,
    )  # fmt: skip


def _alike(state: State, axes: tuple[str, ...], weights: Sequence[PlacedWeight], held: int) -> Diagnostic:
    priced = state.priced
    assert priced.slice
    largest = max(weights, key=state.moments)
    names = priced.placed.refined.declared(axes)
    dims = _dims([_splits(priced, w, w.optimizer, axes) for w in weights])
    return say.alike_moments(
        [w.weight.dotted for w in sorted(weights, key=lambda w: -state.moments(w))], priced.placed.shards(axes), held,
        held / priced.slice.hbm_bytes, _place(priced, largest, names), names, dims,
    )  # fmt: skip


def _dims(choices: Sequence[Sequence[str]]) -> list[str]:
    """Few dims, of which each weight has one: the most common of those that are left, again and again."""
    found: list[str] = []
    while left := [dims for dims in choices if not {*dims} & {*found}]:
        found.append(Counter(dim for dims in left for dim in dims).most_common(1)[0][0])
    return found


def _place(priced: Priced, largest: PlacedWeight, names: Sequence[str]) -> Span | None:
    """The largest weight where the spec declares it, else the axis that it does not lie on."""
    span = largest.weight.value.span
    if span.source.name == priced.placed.program.source.name:
        return span
    return priced.placed.program.axis(names[0]).span


CHECKS: tuple[PricedCheck, ...] = (state_fits, weights_are_split)
