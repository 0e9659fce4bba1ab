"""The whole program as a view: tables, classes, the step and what stands around them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence

from meshc.codegen import places
from meshc.codegen.chain import optimizer_view
from meshc.codegen.context import Context
from meshc.codegen.inside import inside
from meshc.codegen.lower import Classes, Lowered, output_names
from meshc.codegen.names import STEP, Names, identifier, suffix
from meshc.codegen.stages import pipeline_view, stage_orders
from meshc.codegen.summary import summary
from meshc.codegen.text import WIDTH, Var, broken, broken_signature, comment, quoted, shown, tuple_of
from meshc.codegen.views import Argument, Constant, PredictView, ProgramView, StepView
from meshc.job.model import Data, Job, Precision
from meshc.semantics.collectives import Collective
from meshc.semantics.links import Network
from meshc.semantics.placed import Computed, Placed, PlacedProgram, PlacedStatement, PlacedWeight
from meshc.semantics.program import Dim, Kind, Rest, Value
from meshc.semantics.segments import segment_inputs
from meshc.semantics.walk import everything


def program_view(
    placed: PlacedProgram, job: Job, collectives: Sequence[Collective], network: Network | None = None
) -> ProgramView:
    context = Context(placed, job.train)
    lowered = Classes(context)
    model = lowered.lower(placed.model, model=True)
    trained = [w for w in placed.weights if w.weight.trained]
    carried = [w for w in placed.weights if not w.weight.trained]
    inputs = tuple(line for p in placed.inputs for line in _input(context, p))
    inputs += tuple(line for key, made in placed.targets.items() for line in _target(context, *key, made))
    step = _step(context, model, trained, bool(carried))
    source = placed.program.source
    return ProgramView(
        title=_title(placed),
        source=shown(source.name),
        name=quoted(placed.model.module.name),
        model=model.view.name,
        spec_hash=hashlib.sha256(source.text.encode()).hexdigest(),
        legend=tuple(_legend(context)),
        summary=tuple(summary(placed, job, collectives, network)),
        imports=tuple(_imports(context)),
        constants=tuple(_constants(context, job)),
        mesh=tuple(_mesh(placed)),
        renamed=_renamed(context),
        inputs=inputs,
        placement=places.table("PLACEMENT", trained, Rest.PARAMS),
        grads=places.changed("GRADS", "PLACEMENT", trained, Rest.GRADS, Rest.PARAMS),
        optimizer_place=places.changed("OPTIMIZER", "PLACEMENT", trained, Rest.OPTIMIZER, Rest.PARAMS),
        carried=places.table("CARRIED", carried, Rest.PARAMS) if carried else (),
        real_shapes=tuple(_real_shapes(context, placed.weights)),
        orders=tuple(_orders(context)),
        helpers=tuple(context.helpers.made.values()),
        inside=tuple(inside(context)),
        classes=tuple(lowered.by_code.values()),
        step=step,
        predict=_predict(context, model, bool(carried)),
        optimizer=optimizer_view(job.train),
        data=_data(job.data),
        checkpoint=_checkpoint(job),
        out=quoted(f"runs/{identifier(source.name.rpartition('/')[2].removesuffix('.mesh'), 'run')}"),
        init_from=f" or {quoted(job.checkpoint.init_from)}" if job.checkpoint.init_from else "",
        float64="float64" in (job.train.precision.params, job.train.precision.compute),
    )


def _title(placed: PlacedProgram) -> str:
    name = comment(placed.model.module.name)
    if not placed.sizes:
        return f"{name} on one device."
    axes = " x ".join(f"{a} {n}" for a, n in placed.sizes.items())
    return f"{name} on {placed.devices} devices: {axes}."


def _legend(context: Context) -> Iterator[str]:
    """`B batch   L seq`, the letters of shapes in names, a few lines of them."""
    used = {d.name for s in everything(context.placed.model.body) for d in _dims_of(context, s)}
    entries = [f"{letter} {comment(dim)}" for dim, letter in context.letters.items() if dim in used]
    line = ""
    for entry in entries:
        if line and len(line) + len(entry) > 100:
            yield line
            line = ""
        line += f"   {entry}" if line else entry
    if line:
        yield line


def _dims_of(context: Context, statement: PlacedStatement) -> Iterator[Dim]:
    if isinstance(statement, Computed):
        for placed in (*statement.operands, statement.result):
            if isinstance(placed, Placed):
                yield from context.dims(placed.value)


def _imports(context: Context) -> Iterator[str]:
    for target, name in context.functions.items():
        module, _, function = target.rpartition(":")
        yield f"from {module} import {function}" + (f" as {name}" if function != name else "")


def _constants(context: Context, job: Job) -> Iterator[Constant]:
    train = job.train
    reals = {(d.base, d.size): d.real for d in _all_dims(context) if d.padded}
    for (dim, size), name in context.constants.items():
        real = reals.get((dim, size))
        yield Constant(name, str(size), f"{real} padded" if real else "")
    yield Constant("STEPS", str(train.steps))
    yield Constant("SEED", str(train.seed))
    if context.placed.microsteps > 1:
        yield Constant("MICROSTEPS", str(context.placed.microsteps), "microbatches a step, gradients added up")
    yield from _precision(train.precision, context)


def _precision(precision: Precision, context: Context) -> Iterator[Constant]:
    if precision.params != "float32":
        yield Constant("PARAMS", f"jnp.{precision.params}", "weights at rest")
    if context.casts_weights or context.sums_in_float32:
        yield Constant("COMPUTE", f"jnp.{precision.compute}", "weights are cast to it where they are used")


def _all_dims(context: Context) -> Iterator[Dim]:
    yield from context.placed.program.dims.values()
    for weight in context.placed.weights:
        yield from weight.weight.dims


def _mesh(placed: PlacedProgram) -> list[str]:
    axes = ", ".join(f"{quoted(a)}: {n}" for a, n in placed.sizes.items())
    cut = [f"# {axis} is {' x '.join(parts)}" for axis, parts in placed.refined.cut.items()]
    return [*broken(f"MESH = {{{axes}}}"), *cut]


def _renamed(context: Context) -> str:
    pairs = [f"{quoted(a)}: {quoted(n)}" for n, a in context.attributes.items() if a != n]
    return "\n".join(broken(f"RENAMED = {{{', '.join(pairs)}}}")) if pairs else ""


def _real_shapes(context: Context, weights: Iterable[PlacedWeight]) -> Iterator[str]:
    for weight in weights:
        dims = weight.weight.dims
        if any(d.padded for d in weight.weight.value.dims):
            yield f"    {quoted(weight.weight.dotted)}: {tuple_of([context.real(d) for d in dims])},"


def _orders(context: Context) -> Iterator[str]:
    for weight in context.placed.weights:
        if orders := {**stage_orders(context.placed.pipeline, weight), **context.orders(weight.weight.dims)}:
            yield f"    {quoted(weight.weight.dotted)}: {_listed(orders)},"


def _listed(orders: dict[int, str]) -> str:
    return f"{{{', '.join(f'{at}: {code}' for at, code in orders.items())}}}"


# ---------------------------------------------------------------- inputs and the step


def _input(context: Context, placed: Placed) -> list[str]:
    is_ids = placed.value.kind is Kind.INT
    dtype = "int32" if is_ids else context.train.precision.compute
    segments = segment_inputs(context.placed.program)
    of_segments = placed.value in segments
    high = (segments[placed.value] if of_segments else _high(context, placed.value)) if is_ids else None
    arguments = [quoted(dtype), _spec(placed, context.placed.microsteps > 1), f"high={high}"]
    return _input_lines(context, placed, arguments + ["segments=True"] * of_segments)


def _target(context: Context, ids: Value, segments: Value | None, made: Placed) -> list[str]:
    """An input that the host makes of another one."""
    micro = context.placed.microsteps > 1
    arguments = [quoted("int32"), _spec(made, micro), f"high={_high(context, ids)}", f"next_of={quoted(ids.name)}"]
    if len(ids.dims) != 2:
        arguments.append(f"along={len(ids.dims) - 1}")
    if segments is not None:
        arguments.append(f"within={quoted(segments.name)}")
    return _input_lines(context, made, arguments)


def _input_lines(context: Context, placed: Placed, arguments: Sequence[str]) -> list[str]:
    dims = [context.constant(d) for d in placed.value.dims]
    if context.placed.microsteps > 1:
        dims = ["MICROSTEPS", f"{dims[0]} // MICROSTEPS", *dims[1:]]
    orders = context.orders(placed.value.dims)
    options = [f"order={_listed(orders)}"] if orders else []
    if any(d.padded for d in placed.value.dims):
        options.append(f"real={tuple_of([context.real(d) for d in placed.value.dims])}")
    code = f"{quoted(placed.value.name)}: runtime.Input({', '.join([tuple_of(dims), *arguments, *options])})"
    lines = broken(code, 4, tail=",")
    words = comment(", ".join(d.name for d in placed.value.dims))
    whole = f"{lines[0]}  # {words}"
    return [whole] if len(lines) == 1 and len(whole) <= WIDTH else lines


def _spec(placed: Placed, micro: bool) -> str:
    axes = placed.layout.axes
    return places.spec_of(((), *axes) if micro else axes)


def _high(context: Context, value: Value) -> int:
    """The end of an input's ids."""
    return context.placed.program.counts[value.name].real


