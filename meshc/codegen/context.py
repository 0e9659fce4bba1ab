"""What all parts of one program share while it is lowered: names, constants, letters, helpers, dtypes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from meshc.codegen import names
from meshc.codegen.helpers import Helpers, Kept
from meshc.codegen.routed import lying
from meshc.codegen.text import Var, tuple_of
from meshc.job.model import BYTES, Train
from meshc.semantics.placed import (
    Computed,
    Moved,
    Placed,
    PlacedInvoke,
    PlacedModule,
    PlacedProgram,
    PlacedStatement,
    PlacedWeight,
)
from meshc.semantics.program import (
    CrossEntropy,
    Dim,
    Dropped,
    Elementwise,
    Load,
    LoadBalance,
    NextToken,
    Reduce,
    Route,
    Softmax,
    Value,
)
from meshc.semantics.walk import everything

Dtype = Literal["compute", "wide", "float32"]
"""compute: as the job says; wide: float32 because a sum is, until it moves; float32: because the spec says so."""


def modules(module: PlacedModule) -> Iterator[PlacedModule]:
    yield module
    for statement in everything(module.body):
        if isinstance(statement, PlacedInvoke):
            yield statement.module


@dataclass
class Context:
    placed: PlacedProgram
    train: Train
    names: names.Names = field(default_factory=names.module_names)  # of the generated module
    constants: dict[tuple[str, int], str] = field(default_factory=dict)  # (dim, size) -> constant
    functions: dict[str, str] = field(default_factory=dict)  # "module:function" -> imported as
    counts: dict[Value, Var] = field(default_factory=dict)  # number of real targets, by tensor of targets
    dtypes: dict[Placed, Dtype] = field(default_factory=dict)
    shares: set[Value] = field(default_factory=set)  # values that are parts of the mean over the whole step
    key: Var = field(default_factory=lambda: Var("key"))

    def __post_init__(self) -> None:
        self.weights: dict[Value, PlacedWeight] = {w.weight.value: w for w in self.placed.weights}
        self.axis_names = tuple(self.placed.sizes)
        self.attributes = self._attributes()
        self.letters = names.legend(self._dims())
        self.helpers = Helpers(self.names, self._kept())

    def _attributes(self) -> dict[str, str]:
        """Attribute of each weight's and instance's name; one name has one attribute everywhere."""
        scope = names.Names()
        wanted = {part for w in self.placed.weights for part in w.weight.path[1:]}
        wanted |= {m.module.name for m in modules(self.placed.model) if m is not self.placed.model}
        plain = sorted(n for n in wanted if names.attribute(n) == n)
        found = {n: scope.unique(n) for n in plain}
        for name in sorted(wanted - set(plain)):
            found[name] = scope.unique(names.attribute(name))
        return found

    def _dims(self) -> Iterator[str]:
        yield from self.placed.program.dims
        for statement in everything(self.placed.model.body):
            match statement:
                case Computed(operands=operands, result=result):
                    for placed in (*operands, result):
                        if isinstance(placed, Placed):
                            yield from (d.name for d in self.dims(placed.value))

    def dims(self, value: Value) -> tuple[Dim, ...]:
        """A tensor's dims as they lie on devices."""
        return lying(value, self.placed.routes.get(value))

    def _kept(self) -> Kept | None:
        """Whose gathers must be named, so that the remat policy can tell weights from activations."""
        kept = self.placed.program.gathered == "kept"
        if self.train.remat in ("dots", "full"):
            return "weight" if kept else None
        return None if kept else "activation"

    # ------------------------------------------------------------ names

    def constant(self, dim: Dim) -> str:
        """The module-level constant of a dim's size."""
        key = (dim.base, dim.size)
        if key not in self.constants:
            self.constants[key] = self.names.unique(names.constant(dim.base))
        return self.constants[key]

    def real(self, dim: Dim) -> str:
        return str(dim.real) if dim.padded else self.constant(dim)

    def zigzag(self, dim: Dim) -> int | None:
        """Into how many pairs of chunks a dim in zigzag order is cut."""
        order = self.placed.order(dim)
        return order.parts if order else None

    def orders(self, dims: Sequence[Dim]) -> dict[int, str]:
        """The code of each order that is not the natural one, by number of the dim."""
        turned = ((at, dim, self.zigzag(dim)) for at, dim in enumerate(dims))
        return {at: f"runtime.zigzag({self.constant(dim)}, {parts})" for at, dim, parts in turned if parts}

    def shape(self, dims: Sequence[Dim]) -> str:
        return tuple_of([self.constant(d) for d in dims]) if dims else "()"

    def function(self, target: str) -> str:
        if target not in self.functions:
            self.functions[target] = self.names.unique(names.identifier(target.rpartition(":")[2]))
        return self.functions[target]

    def count(self, targets: Value) -> Var:
        if targets not in self.counts:
            number = len(self.counts)
            self.counts[targets] = Var("count" if not number else f"{names.identifier(targets.name)}_count")
        return self.counts[targets]

    # ------------------------------------------------------------ precision

    @property
    def sums_in_float32(self) -> bool:
        return BYTES[self.train.precision.compute] < 4

    @property
    def casts_weights(self) -> bool:
        return self.train.precision.params != self.train.precision.compute

    @property
    def recompute(self) -> bool:
        return self.train.remat == "attention"

    @property
    def state_dtype(self) -> str:
        """How carried tensors lie: float32 or wider, whatever the weights are."""
        return "float64" if self.train.precision.params == "float64" else "float32"

    def name_of_dtype(self, placed: Placed) -> str:
        compute = self.train.precision.compute
        return "float32" if self.dtype(placed) != "compute" else compute

    def dtype(self, placed: Placed) -> Dtype:
        return self.dtypes.get(placed, "compute") if self.sums_in_float32 else "compute"


def gathers_weights(body: Iterable[PlacedStatement], weights: dict[Value, PlacedWeight]) -> bool:
    """Whether a body, or a layer it calls, gathers a weight for use."""
    return any(
        isinstance(s, Moved) and s.source.value in weights and any(t.kind.startswith("all_gather") for t in s.steps)
        for s in everything(body)
    )


def dtype_of(computed: Computed, context: Context) -> Dtype:
    """In which dtype a result comes out where activations are narrower than float32."""
    held = {context.dtype(x) for x in computed.operands if isinstance(x, Placed)}
    match computed.op:
        case Elementwise(function="float32"):
            return "float32"
        case Route():
            return "compute"
        case Load() | LoadBalance() | Dropped():
            return "wide"
        case Reduce(function="mean" | "sum" | "logsumexp") | Softmax() | NextToken() | CrossEntropy():
            return "float32" if "float32" in held else "wide"
        case Elementwise():
            return "float32" if "float32" in held else "wide" if "wide" in held else "compute"
        case _:
            return "float32" if "float32" in held else "compute"
