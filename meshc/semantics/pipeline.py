"""Repeats cut into stages: which of them, how many turns each stage has, and what goes from stage to stage.

A pipeline cuts the repeat over the staged dim together with the repeats that stand beside it with nothing between them.
Virtual stage k, of `stages * rounds`, has some turns of each, in order; device s of a pipeline has the virtual stages
s, s + stages, …. At rest a stack has places for the most turns of any virtual stage, device after device; what a stage
has not is padding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from meshc.semantics.placed import (
    Placed,
    PlacedCarry,
    PlacedModule,
    PlacedRepeat,
    PlacedStatement,
    PlacedWeight,
)
from meshc.semantics.program import (
    Invoke,
    Kind,
    Module,
    Program,
    Repeat,
    Rest,
    Rule,
    StageRule,
    Statement,
    Update,
    Value,
    Weight,
)
from meshc.semantics.schedule import Schedule
from meshc.semantics.statements import modules, read
from meshc.semantics.statements import statements as resolved
from meshc.semantics.walk import made, reads, statements
from meshc.source import Span


@dataclass(frozen=True, eq=False)
class Cut:
    """Repeats of a program, cut: `turns` of each in each virtual stage, `weights` with the number of their repeat.

    paths: of those weights
    """

    rule: StageRule
    repeats: tuple[Repeat, ...]
    stages: int
    turns: tuple[tuple[int, ...], ...]
    weights: Mapping[Value, int]
    paths: frozenset[str]

    @property
    def schedule(self) -> Schedule:
        return Schedule(self.rule.schedule, self.stages, self.rule.microbatches, self.rule.rounds)

    @property
    def layers(self) -> list[int]:
        """Turns of each virtual stage, of all repeats together."""
        return [sum(own) for own in zip(*self.turns, strict=True)]

    def places(self, repeat: int) -> int:
        """Turns of a repeat for which each virtual stage has room."""
        return max(self.turns[repeat])

    def order(self, repeat: int) -> tuple[int, ...]:
        """A stack at rest: for each place the number of its turn, or -1 where it is padding."""
        turns = self.turns[repeat]
        begins = [sum(turns[:k]) for k in range(len(turns))]
        stages = (k for s in range(self.stages) for k in range(s, len(turns), self.stages))
        room = range(self.places(repeat))
        return tuple(begins[k] + place if place < turns[k] else -1 for k in stages for place in room)

    def at_rest(self, weight: Weight) -> Weight:
        """The weight with its stack as it rests: with padding."""
        number = self.weights.get(weight.value)
        if number is None:
            return weight
        dim = weight.stack[0]
        held = replace(dim, size=self.places(number) * len(self.turns[number]), real=dim.size)
        return replace(weight, stack=(held, *weight.stack[1:])) if held.padded else weight


def cut_of(program: Program) -> Cut | None:
    """How a program's pipeline cuts it; None where there is none, or where the numbers do not allow it."""
    rule = next(iter(program.stages), None)
    row = () if rule is None else row_of(program.model.body, rule)
    if rule is None or not row:
        return None
    stages = program.axis(rule.axis).size
    layers = layers_of_stages(rule, stages, sum(repeat.count.size for repeat in row))
    if layers is None:
        return None
    turns = turns_of_stages([repeat.count.size for repeat in row], layers)
    found = [(weight, number) for number, repeat in enumerate(row) for weight in _weights_of(program.model, repeat)]
    paths = frozenset(weight.dotted for weight, _ in found)
    return Cut(rule, row, stages, turns, {weight.value: number for weight, number in found}, paths)


def row_of(body: Sequence[Statement], rule: StageRule) -> tuple[Repeat, ...]:
    """The repeat over the staged dim and those beside it."""
    at = next((i for i, s in enumerate(body) if isinstance(s, Repeat) and s.count.name == rule.dim), None)
    if at is None:
        return ()
    begin, end = at, at + 1
    while begin > 0 and isinstance(body[begin - 1], Repeat):
        begin -= 1
    while end < len(body) and isinstance(body[end], Repeat):
        end += 1
    return tuple(s for s in body[begin:end] if isinstance(s, Repeat))