def _step(context: Context, model: Lowered, trained: Sequence[PlacedWeight], has_carried: bool) -> StepView:
    arguments = tuple(_arguments(context, model))
    values = [n for n, has in (("metrics", model.has_metrics), ("carried", has_carried)) if has]
    state = ["state.weights", *(["state.carried"] if has_carried else [])]
    own = ["model: nnx.GraphDef", "weights: dict[str, jax.Array]", *(["carried: dict[str, jax.Array]"] * has_carried)]
    parameters = own + [f"{a.variable}: jax.Array" for a in arguments]
    rest_specs = ["PLACEMENT", *(["CARRIED"] * has_carried)]
    micro = [a for a in arguments if a.micro]
    ignored = ["_"] * len(values)
    return StepView(
        signature=tuple(broken_signature("loss_and_grads", parameters)),
        model_call=", ".join(a.variable for a in arguments),
        has_metrics=model.has_metrics,
        has_carried=has_carried,
        before=places.cast_lines(trained, context),
        each=places.way_lines(trained, lambda w: w.to_grads, context),
        once=places.way_lines(trained, lambda w: w.to_optimizer, context),
        accumulator=places.summed_table(trained),
        microsteps=context.placed.microsteps,
        micro_names=", ".join(a.variable for a in micro) + ("," if len(micro) == 1 else ""),
        micro_values=tuple_of([a.scanned or a.variable for a in micro]) if micro else "None",
        values=", ".join([*state, *(a.value for a in arguments)]),
        in_specs=tuple_of([*rest_specs, *(a.spec for a in arguments)]),
        out_specs=tuple_of(["P()", *("P()" if v == "metrics" else "CARRIED" for v in values), "OPTIMIZER"]),
        results=", ".join(["loss", *values, "grads"]),
        results_of_grads=", ".join(["loss", *ignored, "grads"]),
        moves_weights=any(w.to_rest for w in trained),
        pipeline=pipeline_view(context, model, arguments, has_carried),
    )


