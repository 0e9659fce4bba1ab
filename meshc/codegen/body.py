"""The body of a module of the placed program, statement by statement, as lines of Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from meshc.codegen import names
from meshc.codegen.context import dtype_of
from meshc.codegen.expressions import Printer
from meshc.codegen.lines import Assign, Give, Line, Put, Run, Scan
from meshc.codegen.pieces import called, grouped, singular
from meshc.codegen.remembered import policy, repeats_within
from meshc.codegen.text import ANY, ATOM, PRODUCT, SUM, Text, Var, atom, call, commas, quoted, ref, text
from meshc.semantics.placed import (
    Computed,
    Moved,
    Placed,
    PlacedInvoke,
    PlacedLoss,
    PlacedMetric,
    PlacedRepeat,
    PlacedStatement,
    PlacedUpdate,
    Step,
)
from meshc.semantics.program import CrossEntropy, Dim, NextToken, Route, Value, Weight
from meshc.semantics.walk import reads, statements

if TYPE_CHECKING:
    from meshc.codegen.lower import Module


class Body:
    """The lines of a module's body, or of one turn of a repeat in it."""

    def __init__(self, module: Module, stack: tuple[Dim, ...], key: Var, evaluating: bool = False) -> None:
        self.module = module
        self.context = module.context
        self.stack = stack  # repeats of this module around these statements
        self.lines: list[Line] = []
        self.extras: dict[object, None] = {}  # an ordered set
        self.losses: list[Text] = []
        self.metrics: list[Text] = []  # entries of a dict
        self.puts: list[Put] = []
        self.has_state = False
        self.held: set[object] = set()
        self.routings: dict[Route, Var] = {}  # records of how tokens were sent
        self.local: dict[Value, Placed] = {}  # weights of this turn, scanned over
        self.instances: dict[str, Var] = {}  # instances of this turn
        self.turn_key = key
        self._evaluating = evaluating
        self.beside_repeat = False  # a turn with another repeat in it
        self.stacked_puts: list[tuple[Weight, Text]] = []
        self.stateful: list[tuple[str, Var]] = []
        self.uses_key = False
        self.turns: dict[PlacedRepeat, Var] = {}  # of repeats that are cut: what a stage has of them
        self.printer = Printer(self)

    # ------------------------------------------------------------ what expressions ask

    @property
    def evaluating(self) -> bool:
        """Whether these lines make the model's outputs: without losses, and nothing is dropped out."""
        return self._evaluating

    @property
    def sums_in_float32(self) -> bool:
        return self.context.sums_in_float32

    @property
    def recompute(self) -> bool:
        return self.context.recompute

    def letters(self, dims: Sequence[Dim]) -> str:
        own = [self.context.letters.get(d.name, "") for d in dims]
        if all(own):
            return "".join(own)
        return "abcdefghijklmnopqrstuvwxyz"[: len(dims)]

    def extent(self, dim: Dim) -> str:
        whole = self.context.real(dim)
        batch = self.context.placed.batch
        micro = batch is not None and dim.name == batch.name and self.context.placed.microsteps > 1
        return f"({whole} // MICROSTEPS)" if micro else whole

    def route(self, value: Value) -> Route | None:
        return self.context.placed.routes.get(value)

    def routing(self, route: Route) -> Text:
        return ref(self.routings[route])

    def zigzag(self, dim: Dim) -> int | None:
        return self.context.zigzag(dim)

    def count(self, placed: Placed) -> Text:
        return ref(self._extra(self.context.count(placed.value)))

    def key(self, name: str) -> Text:
        if self.evaluating:
            return atom("None")
        self.uses_key = True
        if self.turn_key is self.context.key:
            self._extra(self.context.key)
        return call("init.child", ref(self.turn_key), quoted(name))

    def function(self, target: str) -> str:
        return self.context.function(target)

    def operand(self, placed: Placed, *, narrow: bool = False) -> Text:
        value = placed.value
        if any(made is placed for made in self.context.placed.targets.values()):
            self._extra(placed)
        weight = self.context.weights.get(value)
        at_rest = weight is not None and placed is weight.inside and placed not in self.held
        expression = self.weight(placed) if at_rest else ref(placed)
        if narrow and self.context.dtype(placed) == "wide":
            return text(ATOM, (expression, ATOM), ".astype(COMPUTE)")
        return expression

    def carried(self, placed: Placed) -> Text:
        """In the compute dtype whatever it is: a repeat hands on what it was given."""
        if self.context.dtype(placed) == "float32":
            return text(ATOM, (self.operand(placed), ATOM), ".astype(COMPUTE)")
        return self.operand(placed, narrow=True)

    def weight(self, placed: Placed) -> Text:
        """A weight before any gather, in the compute dtype."""
        weight = self.context.weights[placed.value].weight
        if placed.value in self.local:
            expression = ref(self.local[placed.value])
        else:
            expression = atom(f"self.{self.context.attributes[weight.name]}[...]")
        if weight.trained and self.context.casts_weights:
            return text(ATOM, (expression, ATOM), ".astype(COMPUTE)")
        return expression

    def _extra(self, target: object) -> object:
        self.extras[target] = None
        return target

    # ------------------------------------------------------------ statements

    def run(self, body: Sequence[PlacedStatement]) -> None:
        for statement in body:
            match statement:
                case Computed():
                    self._computed(statement)
                case Moved():
                    self._moved(statement)
                case PlacedInvoke():
                    self._invoke(statement)
                case PlacedRepeat():
                    self._repeat(statement)
                case PlacedLoss():
                    self.losses.append(self._share(statement.value))
                case PlacedMetric():
                    path = quoted(".".join(statement.metric.path))
                    self.metrics.append(text(ANY, f"{path}: ", self._share(statement.value)))
                case PlacedUpdate():
                    self._update(statement)

    def _computed(self, computed: Computed) -> None:
        expression = self.printer.expression(computed)
        if isinstance(computed.op, NextToken | CrossEntropy):
            self.context.shares.add(computed.result.value)
        self._spread_share(computed)
        self.context.dtypes[computed.result] = dtype_of(computed, self.context)
        if isinstance(computed.op, Route):
            record = self.routings[computed.op] = Var("routing")
            self.lines.append(Assign((computed.result, record), expression, keep=True))
        else:
            self._assign(computed.result, expression)

    def _spread_share(self, computed: Computed) -> None:
        """What is computed from a share of the step's mean is a share too."""
        if any(isinstance(x, Placed) and x.value in self.context.shares for x in computed.operands):
            self.context.shares.add(computed.result.value)

    def _assign(self, result: Placed, expression: Text) -> None:
        """A line of its own only where the spec named the value and this is its last form."""
        self.lines.append(Assign((result,), expression, keep=result.value.named))

    def _moved(self, moved: Moved) -> None:
        is_weight = moved.source.value in self.context.weights
        is_state = is_weight and not self.context.weights[moved.source.value].weight.trained  # stays as wide as it is
        travels = any(s.kind not in ("all_reduce", "reduce_scatter", "all_reduce_max") for s in moved.steps)
        narrow = travels and bool(moved.source.value.dims) and not is_state
        expression = self.operand(moved.source, narrow=narrow)
        for step in moved.steps:
            expression = self.context.helpers.step(expression, self._as_it_lies(step, moved), weight=is_weight)
        dtype = self.context.dtype(moved.source)
        self.context.dtypes[moved.result] = "compute" if narrow and dtype == "wide" else dtype
        self._release(moved.source)
        self.lines.append(Assign((moved.result,), expression, keep=moved.source.value.named and not is_weight))

    def _as_it_lies(self, step: Step, moved: Moved) -> Step:
        """A movement of a routed tensor, whose rows stand in place of tokens and experts, by numbers of its dims."""
        value = moved.source.value
        lying = self.context.dims(value)

        def at(dim: int | None) -> int | None:
            return None if dim is None else lying.index(value.dims[dim])

        return step if lying == value.dims else replace(step, dim=at(step.dim), source=at(step.source))

    def _release(self, source: Placed) -> None:
        """A named value that only its movement reads need not stand alone before it."""
        for i, line in enumerate(self.lines):
            if isinstance(line, Assign) and line.targets == (source,) and not line.effect:
                self.lines[i] = Assign(line.targets, line.value)

    def _share(self, value: Placed) -> Text:
        """A scalar as this microstep's part of the step's mean."""
        expression = self.operand(value)
        if self.context.placed.microsteps == 1 or value.value in self.context.shares:
            return expression
        return text(PRODUCT, (expression, PRODUCT), " / MICROSTEPS")

    def _update(self, statement: PlacedUpdate) -> None:
        weight = statement.update.weight
        value = call("lax.stop_gradient", self.operand(statement.value))
        if self.context.name_of_dtype(statement.value) != self.context.state_dtype:
            value = text(ATOM, value, f".astype(jnp.{self.context.state_dtype})")
        if weight.stack[len(self.module.stack) :]:
            self.stacked_puts.append((weight, value))
        else:
            self.puts.append(Put(f"self.{self.context.attributes[weight.name]}[...]", value))

    # ------------------------------------------------------------ calls

    def _invoke(self, invoke: PlacedInvoke) -> None:
        module = invoke.module.module
        lowered = self.module.classes.lower(invoke.module, (*self.module.stack, *self.stack))
        self.module.children.append((module.name, lowered.view, self.stack))
        arguments = [self.operand(p, narrow=True) for p in invoke.inputs]
        arguments += [self.key(module.name) if x is self.context.key else ref(self._extra(x)) for x in lowered.extras]
        attribute = self.context.attributes[module.name]
        callee = self._instance(attribute)
        if self.beside_repeat and not lowered.has_state and (kept := policy(invoke.module.body, self.context)):
            callee = call("jax.checkpoint", callee, policy=kept)
        expression = called(callee, arguments)
        if lowered.has_state:
            self.has_state = True
            if self.stack:
                self.stateful.append((attribute, self.instances[attribute]))
        for placed, inner, dtype in zip(invoke.outputs, invoke.module.outputs, lowered.outputs, strict=True):
            self.context.dtypes[placed] = dtype
            if inner.value in self.context.shares:
                self.context.shares.add(placed.value)
        targets: list[object] = list(invoke.outputs)
        if lowered.has_loss:
            targets.append(Var("loss"))
            self.losses.append(ref(targets[-1]))
        if lowered.has_metrics:
            targets.append(Var("metrics"))
            self.metrics.append(text(ANY, "**", (ref(targets[-1]), ATOM)))
        if not targets:
            self.lines.append(Run(expression))
            return
        effect = lowered.has_loss or lowered.has_metrics or lowered.has_state
        keep = len(targets) > 1 or (isinstance(targets[0], Placed) and targets[0].value.named)
        self.lines.append(Assign(tuple(targets), expression, effect=effect, keep=keep))

    def _instance(self, attribute: str) -> Text:
        """A called layer; in a repeat, this turn's part of the stacked one."""
        if not self.stack:
            return atom(f"self.{attribute}")
        return ref(self.instances.setdefault(attribute, Var(names.snake(attribute))))

    def effects(self) -> tuple[Text | None, Text | None]:
        """The sum of the loss terms and a dict of the metrics, where there are any."""
        if self.evaluating:
            return None, None
        loss = None
        for term in self.losses:
            loss = term if loss is None else text(SUM, (loss, SUM), " + ", (term, PRODUCT))
        if not self.metrics:
            return loss, None
        if len(self.metrics) == 1 and self.metrics[0].pieces[0] == "**":
            return loss, Text(self.metrics[0].pieces[1:], ATOM)
        return loss, text(ATOM, "{", *commas(self.metrics), "}")

    # ------------------------------------------------------------ repeats

    def _repeat(self, statement: PlacedRepeat) -> None:
        turns = self.turns.get(statement)
        turn = Body(self.module, (*self.stack, statement.count), Var("key"), self.evaluating)
        turn.routings = dict(self.routings)
        over = self._scanned_weights(statement, turn)
        for carry in statement.carries:
            self.context.dtypes[carry.start] = self.context.dtypes[carry.after] = "compute"
            if carry.before.value in self.context.shares:
                self.context.shares |= {carry.start.value, carry.after.value}
        turn.beside_repeat = not self.evaluating and repeats_within(statement.body)
        turn.run(statement.body)
        for extra in turn.extras:
            self._extra(extra)
        count = self.context.constant(statement.count)
        if turn.uses_key:
            outer_key = self.key(statement.count.name)
            keys = call("init.turns", outer_key, count)
            over.append((text(ATOM, ref(turns), ".of(", keys, ")") if turns else keys, turn.turn_key))
        made = self._stacked_effects(turn, count if turns else None)
        after: list[Line] = []
        self._stacked_state(turn, made, after)
        ends = [turn.carried(c.end) for c in statement.carries]
        results = [x for _, x in made]
        turn.lines += turn.puts
        turn.lines.append(Give(text(ANY, grouped(ends), ", ", grouped(results))))
        self.lines.append(
            Scan(
                Var(singular(statement.count.name)),
                self._decorator(statement),
                tuple((self.carried(c.before), c.start, c.after) for c in statement.carries),
                tuple(over),
                tuple(target for target, _ in made),
                tuple((self._instance(attribute), local) for attribute, local in turn.instances.items()),
                Var("structure"),
                Var("weights"),
                count,
                tuple(turn.lines),
                ref(turns) if turns else None,
            )
        )
        self.lines += after

    def _scanned_weights(self, statement: PlacedRepeat, turn: Body) -> list[tuple[Text, object]]:
        """The module's own weights that a turn reads: the stacked whole, and what it is in the turn."""
        turn.local = dict(self.local)
        depth = len(self.module.stack) + len(turn.stack)
        own = [w for w in self.module.module.weights if len(w.weight.stack) >= depth]
        over: list[tuple[Text, object]] = []
        for weight in own:
            if not any(weight.inside in reads(s) for s in statements(statement.body)):
                continue
            inside = Placed(weight.weight.value, weight.inside.layout)
            turn.local[weight.weight.value] = inside
            outer = self.local.get(weight.weight.value)
            attribute = self.context.attributes[weight.weight.name]
            over.append((ref(outer) if outer else atom(f"self.{attribute}[...]"), inside))
        return over

    def _stacked_effects(self, turn: Body, of: str | None) -> list[tuple[object, Text]]:
        """Loss terms and metrics come out of the scan stacked: added up; averaged, in a stage by `of`, all turns."""
        loss, metrics = turn.effects()
        made: list[tuple[object, Text]] = []
        if loss is not None:
            made.append((Var("losses"), loss))
            self.losses.append(text(ATOM, (ref(made[-1][0]), ATOM), ".sum()"))
        if metrics is not None:
            made.append((Var("metrics"), metrics))
            average = f"m.sum(0) / {of}" if of else "m.mean(0)"
            mean = text(ATOM, f"jax.tree.map(lambda m: {average}, ", ref(made[-1][0]), ")")
            self.metrics.append(text(ANY, "**", mean))
        return made

    def _stacked_state(self, turn: Body, made: list[tuple[object, Text]], after: list[Line]) -> None:
        """State inside a repeat comes out of the scan stacked, and is put back whole."""
        for weight, value in turn.stacked_puts:
            var = Var(names.identifier(weight.name))
            made.append((var, value))
            attribute = self.context.attributes[weight.name]
            if self.stack:
                self.stacked_puts.append((weight, ref(var)))
            else:
                self.puts.append(Put(f"self.{attribute}[...]", ref(var)))
        for attribute, local in turn.stateful:
            self.has_state = True
            var = Var(f"{names.snake(attribute).rstrip('_')}_state")
            made.append((var, call("nnx.state", ref(local), "init.Carried")))
            after.append(Run(call("nnx.update", self._instance(attribute), ref(var))))
            if self.stack:
                self.stateful.append((attribute, self.instances[attribute]))

    def _decorator(self, statement: PlacedRepeat) -> str:
        pipeline = self.context.placed.pipeline
        if self.evaluating or repeats_within(statement.body) or (pipeline and pipeline.alone(statement)):
            return ""
        kept = policy(statement.body, self.context)
        return f"@functools.partial(jax.checkpoint, policy={kept})" if kept else ""
