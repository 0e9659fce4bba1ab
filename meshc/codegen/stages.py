"""A model whose repeats are cut into stages: a class with what comes before them, one stage, and what comes after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from meshc.codegen import names
from meshc.codegen.body import Body
from meshc.codegen.expressions import axes_literal
from meshc.codegen.lines import Give, uses, without_dead
from meshc.codegen.pieces import grouped, listed
from meshc.codegen.text import Text, Var, atom, broken, quoted, tuple_of
from meshc.codegen.views import Argument, MethodView, PipelineView
from meshc.semantics.pipeline import Pipeline, Slot
from meshc.semantics.placed import Placed, PlacedRepeat, PlacedWeight

if TYPE_CHECKING:
    from meshc.codegen.context import Context
    from meshc.codegen.lower import Lowered, Module


PREDICT = "predict"


@dataclass(frozen=True)
class Part:
    """One method of the model, as its caller sees it: what it takes of a microbatch, and what it yields besides."""

    name: str
    inputs: tuple[Placed, ...]  # the model's inputs that it reads
    extras: tuple[object, ...]
    has_loss: bool
    has_metrics: bool


def in_stages(module: Module, pipeline: Pipeline) -> Lowered:
    return _Stages(module, pipeline).lower()


class _Stages:
    def __init__(self, module: Module, pipeline: Pipeline) -> None:
        self.module = module
        self.context = module.context
        self.pipeline = pipeline
        self.parts: list[Part] = []
        self.has_state = bool(module.updated)

    def lower(self) -> Lowered:
        from meshc.codegen.lower import Lowered

        methods = [self._before(), self._stage(), self._after()]
        reads = None
        if self.module.module.outputs:
            given = tuple(slot.after for slot in self.pipeline.slots)
            predict, of_after = self.module.evaluated(self.pipeline.after, given)
            methods.append(predict)
            earlier = {p for part in self.parts[:2] for p in part.inputs}
            reads = tuple(p for p in self.context.placed.inputs if p in earlier or p in of_after)
            self.parts.append(Part(PREDICT, of_after, (), False, False))
        extras = dict.fromkeys(extra for part in self.parts for extra in part.extras)
        has_metrics = any(part.has_metrics for part in self.parts)
        view = self.module.view(methods)
        return Lowered(view, tuple(extras), (), True, has_metrics, self.has_state, reads, tuple(self.parts))

    def _before(self) -> MethodView:
        body = self.module.begun()
        body.run(self.pipeline.before)
        carry = [body.carried(slot.before) for slot in self.pipeline.slots]
        for slot in self.pipeline.slots:
            self.context.dtypes[slot.before] = "compute"
        return self._method("before", body, (), carry)

    def _stage(self) -> MethodView:
        body = self.module.begun()
        entering, repeats = _entering(self.pipeline)
        turns = [Var(f"{_counted(r)}_turns" if len(repeats) > 1 else "turns", "pipeline.Turns") for r in repeats]
        body.turns = dict(zip(repeats, turns, strict=True))
        body.run(repeats)
        leaving = [slot.after if any(slot.carries) else placed for slot, placed in self._slots(entering)]
        return self._method("stage", body, (*entering, *turns), [body.carried(p) for p in leaving])

    def _slots(self, entering: Sequence[Placed]) -> Iterator[tuple[Slot, Placed]]:
        return zip(self.pipeline.slots, entering, strict=True)

    def _after(self) -> MethodView:
        body = self.module.begun()
        body.run(self.pipeline.after)
        return self._method("after", body, tuple(slot.after for slot in self.pipeline.slots), None)

    def _method(self, name: str, body: Body, given: Sequence[object], carry: Sequence[Text] | None) -> MethodView:
        loss, metrics = body.effects()
        told = [x for x in (loss, metrics) if x is not None]
        if carry is None and not told:
            told = [atom("jnp.float32(0)")]
        results = told if carry is None else [grouped(carry) if carry else atom("()"), *told]
        body.lines += [*body.puts, Give(listed(results))]
        read = uses(without_dead(body.lines))
        inputs = tuple(p for p in self.context.placed.inputs if read[p])
        has_loss = loss is not None or (carry is None and metrics is None)
        self.parts.append(Part(name, inputs, tuple(body.extras), has_loss, metrics is not None))
        self.has_state = self.has_state or body.has_state
        returned = "jax.Array" if len(results) == 1 else "tuple"
        return self.module.method(name, body, (*given, *inputs), returned)


def _entering(pipeline: Pipeline) -> tuple[tuple[Placed, ...], tuple[PlacedRepeat, ...]]:
    """What a stage is given, and its repeats, which begin from that.

    What a repeat carries on gets a name of its own there: what was made before the stages may travel along as it is.
    """
    entering: list[Placed] = []
    renamed: dict[Placed, Placed] = {}  # by what the first repeat that carries it calls it at the start of a turn
    for slot in pipeline.slots:
        first = next((carry for carry in slot.carries if carry is not None), None)
        entering.append(slot.before if first is None else Placed(slot.before.value, slot.before.layout))
        if first is not None:
            renamed[first.start] = entering[-1]
    repeats = (
        replace(r, carries=tuple(replace(c, before=renamed.get(c.start, c.before)) for c in r.carries))
        for r in pipeline.repeats
    )
    return tuple(entering), tuple(repeats)


def _counted(repeat: PlacedRepeat) -> str:
    return names.identifier(repeat.count.name, "turn")


# ---------------------------------------------------------------- the step


def pipeline_view(
    context: Context, model: Lowered, arguments: Sequence[Argument], has_carried: bool
) -> PipelineView | None:
    """`arguments` are what `loss_and_grads` takes of a batch: inputs, then what the model takes besides."""
    pipeline = context.placed.pipeline
    if pipeline is None:
        return None
    variables = dict(zip((*context.placed.inputs, *model.extras), arguments, strict=True))
    carry = "carry"
    if len(pipeline.slots) == 1:
        value = pipeline.slots[0].before.value
        carry = names.identifier(value.name) + names.suffix((d.name for d in value.dims), context.letters)
        carry = carry if carry not in {a.variable for a in arguments} | set(names.STEP) else "carry"
    before, stage, after, *predict = (
        tuple(_function(context, part, variables, carry, has_carried)) for part in model.parts
    )
    values = [a.scanned or a.variable for a in _cut(arguments)]
    if context.placed.microsteps == 1:
        values = [f"{a.variable}[None]" for a in _cut(arguments)]
    batch = tuple_of(values)
    read = {a.variable for a in (variables[p] for p in model.reads or ())}
    predicted = [value if a.variable in read else "None" for value, a in zip(values, _cut(arguments), strict=True)]
    return PipelineView(
        tuple(_table(context, pipeline)),
        (before, stage, after),
        batch,
        pipeline.microbatches,
        context.placed.accumulated,
        (before, stage, *predict) if predict else (),
        tuple_of(predicted),
    )


def _cut(arguments: Sequence[Argument]) -> list[Argument]:
    return [a for a in arguments if a.cut]


def _function(
    context: Context, part: Part, variables: Mapping[object, Argument], carry: str, has_carried: bool
) -> Iterator[str]:
    """The method as a function of weights and microbatch, for `pipeline.run`."""
    taken = [variables[target] for target in (*part.inputs, *part.extras)]
    unpacked = [a.variable if a in taken else "_" for a in variables.values() if a.cut]
    repeats = len(context.placed.pipeline.repeats) if context.placed.pipeline else 0
    parameters = ["weights: dict", "carried: dict" if has_carried else "_: dict"]
    given = [a.variable for a in taken]
    slots = len(context.placed.pipeline.slots) if context.placed.pipeline else 0
    whole = carry if slots == 1 else "*carry"
    match part.name:
        case "before":
            parameters += ["micro: tuple"]
        case "stage":
            parameters += [f"{carry}: jax.Array" if slots == 1 else "carry: tuple", "micro: tuple", "turns: tuple"]
            given = [whole, *(["turns[0]"] if repeats == 1 else ["*turns"]), *given]
        case _:
            parameters += [f"{carry}: jax.Array" if slots == 1 else "carry: tuple", "micro: tuple"]
            given = [whole, *given]
    if all(name == "_" for name in unpacked):
        parameters = [p if p != "micro: tuple" else "__: tuple" for p in parameters]
    result = {"after": "pipeline.Told", PREDICT: "dict"}.get(part.name, "tuple")
    yield f"def {'after' if part.name == PREDICT else part.name}({', '.join(parameters)}) -> {result}:"
    if any(name != "_" for name in unpacked):
        yield f"    {', '.join(unpacked)}{',' if len(unpacked) == 1 else ''} = micro"
    renamed = ", renamed=RENAMED" if any(a != n for n, a in context.attributes.items()) else ""
    yield f"    net = init.assemble(model, weights{' | carried' if has_carried else ''}{renamed})"
    if part.name == PREDICT:
        yield from broken(f"return net.predict({', '.join(given)})", 4)
        return
    results = [*([carry] if part.name != "after" else [])]
    results += [name for name, has in (("loss", part.has_loss), ("metrics", part.has_metrics)) if has]
    call = f"net.{part.name}({', '.join(given)})"
    yield from broken(f"{', '.join(results)} = {call}", 4)
    told = []
    if part.has_loss:
        told.append("loss")
    if part.has_metrics:
        told.append("metrics" if part.has_loss else "metrics=metrics")
    if has_carried:
        told.append(f"carried=init.flat(net, {quoted(context.placed.model.module.name)}, init.Carried{renamed})")
    if part.name == "after":
        yield from broken(f"return pipeline.Told({', '.join(told)})", 4)
    else:
        yield from broken(f"return {carry}, pipeline.Told({', '.join(told)})", 4)


def _table(context: Context, pipeline: Pipeline) -> Iterator[str]:
    cut = pipeline.cut
    arguments = [quoted(cut.rule.schedule), f"stages={cut.stages}", f"microbatches={pipeline.microbatches}"]
    if cut.rule.rounds > 1:
        arguments.append(f"rounds={cut.rule.rounds}")
    staged = dict.fromkeys(_begin(w.weight.path) for w in context.placed.weights if w.weight.value in cut.weights)
    options = [
        axes_literal(pipeline.axes, always_tuple=True),
        f"pipeline.schedule({', '.join(arguments)})",
        f"turns={tuple_of([tuple_of([str(n) for n in turns]) for turns in cut.turns])}",
        f"staged={tuple_of([quoted(path) for path in staged])}",
    ]
    if pipeline.shared:
        options.append(f"shared={tuple_of([quoted(w.weight.dotted) for w in pipeline.shared])}")
    yield from broken(f"PIPELINE = pipeline.Pipeline({', '.join(options)})")


def _begin(path: tuple[str, ...]) -> str:
    """The model's own weight, or the instance of its own that a weight belongs to."""
    return ".".join(path[:2])


def stage_orders(pipeline: Pipeline | None, weight: PlacedWeight) -> dict[int, str]:
    """The code of the order of a staged weight's stack at rest, where that is not the natural one."""
    number = None if pipeline is None else pipeline.cut.weights.get(weight.weight.value)
    if pipeline is None or number is None:
        return {}
    order = pipeline.cut.order(number)
    return {} if order == tuple(range(len(order))) else {0: f"PIPELINE.order({number})"}