def _predict(context: Context, model: Lowered, has_carried: bool) -> PredictView | None:
    if model.reads is None:
        return None
    micro = context.placed.microsteps > 1
    arguments = dict(zip(context.placed.inputs, _arguments(context, model), strict=False))
    variables = [arguments[placed].variable for placed in model.reads]
    own = ["model: nnx.GraphDef", "weights: dict[str, jax.Array]", *(["carried: dict[str, jax.Array]"] * has_carried)]
    outputs = context.placed.model.outputs
    specs = [f"{quoted(n)}: {_spec(p, micro)}" for n, p in zip(output_names(outputs), outputs, strict=True)]
    carried = ["CARRIED"] * has_carried
    return PredictView(
        signature=tuple(
            broken_signature("outputs", own + [f"{v}: jax.Array" for v in variables], "dict[str, jax.Array]")
        ),
        names=", ".join(variables),
        values=", ".join(
            [
                "state.weights",
                *(["state.carried"] * has_carried),
                *(f"batch[{quoted(p.value.name)}]" for p in model.reads),
            ]
        ),
        in_specs=tuple_of(["PLACEMENT", *carried, *(_spec(p, micro) for p in model.reads)]),
        out_specs=f"{{{', '.join(specs)}}}",
        whole=tuple(_whole_outputs(context)),
    )


