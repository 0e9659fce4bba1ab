"""What a pipeline cuts: layers into stages, the batch into microbatches; and what else may lie on its axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from meshc.diagnostics.edits import line_after, removed
from meshc.diagnostics.model import Cure, Diagnostic, Edit, Label, Option
from meshc.diagnostics.suggest import divisors, legal_sizes, quoted
from meshc.semantics.alternatives import axis_may_be, dim_may_be, elsewhere, near, trades, with_axis
from meshc.semantics.checks.context import Context
from meshc.semantics.flat import Flat
from meshc.semantics.pipeline import Pipeline, layers_of_stages, row_of
from meshc.semantics.placed import Computed, Layout, Moved, Placed, PlacedProgram
from meshc.semantics.program import Contract, Dim, Lookup, Repeat, Rule, StageRule, View, Weight
from meshc.semantics.schedule import Schedule
from meshc.source import Span

# ---------------------------------------------------------------- layers


def stages_cut(context: Context) -> Iterator[Diagnostic]:
    """E0255 for stages of what the model does not repeat, E0301 for layers that do not divide, E0201 for two."""
    repeats = [s for s in context.placed.program.model.body if isinstance(s, Repeat)]
    first: StageRule | None = None
    for stage in context.placed.program.stages:
        names = [repeat.count.name for repeat in repeats]
        if stage.dim not in names:
            yield Diagnostic(
                "E0255",
                f"`{stage.dim}` is not what the model repeats",
                (Label(stage.place, "cuts it into stages"),),
                _to_repeat(context, names, stage.dim),
                cures=_of_repeats(context, stage, names),
            )
        elif first:
            labels = (Label(stage.place, f"over `{stage.axis}`"), Label(first.place, f"over `{first.axis}`"))
            cures = (Cure("", (Option("", (), (removed(stage.place),)),)),)
            yield Diagnostic(
                "E0201", "the layers are cut into stages twice", labels, ("keep one of them",), cures=cures
            )
        else:
            first = stage
            row = row_of(context.placed.program.model.body, stage)
            yield from _even(context, stage, [repeat.count for repeat in row])


def _of_repeats(context: Context, stage: StageRule, names: Sequence[str]) -> tuple[Cure, ...]:
    """A direct rule for what the model repeats."""
    declared = [name for name in dict.fromkeys(names) if name in context.placed.program.dims]
    texts = [f"stage {name} over {stage.axis}" for name in declared if stage.origin is None]
    return (Cure("", tuple(Option("", (), (Edit(stage.span, text),)) for text in texts)),)


def _to_repeat(context: Context, names: Sequence[str], dim: str) -> tuple[str, ...]:
    """`names` are those of the model's repeats; where a number counts one, no rule can name it."""
    declared = [name for name in dict.fromkeys(names) if name in context.placed.program.dims]
    if declared:
        return (f"the model repeats {quoted(declared)}",)
    return (f"declare {dim} among the dims, and write the layers as repeat {dim} {{ … }}",)