def layers_of_stages(rule: StageRule, stages: int, layers: int) -> tuple[int, ...] | None:
    """Turns of each virtual stage, together those of all repeats; None where the rule's do not fit."""
    parts = stages * rule.rounds
    if rule.stages is not None:
        fits = len(rule.stages) == parts and sum(rule.stages) == layers and min(rule.stages) > 0
        return rule.stages if fits else None
    return (layers // parts,) * parts if layers % parts == 0 and layers else None


def turns_of_stages(counts: Sequence[int], layers: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """For each repeat its turns in each virtual stage: all turns in a row, cut."""
    found: list[tuple[int, ...]] = []
    begin = 0
    for count in counts:
        own, at = [], 0
        for number in layers:
            own.append(max(0, min(at + number, begin + count) - max(at, begin)))
            at += number
        found.append(tuple(own))
        begin += count
    return tuple(found)


def _weights_of(model: Module, repeat: Repeat) -> Iterator[Weight]:
    """Weights of the layers called in a repeat, and the model's own that are declared in it."""
    body = list(resolved(repeat.body))
    known = {value for statement in body for value in read(statement)}
    known |= {statement.weight.value for statement in body if isinstance(statement, Update)}
    yield from (weight for weight in model.weights if weight.stack and weight.value in known)
    for statement in body:
        if isinstance(statement, Invoke):
            yield from (weight for module in modules(statement.module) for weight in module.weights)


def with_rule(program: Program, cut: Cut | None) -> Program:
    """The program with what its pipeline says of weights at rest among the rules."""
    if cut is None:
        return program
    dims = tuple(dict.fromkeys(repeat.count.name for repeat in cut.repeats))
    rule = cut.rule
    calls = (rule.origin,) if rule.origin else ()
    claim = Rule(
        Rest.PARAMS, (), None, dims, False, (rule.axis,), False, False, False, False, rule.origin, rule.span, cut.paths,
        calls,
    )  # fmt: skip
    return replace(program, rules=(*program.rules, claim))


def without_rule(program: Program) -> Program:
    """The program before `with_rule`, to be placed anew."""
    return replace(program, rules=tuple(rule for rule in program.rules if rule.stacks is None))


# ---------------------------------------------------------------- placed


@dataclass(frozen=True, eq=False)
class Slot:
    """A tensor that goes from stage to stage.

    before: what enters the first stage; after: what leaves the last one; carries: of each repeat the carry that makes
    a new one of it, None where it goes through as it is
    """

    before: Placed
    carries: tuple[PlacedCarry | None, ...]
    after: Placed


@dataclass(frozen=True, eq=False)
class Pipeline:
    """A placed model, cut. The statements are those of its body, in order; `trouble` is what no program can do yet, and
    what to write in its place.

    shared: weights of no stage that stages use, too, and whose gradients they add up
    """

    cut: Cut
    axes: tuple[str, ...]
    before: tuple[PlacedStatement, ...]
    repeats: tuple[PlacedRepeat, ...]
    after: tuple[PlacedStatement, ...]
    slots: tuple[Slot, ...]
    shared: tuple[PlacedWeight, ...]
    trouble: tuple[tuple[str, str, Span], ...]

    def turns_of_a_step(self, repeat: PlacedRepeat) -> Fraction:
        """How often a device computes a turn of a repeat in a pass of all microbatches, the mean of all devices."""
        return Fraction(self.microbatches * repeat.count.size, self.cut.stages)

    def permuted(self, repeat: PlacedRepeat) -> Fraction:
        """For each turn of a repeat that a device computes, how often it takes part in a permute there.

        All devices do in each place of a stage, in each slot in which some device has work (`runtime.pipeline.slots`).
        """
        places = self.cut.places(self.cut.repeats.index(repeat.repeat))
        return self.schedule.active * places / self.turns_of_a_step(repeat)

    @property
    def microbatches(self) -> int:
        return self.cut.rule.microbatches

    @cached_property
    def schedule(self) -> Schedule:
        return self.cut.schedule

    def alone(self, repeat: PlacedRepeat | None) -> bool:
        """Whether stages have one turn of this repeat at most.

        Computed anew in one piece, such a turn would gain nothing by keeping less of it until its backward pass.
        """
        if repeat is None or repeat.repeat not in self.cut.repeats:
            return False
        nested = any(isinstance(statement, PlacedRepeat) for statement in repeat.body)
        return not nested and self.cut.places(self.cut.repeats.index(repeat.repeat)) == 1

    def goes_on(self, repeat: PlacedRepeat) -> bool:
        """Whether in a stage something follows a turn of this repeat."""
        number = self.repeats.index(repeat)
        return number < len(self.repeats) - 1 or self.cut.places(number) > 1


def pipeline_of(cut: Cut, axes: tuple[str, ...], model: PlacedModule, weights: Sequence[PlacedWeight]) -> Pipeline:
    at = [i for i, s in enumerate(model.body) if isinstance(s, PlacedRepeat) and s.repeat in cut.repeats]
    before, after = model.body[: at[0]], model.body[at[-1] + 1 :]
    repeats = tuple(s for s in model.body[at[0] : at[-1] + 1] if isinstance(s, PlacedRepeat))
    flow = _Flow({p for s in before for p in made(s)})
    for number, repeat in enumerate(repeats):
        flow.turn(repeat, number)
    flow.leave(after)
    read = {p for repeat in repeats for s in statements(repeat.body) for p in reads(s)}
    outside = (w for w in weights if w.weight.trained and w.weight.value not in cut.weights)
    shared = tuple(w for w in outside if w.inside in read)
    slots = tuple(Slot(s.before, tuple(s.carries.get(i) for i in range(len(repeats))), s.now) for s in flow.slots)
    return Pipeline(cut, axes, before, repeats, after, slots, shared, tuple(flow.trouble))


@dataclass(eq=False)
class _Moving:
    before: Placed
    now: Placed
    carries: dict[int, PlacedCarry]


class _Flow:
    """Follows what repeats in a row carry, and what they and later statements read of earlier ones."""

    def __init__(self, known: set[Placed]) -> None:
        self.known = known  # made before the first stage
        self.between: set[Placed] = set()  # what repeats leave to each other
        self.slots: list[_Moving] = []
        self.trouble: list[tuple[str, str, Span]] = []

    def turn(self, repeat: PlacedRepeat, number: int) -> None:
        moving = []
        for carry in repeat.carries:
            found = next((s for s in self.slots if s.now is carry.before and s not in moving), None)
            if found is None:
                if carry.before in self.between:
                    self._cannot("a tensor that two stages' repeats begin from", _kept(carry.before), carry.before)
                    continue
                found = _Moving(carry.before, carry.before, {})
                self.slots.append(found)
            moving.append(found)
        own = {p for s in statements(repeat.body) for p in made(s)} | {c.start for c in repeat.carries}
        for placed in (p for s in repeat.body for p in reads(s)):
            if placed not in own:
                self._pass(placed, moving)
        for slot, carry in zip(moving, repeat.carries, strict=False):
            slot.carries[number], slot.now = carry, carry.after
            self.between.add(carry.after)

    def leave(self, after: Sequence[PlacedStatement]) -> None:
        own = {p for s in after for p in made(s)}
        for placed in (p for s in after for p in reads(s)):
            if placed not in own:
                self._pass(placed, [])

    def _pass(self, placed: Placed, moving: Sequence[_Moving]) -> None:
        """A tensor from before the stages, or between them, that is read later travels along."""
        still = [s for s in self.slots if s.now is placed and s not in moving]
        if placed in self.known and not any(not s.carries for s in still):
            self.slots.append(_Moving(placed, placed, {}))
            if placed.value.kind is Kind.INT:
                self._cannot("ids that stages hand on", "read the model's own input, which each stage has", placed)
        elif placed in self.between and not still:
            self._cannot("a tensor between two repeats in stages that is read later", _kept(placed), placed)

    def _cannot(self, what: str, cure: str, placed: Placed) -> None:
        self.trouble.append((what, cure, placed.value.span))


def _kept(placed: Placed) -> str:
    """What makes the end of a repeat a tensor of its own, which stages hand on beside what goes into the next one."""
    name = placed.value.name
    return f"keep it: kept = {name} before the repeat that makes it and in there at the end, and read kept later"