def _whole_outputs(context: Context) -> Iterator[str]:
    """Outputs whose dims are padded, or in another order, on devices: without that."""
    ahead = context.placed.microsteps > 1
    for name, placed in zip(output_names(context.placed.model.outputs), context.placed.model.outputs, strict=True):
        dims = placed.value.dims
        code = made = f"made[{quoted(name)}]"
        if orders := context.orders(dims):
            code = f"runtime.natural({code}, {_listed({at + ahead: order for at, order in orders.items()})})"
        if any(dim.padded for dim in dims):
            code += f"[{', '.join([':'] * ahead + [f':{d.real}' if d.padded else ':' for d in dims])}]"
        if code != made:
            yield f"{made} = {code}"


def _arguments(context: Context, model: Lowered) -> Iterator[Argument]:
    """Inputs, then what the model takes besides: targets, their counts, a key."""
    micro = context.placed.microsteps > 1
    scope = Names((*STEP, *context.names.taken))
    variables: dict[object, str] = {}
    for placed in context.placed.inputs:
        variables[placed.value] = scope.unique(_name(context, placed))
        value = f"batch[{quoted(placed.value.name)}]"
        yield Argument(variables[placed.value], value, _spec(placed, micro), micro)
    counted = {var: targets for targets, var in context.counts.items()}
    for extra in model.extras:
        if isinstance(extra, Placed):
            variable = variables[extra.value] = scope.unique(_name(context, extra))
            yield Argument(variable, f"batch[{quoted(extra.value.name)}]", _spec(extra, micro), micro)
        elif extra is context.key:
            value = "jax.random.fold_in(jax.random.key(SEED), state.step)"
            yield Argument(scope.unique("key"), value, "P()", micro, scanned="jax.random.split(key, MICROSTEPS)")
        else:
            assert isinstance(extra, Var)
            of = f"batch[{quoted(counted[extra].name)}]"
            yield Argument(scope.unique(extra.name), f"ops.count({of})", "P()", False, False)


def _name(context: Context, placed: Placed) -> str:
    return identifier(placed.value.name) + suffix((d.name for d in placed.value.dims), context.letters)


# ---------------------------------------------------------------- data and files


def _data(data: Data) -> str:
    match data.source:
        case "python-stdlib":
            return (
                "runtime.PythonStdlib()"
                if data.tokenizer == "bytes"
                else f"runtime.PythonStdlib({quoted(data.tokenizer)})"
            )
        case "text":
            return f"runtime.Text({_paths(data)}, {quoted(data.tokenizer)})"
        case "tokens":
            separator = "" if data.separator is None else f", separator={data.separator}"
            return f"runtime.Tokens({_paths(data)}, {quoted(data.token_dtype)}{separator})"
        case "synthetic":
            return "runtime.Synthetic()"


def _paths(data: Data) -> str:
    return f"[{', '.join(quoted(p) for p in data.paths)}]"


def _checkpoint(job: Job) -> str:
    made = job.checkpoint
    folder = "" if made.dir == "checkpoints" else f", dir={quoted(made.dir)}"
    return f"runtime.Checkpoint(every={made.every}, keep={made.keep}{folder})"
