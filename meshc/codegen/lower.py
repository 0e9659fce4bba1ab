"""Modules of the placed program as Python classes: one class for all instances that are printed alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from meshc.codegen import names
from meshc.codegen.body import Body
from meshc.codegen.context import Context, Dtype
from meshc.codegen.lines import Assign, Give, Writer, inlined, uses, without_dead
from meshc.codegen.pieces import listed
from meshc.codegen.stages import Part, in_stages
from meshc.codegen.text import (
    ANY,
    ATOM,
    Var,
    atom,
    broken,
    broken_signature,
    commas,
    comment,
    quoted,
    shown,
    text,
    tuple_of,
)
from meshc.codegen.views import ClassView, MethodView
from meshc.semantics.placed import (
    Placed,
    PlacedModule,
    PlacedStatement,
    PlacedUpdate,
)
from meshc.semantics.program import Dim, Init, Weight
from meshc.semantics.walk import statements


@dataclass(frozen=True)
class Lowered:
    """A module as its caller sees it. `extras` are what it takes besides its inputs: targets, their counts, a key.

    `parts` are the methods of a model that is cut into stages.
    """

    view: ClassView
    extras: tuple[object, ...]
    outputs: tuple[Dtype, ...]
    has_loss: bool
    has_metrics: bool
    has_state: bool
    reads: tuple[Placed, ...] | None = None  # inputs of the model's `predict`, where there is one
    parts: tuple[Part, ...] = ()


@dataclass
class Classes:
    """The classes of a program, in the order in which Python must read them."""

    context: Context
    by_code: dict[object, ClassView] = field(default_factory=dict)

    def lower(self, module: PlacedModule, stack: tuple[Dim, ...] = (), *, model: bool = False) -> Lowered:
        return Module(self, module, stack, model).lower()

    def shared(self, layer: str, key: object, make: Callable[[str], ClassView]) -> ClassView:
        """The class printed alike, or a new one."""
        if key not in self.by_code:
            name = names.identifier(layer.rpartition(".")[2], "Layer")
            self.by_code[key] = make(self.context.names.unique(name))
        return self.by_code[key]


class Module:
    def __init__(self, classes: Classes, module: PlacedModule, stack: tuple[Dim, ...], model: bool) -> None:
        self.classes = classes
        self.context = classes.context
        self.module = module
        self.stack = stack
        self.is_model = model
        self.children: list[tuple[str, ClassView, tuple[Dim, ...]]] = []
        self.updated = {s.update.weight.value for s in statements(module.body) if isinstance(s, PlacedUpdate)}

    def lower(self) -> Lowered:
        if self.is_model and self.context.placed.pipeline is not None:
            return in_stages(self, self.context.placed.pipeline)
        body = self.begun()
        body.run(self.module.body)
        outputs = () if self.is_model else self.module.outputs
        results = [body.operand(p, narrow=True) for p in outputs]
        loss, metrics = body.effects()
        if self.is_model and loss is None:
            loss = atom("jnp.float32(0)")
        results += [x for x in (loss, metrics) if x is not None]
        body.lines += [*body.puts, Give(listed(results))]
        methods = [self.method("__call__", body, self.module.inputs, returned(results))]
        reads = None
        if self.is_model and self.module.outputs:
            predict, reads = self.evaluated(self.module.body)
            methods.append(predict)
        view = self.view(methods)
        dtypes: tuple[Dtype, ...] = tuple(
            "float32" if self.context.dtype(p) == "float32" else "compute" for p in outputs
        )
        has_state = bool(self.updated) or body.has_state
        return Lowered(view, tuple(body.extras), dtypes, loss is not None, metrics is not None, has_state, reads)

    def begun(self) -> Body:
        """An empty body, with the carried tensors in hand that it may update."""
        body = Body(self, (), self.context.key)
        for weight in self.module.weights:
            if not weight.weight.trained:
                self.context.dtypes[weight.inside] = "wide"
        held = [Assign((w.inside,), body.weight(w.inside), keep=True) for w in self.module.weights
                if w.weight.value in self.updated and not w.weight.stack[len(self.stack):]]  # fmt: skip
        body.lines += held
        body.held = {line.targets[0] for line in held}
        return body

    def evaluated(
        self, body_of: Sequence[PlacedStatement], given: Sequence[Placed] = ()
    ) -> tuple[MethodView, tuple[Placed, ...]]:
        """The method that returns what the model does, from what it is given and the inputs that it reads."""
        children = list(self.children)
        body = Body(self, (), self.context.key, evaluating=True)
        body.run(body_of)
        self.children = children  # the same ones
        names_of = output_names(self.module.outputs)
        entries = [
            text(ANY, f"{quoted(n)}: ", body.operand(p)) for n, p in zip(names_of, self.module.outputs, strict=True)
        ]
        body.lines.append(Give(text(ATOM, "{", *commas(entries), "}")))
        read = uses(without_dead(body.lines))
        reads = tuple(p for p in self.module.inputs if read[p])
        body.extras = {}
        return self.method("predict", body, (*given, *reads), "dict[str, jax.Array]"), reads

    # ------------------------------------------------------------ printing

    def method(self, name: str, body: Body, inputs: Sequence[object], result: str) -> MethodView:
        """A body as a method that takes these inputs, and what it needs besides."""
        lines = inlined(without_dead(body.lines), self.wanted, 8)
        writer = Writer(self.wanted, frozenset(self.context.names.taken))
        parameters: list[str] = []
        annotated = ["self"]
        for target in (*inputs, *body.extras):
            parameters.append(writer.bind(target, {"self", *parameters}))
            annotated.append(f"{parameters[-1]}: {target.kind if isinstance(target, Var) else 'jax.Array'}")
        written = writer.write(lines, 8)
        return MethodView(tuple(broken_signature(name, annotated, result, 4)), tuple(written))

    def view(self, methods: Sequence[MethodView]) -> ClassView:
        init, doc, layer = tuple(self._init()), self._doc(), self.module.module.layer
        key = (layer, init, tuple(methods))
        return self.classes.shared(layer, key, lambda name: ClassView(name, doc, init, tuple(methods)))

    def _doc(self) -> str:
        span = self.module.module.span
        return comment(f"{'Model' if self.is_model else 'Layer'} of {shown(span.source.name)}:{span.line}.")

    def wanted(self, target: object) -> str:
        if isinstance(target, Var):
            return target.name
        assert isinstance(target, Placed)
        return names.identifier(target.value.name) + names.suffix(
            (d.name for d in self.context.dims(target.value)), self.context.letters
        )

    def _init(self) -> list[str]:
        lines: list[str] = []
        for placed in self.module.weights:
            lines += broken(f"self.{self.context.attributes[placed.weight.name]} = {self._param(placed.weight)}", 8)
        for name, view, stack in self.children:
            key = f"init.child(key, {quoted(name)})"
            made = f"{view.name}({key})"
            if stack:
                made = f"init.stacked({view.name}, {key}, {', '.join(self.context.constant(d) for d in stack)})"
            lines += broken(f"self.{self.context.attributes[name]} = {made}", 8)
        return lines or ["        del key  # nothing to draw"]

    def _param(self, weight: Weight) -> str:
        stack = (replace(d, size=d.real) for d in weight.stack[len(self.stack) :])  # stages are cut when all is drawn
        dims = (*stack, *weight.value.dims)
        arguments = ["key", quoted(weight.name), self.context.shape(dims), _drawn(weight.init)]
        if any(d.padded for d in dims):
            arguments.append(f"real={tuple_of([self.context.real(d) for d in dims])}")
        if self.context.train.precision.params != "float32" and (
            weight.trained or self.context.state_dtype == "float64"
        ):
            arguments.append("dtype=PARAMS")
        return f"init.{'param' if weight.trained else 'state'}({', '.join(arguments)})"


def output_names(outputs: tuple[Placed, ...]) -> list[str]:
    """What the model returns, by the spec's names, numbered where two are alike."""
    scope = names.Names()
    return [scope.unique(names.identifier(p.value.name)) for p in outputs]


def returned(results: Sequence[object]) -> str:
    """The type of what a method returns."""
    return "jax.Array" if len(results) == 1 else "tuple"


def _drawn(init: Init) -> str:
    match init.kind:
        case "fan_in":
            return f"std={init.fan_in}**-0.5"
        case "normal":
            return f"std={init.scale!r}"
        case "constant":
            return f"constant={init.scale!r}"