def _even(context: Context, stage: StageRule, dims: Sequence[Dim]) -> Iterator[Diagnostic]:
    size = context.placed.program.axis(stage.axis).size
    parts, layers = size * stage.rounds, sum(dim.size for dim in dims)
    name = " + ".join(dict.fromkeys(dim.name for dim in dims))
    labels = (Label(stage.place, f"cuts {name} into {parts}"), *(label for dim in dims for label in _declared(dim)))
    if layers_of_stages(stage, size, layers) is not None:
        return
    if stage.stages is not None:
        empty = f", {sum(n < 1 for n in stage.stages)} of them empty" if min(stage.stages, default=1) < 1 else ""
        message = (
            f"{len(stage.stages)} stages of {sum(stage.stages)} {name} are named{empty}: "
            f"{parts} of {layers} {name} are needed"
        )
        cures = [*_named_stages(stage, layers, parts), *_even_stages(stage)]
        yield Diagnostic("E0301", message, labels, cures=tuple(cures))
        return
    counted = f"{stage.axis} = {size}" if stage.rounds == 1 else f"{stage.axis} * rounds = {parts}"
    axis = context.placed.program.axis(stage.axis)
    legal = [n // stage.rounds for n in divisors(layers) if n % stage.rounds == 0]
    cures = [*axis_may_be(axis, legal), *_named_stages(stage, layers, parts)]
    if len(dims) == 1:
        cures += dim_may_be(dims[0].name, layers, legal_sizes(layers, parts))
    yield Diagnostic(
        "E0301",
        f"{layers} {name} cannot be cut into {counted} stages: {layers} % {parts} = {layers % parts}",
        labels,
        cures=(*cures, *trades(context.placed.program, axis, legal.__contains__), *elsewhere(axis, legal)),
    )


def _named_stages(stage: StageRule, layers: int, parts: int) -> Iterator[Cure]:
    """The layers of each stage, written out."""
    if layers >= parts:
        written = f"stages = {nearly_even(layers, parts)}"
        end = Span(stage.place.source, stage.place.end - 1, stage.place.end - 1)
        edit = (
            Edit(at, str(nearly_even(layers, parts))) if (at := _given(stage, "stages")) else Edit(end, f", {written}")
        )
        yield Cure(f"name the layers of each: {written}", (Option("", (), (edit,)),) if stage.origin else ())


def _even_stages(stage: StageRule) -> Iterator[Cure]:
    if at := _given(stage, "stages"):
        yield Cure("write stages = even", (Option("", (), (Edit(at, "even"),)),))


def _given(stage: StageRule, name: str) -> Span | None:
    """Where an option of the strategy is written, if it is written where the strategy is used."""
    at = stage.given.get(name)
    use = stage.place
    return at if at and at.source is use.source and use.start <= at.start and at.end <= use.end else None


def nearly_even(layers: int, stages: int) -> list[int]:
    """Layers of each stage, the first ones with one more."""
    return [layers // stages + (i < layers % stages) for i in range(stages)]


def _declared(dim: Dim) -> Sequence[Label]:
    return (Label(dim.span, f"{dim.name} is {dim.size}"),) if dim.span else ()


# ---------------------------------------------------------------- microbatches


def microbatches_divide(context: Context) -> Iterator[Diagnostic]:
    """E0301, of the first stage rule: the rows of a microstep are cut into microbatches, and these over devices."""
    batch, local = context.placed.batch, rows_of_a_device(context)
    stages = context.placed.program.stages
    if batch is None or local is None or not stages or local % stages[0].microbatches == 0:
        return
    stage, rows = stages[0], batch.size // context.placed.accumulated
    each = f"{local} of {rows} {batch.name} a device" if rows > local else f"{local} {batch.name}"
    declared = (Label(batch.span, f"{batch.name} is {batch.size}"),) if batch.span else ()
    yield Diagnostic(
        "E0301",
        f"{each} cannot be cut into {stage.microbatches} microbatches: "
        f"{local} % {stage.microbatches} = {local % stage.microbatches}",
        (Label(stage.place, f"cuts {batch.name} into {stage.microbatches}"), *declared),
        cures=tuple(_cures(context, stage, local)),
    )


def rows_of_a_device(context: Context) -> int | None:
    """Of a microstep's rows those of one device; None where they do not divide, which is another check's to say."""
    batch, steps = context.placed.batch, context.placed.accumulated
    parts = steps * context.shards(_axes_of_batch(context))
    return None if batch is None or batch.size % parts else batch.size // parts


def _axes_of_batch(context: Context) -> tuple[str, ...]:
    placed = context.placed
    layouts = [i.layout.axes[0] for i in placed.inputs if i.value.dims and i.value.dims[0] == placed.batch]
    return layouts[0] if layouts else ()


def _cures(context: Context, stage: StageRule, rows: int) -> Iterator[Cure]:
    batch, legal = context.placed.batch, filling(context, stage, rows)
    yield from other_microbatches(stage, legal, f"; {_idle_of(context, stage, legal)}" if legal else "")
    if batch is not None:
        yield from dim_may_be(
            batch.name, batch.size, legal_sizes(batch.size, batch.size // rows * stage.microbatches), True
        )


def filling(context: Context, stage: StageRule, rows: int) -> list[int]:
    """Numbers of microbatches that rows can be cut into and that fill the stages, which GPipe leaves empty."""
    least = 1 if stage.schedule == "gpipe" else context.placed.program.axis(stage.axis).size
    return [m for m in divisors(rows) if m >= least]


def other_microbatches(stage: StageRule, legal: Sequence[int], more: str = "") -> Iterator[Cure]:
    """`more` is said of them."""
    if at := _given(stage, "microbatches"):
        options = (Option(str(n), (), (Edit(at, str(n)),)) for n in near(legal, stage.microbatches))
        yield Cure(f"microbatches may be {{}}{more}", tuple(options))


def _idle_of(context: Context, stage: StageRule, legal: Sequence[int]) -> str:
    """How much of a step idles with numbers of microbatches, as few as there are stages and more."""
    size = context.placed.program.axis(stage.axis).size
    full = [m for m in legal if m >= size][:3] or legal[-1:]
    idle = ", ".join(f"{m} leaves {_idle(stage, size, m):.1%} of a step idle" for m in full)
    return f"with {size} stages, {idle}"


def _idle(stage: StageRule, size: int, microbatches: int) -> float:
    return Schedule(stage.schedule, size, microbatches, stage.rounds).idle_share()


# ---------------------------------------------------------------- what else lies on the axis


def stages_apart(context: Context) -> Iterator[Diagnostic]:
    """E0261: a dim of what stages work on is split over their own axis, along which each is at another layer."""
    pipeline = context.placed.pipeline
    if pipeline is None or not context.placed.sound:  # twice in a weight is said already
        return
    for item in context.flat.statements:
        if item.part != "stage":
            continue
        for placed in _touched(item):
            for dim, axes in zip(placed.value.dims, placed.layout.axes, strict=True):
                if set(axes) & set(pipeline.axes):
                    yield _not_apart(context, pipeline, placed, dim, item)
                    return


def regrouped_stages(context: Context) -> View | None:
    """The view, if there is one, that takes the stages' axis for something else."""
    program = context.placed.program
    axes = {stage.axis for stage in program.stages}
    return next((view for view in program.views if axes & set(view.group)), None)


def _touched(item: Flat) -> list[Placed]:
    match item.statement:
        case Computed(operands=operands, result=result):
            return [*(x for x in operands if isinstance(x, Placed)), result]
        case Moved(source=source, result=result):
            return [source, result]
        case _:
            return []


def _not_apart(context: Context, pipeline: Pipeline, placed: Placed, dim: Dim, item: Flat) -> Diagnostic:
    stage, view = pipeline.cut.rule, regrouped_stages(context)
    if view:
        rest = ", ".join(axis for axis in view.group if axis != stage.axis)
        return Diagnostic(
            "E0261",
            f"`{view.name}` regroups `{stage.axis}`, which cuts the layers into stages",
            (Label(view.span, f"takes {', '.join(view.group)} together, in layers"),
             Label(stage.place, f"each of `{stage.axis}` has other layers")),
            (f"leave it out: mesh {view.name} = regroup({rest}) {{ … }}" if rest else f"take it from `{view.name}`",),
        )  # fmt: skip
    rules = [r for r in context.placed.program.rules if dim.name in r.dims and stage.axis in r.axes]
    place = rules[0].place if rules else placed.value.span
    splits = f"splits {dim.name} of `{'.'.join((*item.path, placed.value.name))}`"
    return Diagnostic(
        "E0261",
        f"`{dim.name}` lies on `{stage.axis}` inside the layers that `{stage.axis}` cuts into stages",
        (Label(place, splits), Label(stage.place, f"each of `{stage.axis}` has other layers")),
        ("use another axis; only what comes before and after the layers can lie on it, such as vocab -> .., "
         f"{stage.axis}",),
        cures=_elsewhere(context, rules[0], stage.axis) if rules else (),
    )  # fmt: skip


def _elsewhere(context: Context, rule: Rule, axis: str) -> tuple[Cure, ...]:
    """The rule that splits what stages work on with another axis, or without it."""
    others = [a for a in context.placed.program.axes if a.size > 1 and a.name not in (axis, *rule.axes)]
    texts = [text for other in others if (text := with_axis(rule.place, axis, other.name))]
    options = tuple(Option(f"`{text}`", (), (Edit(rule.place, text),)) for text in texts)
    gone = Option(f"`{rule.place.text}`", (), (removed(rule.place),))
    return (Cure("or write {}", options), Cure("or take out {}", (gone,), unless="any"))


def stages_share(context: Context) -> Iterator[Diagnostic]:
    """W0307: matrices outside of the layers that all stages hold, and look up or multiply by, alike."""
    pipeline, placed = context.placed.pipeline, context.placed
    if pipeline is None or len(placed.program.stages) > 1 or not placed.sound or any(stages_apart(context)):
        return  # the axis is not free for that
    used = {placed_as.value for item in context.flat.statements if item.part in ("before", "after") and _is_work(item)
            for placed_as in _touched(item)}  # fmt: skip
    alike = [
        w.weight for w in placed.weights
        if w.weight.trained and w.weight.value in used and w.weight.value not in pipeline.cut.weights
        and len(w.weight.value.dims) > 1 and not set(w.use.sharded) & set(pipeline.axes)
    ]  # fmt: skip
    if not alike:
        return
    rule, size = pipeline.cut.rule, placed.program.axis(pipeline.cut.rule.axis).size
    names = quoted([weight.dotted for weight in alike])
    yield Diagnostic(
        "W0307",
        f"all {size} stages do the same work with {names}",
        (Label(rule.place, f"cuts the layers over `{rule.axis}`, and nothing else"),),
        tuple(_not_split(alike, rule.axis, _dims_of_stages(context))),
        cures=tuple(_splits(placed, alike, size, rule, _dims_of_stages(context))),
    )


def _is_work(item: Flat) -> bool:
    return isinstance(item.statement, Computed) and isinstance(item.statement.op, Contract | Lookup)


def _dims_of_stages(context: Context) -> set[str]:
    """Dims that cannot lie on the stages' axis."""
    inside = (placed for item in context.flat.statements if item.part == "stage" for placed in _touched(item))
    return {dim.name for placed in inside for dim in placed.value.dims}


def _not_split(weights: Sequence[Weight], axis: str, inside: set[str]) -> Iterator[str]:
    dims = list(dict.fromkeys(dim.name for weight in weights for dim in weight.value.dims))
    if set(dims) <= inside:
        yield f"the layers have all of their dims, {quoted(dims)}: only a dim of another name can lie on `{axis}`"


def _splits(
    placed: PlacedProgram, weights: Sequence[Weight], size: int, rule: StageRule, inside: set[str]
) -> Iterator[Cure]:
    """The largest dim that would do; `inside` are those that do not."""
    uses: dict[str, Layout] = {w.weight.dotted: w.use for w in placed.weights}
    dims = {dim.name: dim for weight in weights for dim in weight.value.dims if dim.name not in inside}
    for dim in sorted(dims.values(), key=lambda dim: -dim.size)[:1]:
        axes = max((_axes_of(uses[w.dotted], w, dim) for w in weights), key=len)
        shards = placed.shards(axes) * size
        claim = f"{dim.name} -> .., {rule.axis}"
        line = line_after(rule.place, claim)
        if dim.size % shards == 0:
            yield Cure(f"give each a part: {claim}", (Option("", (), (line,)),))
        elif dim.written:
            padded = f"pad({dim.real}, {shards})"
            says = f"give each a part: {dim.name} = {padded}, and {claim}"
            yield Cure(says, (Option("", (), (Edit(dim.written, padded), line)),))


def _axes_of(layout: Layout, weight: Weight, dim: Dim) -> tuple[str, ...]:
    return layout.axes[weight.value.dims.index(dim)] if dim in weight.value.dims else ()
