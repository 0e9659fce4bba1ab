"""The resolved program: names bound, dims sized, layers called, strategies expanded.

What `resolve` yields and `place` reads. A `Value` is one tensor with named dims; an operation makes one value from
others. Two values are the same only if they are the same object. A module is one call of a layer (or the model), with
its own parameters and body; the body is in the order in which it runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

from meshc.source import SourceFile, Span

# ---------------------------------------------------------------- dims and axes


@dataclass(frozen=True, slots=True)
class Dim:
    """A tensor dim.

    `size` is what devices hold; `real` is the size without padding (`pad(50257, 128)`: 50304 and 50257).
    A primed dim (`embed'`) is a dim of its own, of the same size, with no rules at rest.
    `span` is where it is declared, `written` where its size is.
    """

    name: str
    size: int
    real: int
    span: Span | None = field(default=None, compare=False)
    written: Span | None = field(default=None, compare=False, repr=False)

    @property
    def base(self) -> str:
        return self.name.rstrip("'")

    @property
    def padded(self) -> bool:
        return self.real != self.size


@dataclass(frozen=True, slots=True)
class Axis:
    """A mesh axis. `span` is its name where it is declared, `declared` the whole of `name = size`.

    `assumed`: its size is `*` and no slice is known; 2 stands for it, so that what does not depend on sizes is found.
    """

    name: str
    size: int
    span: Span | None = field(default=None, compare=False)
    assumed: bool = field(default=False, compare=False)
    declared: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class View:
    """`mesh name = regroup(group) { axes }`: a second factorisation of some axes of the mesh."""

    name: str
    group: tuple[str, ...]
    axes: tuple[Axis, ...]
    span: Span


# ---------------------------------------------------------------- values


class Kind(Enum):
    FLOAT = "float"
    INT = "int"


@dataclass(frozen=True, eq=False)
class Value:
    """A tensor. `name` is the spec's name for it, or a suggestion for one that the spec leaves unnamed."""

    name: str
    dims: tuple[Dim, ...]
    kind: Kind
    span: Span
    named: bool = False  # the spec gave it its name

    def __repr__(self) -> str:
        return f"{self.name}[{', '.join(d.name for d in self.dims)}]"


@dataclass(frozen=True, slots=True)
class Init:
    """How initial values are drawn.

    `fan_in` is normal with variance 1 / fan_in; `normal` has standard deviation `scale`; `constant` is `scale`.
    """

    kind: Literal["fan_in", "normal", "constant"]
    scale: float = 1.0
    fan_in: int = 1


@dataclass(frozen=True, eq=False)
class Weight:
    """A parameter or (`state`) a tensor carried from step to step.

    `path` is global: `("Llama", "block", "attention", "wq")`. `value.dims` are the dims that a layer sees; `stack` the
    repeats around it, outermost first, which lead its shape in the stacked whole.
    """

    path: tuple[str, ...]
    value: Value
    init: Init
    stack: tuple[Dim, ...]
    trained: bool = True

    @property
    def name(self) -> str:
        return self.path[-1]

    @property
    def dotted(self) -> str:
        """The path as rules, reports and checkpoints write it: `Llama.block.attention.wq`."""
        return ".".join(self.path)

    @property
    def dims(self) -> tuple[Dim, ...]:
        """All dims of the stacked whole, as it lies on devices and on disk."""
        return self.stack + self.value.dims


# ---------------------------------------------------------------- operations


@dataclass(frozen=True, eq=False)
class Elementwise:
    """`function` of the operands, broadcast by dim name.

    The result's dims are those of the first operand that has all, else in order of appearance.
    Functions: add sub mul div pow neg square sqrt rsqrt exp log abs tanh sigmoid silu gelu gelu_tanh relu softplus
    maximum minimum sign float32. A plain number may stand for an operand.
    """

    function: str
    operands: tuple[Value | float, ...]
    result: Value
    span: Span


@dataclass(frozen=True, eq=False)
class Contract:
    """`left @ right`: sums over the `over` dims, which both have.

    Dims that both have and that the left keeps (a bank) are batched.
    """

    left: Value
    right: Value
    over: tuple[Dim, ...]
    result: Value
    span: Span


@dataclass(frozen=True, eq=False)
class Lookup:
    """`table[ids]`: rows of the table's `row` dim, by id."""

    table: Value
    ids: Value
    row: Dim
    result: Value
    span: Span


@dataclass(frozen=True, eq=False)
class Reduce:
    """`function` (mean, sum, max, logsumexp) over dims. A mean over a padded dim divides by its real size."""

    function: str
    operand: Value
    over: tuple[Dim, ...]
    result: Value
    span: Span


@dataclass(frozen=True, eq=False)
class Softmax:
    operand: Value
    over: Dim
    result: Value
    span: Span


@dataclass(frozen=True, slots=True)
class Slowed:
    """Rotary positions for longer sequences than a model began with: pairs that turn slowly are slowed by `factor`.

    linear: all of them. llama3, yarn (arXiv:2309.00071): those that turn fewer than `low` times in `original`
    positions; those that turn more than `high` times keep their speed; between, the two are mixed: llama3 by the
    number of turns, yarn by the pair's number, from a `whole` one to a whole one.
    """

    kind: Literal["linear", "llama3", "yarn"]
    factor: float
    original: int = 0
    low: float = 1.0
    high: float = 1.0
    whole: bool = True


@dataclass(frozen=True, eq=False)
class Rope:
    """Rotary positions (RoFormer, arXiv:2104.09864).

    Rotates pairs of the last dim by the position along `along`: (i, i + n/2), or (2i, 2i + 1) where `interleaved`.
    The result is multiplied by `magnitude`.
    """

    operand: Value
    along: Dim
    theta: float
    interleaved: bool
    scaling: Slowed | None
    magnitude: float
    result: Value
    span: Span


@dataclass(frozen=True, eq=False)
class Attend:
    """Scaled dot-product attention.

    q is [..., seq, heads, head_dim]; k and v [..., seq, kv_heads, head_dim]; the result has q's dims (with v's last).
    scale: what products are multiplied by; None: 1 / sqrt(head_dim)
    cap: scores are softly held within it, cap * tanh(score / cap) (Gemma 2, arXiv:2408.00118)
    sinks: [heads], a score beside those of the keys that softmax counts and that no value belongs to (gpt-oss)
    segments: [..., seq] of ids, q's dims without heads and head_dim: a query sees only keys of its own
    chunk: a query sees only keys of its own chunk of so many positions
    """

    q: Value
    k: Value
    v: Value
    seq: Dim
    heads: Dim
    kv_heads: Dim
    causal: bool
    window: int | None
    scale: float | None
    cap: float | None
    sinks: Value | None
    segments: Value | None
    chunk: int | None
    result: Value
    span: Span

    @property
    def by_position(self) -> bool:
        """Whether what a query sees depends on where it is in the sequence."""
        return self.causal or self.window is not None or self.chunk is not None or self.seq.padded


@dataclass(frozen=True, eq=False)
class Dropout:
    """Zeroes a share `rate` and scales the rest.

    `path` keys the mask together with seed, step, microstep and global coordinates.
    """

    operand: Value
    rate: float
    path: tuple[str, ...]
    result: Value
    span: Span


@dataclass(frozen=True, eq=False)
class Concat:
    """Operands side by side along `along`; each has a dim of its own there (`parts`), the result has `along`.

    An operand without some other dim of the result is the same all along it.
    """

    operands: tuple[Value, ...]
    parts: tuple[Dim, ...]
    along: Dim
    result: Value
    span: Span


@dataclass(frozen=True, eq=False)
class Split:
    """One part of `operand`: the range of `along` that starts at `start`, called `part` in the result."""

    operand: Value
    along: Dim
    part: Dim
    start: int
    result: Value
    span: Span


@dataclass(frozen=True, eq=False)
class Rename:
    """The same tensor with `old` called `new` (a primed dim becoming the plain one)."""

    operand: Value
    old: Dim
    new: Dim
    result: Value
    span: Span


@dataclass(frozen=True, eq=False)
class NextToken:
    """Mean cross entropy of predicting the next id along `seq` from `logits`, over the real targets of the global
    batch.

    `ids` is a model input, as is `segments`, where a next id in another one is no target.
    """

    logits: Value
    ids: Value
    vocab: Dim
    seq: Dim
    segments: Value | None
    result: Value
    span: Span


@dataclass(frozen=True, eq=False)
class CrossEntropy:
    """Mean cross entropy of `ids` themselves under `logits`, over the ids that are not negative.

    `ids` is a model input.
    """

    logits: Value
    ids: Value
    vocab: Dim
    result: Value
    span: Span


@dataclass(frozen=True, eq=False)
class Custom:
    """A user's primitive: `module:function` on local shapes; the `whole` dims are not split inside."""

    name: str
    target: str
    operands: tuple[Value, ...]
    whole: tuple[Dim, ...]
    result: Value
    span: Span


@dataclass(frozen=True, eq=False)
class Route:
    """Tokens sent to the `top_k` experts with the largest `by`.

    The result has the operand's dims and an `experts` dim, ragged. `bias` selects and does not weigh. Each token's
    weights are its scores there, divided by their sum where `normalise`, times `scale`. Of `groups` of experts only
    the `top_groups` best are selected from (DeepSeek-V3, arXiv:2412.19437). `capacity` is what an expert takes, in
    even shares of a microbatch's tokens; None: all that come.
    """

    operand: Value
    by: Value
    experts: Dim
    top_k: int
    bias: Value | None
    capacity: float | None
    normalise: bool
    scale: float
    groups: int
    top_groups: int
    result: Value
    span: Span


@dataclass(frozen=True, eq=False)
class Combine:
    """The experts' outputs back in token order, weighted."""

    operand: Value
    routed: Value
    result: Value
    span: Span


@dataclass(frozen=True, eq=False)
class LoadBalance:
    """The auxiliary loss of Switch Transformer (arXiv:2101.03961, eq. 4) over a microbatch's global tokens."""

    routed: Value
    result: Value
    span: Span


@dataclass(frozen=True, eq=False)
class Load:
    """The share of a microbatch's global tokens that each expert is sent, [experts]; no gradient goes through it."""

    routed: Value
    result: Value
    span: Span


Op = (
    Elementwise | Contract | Lookup | Reduce | Softmax | Rope | Attend | Dropout | Concat | Split | Rename
    | NextToken | CrossEntropy | Custom | Route | Combine | LoadBalance | Load
)  # fmt: skip

# ---------------------------------------------------------------- statements


@dataclass(frozen=True, eq=False)
class Invoke:
    """A call of a layer. `outputs` are the caller's values; `module.outputs` the callee's, in the same order."""

    module: Module
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Carry:
    """A value that a repeat hands from turn to turn.

    What it is before, inside at the start of a turn, inside at its end, and after.
    """

    before: Value
    start: Value
    end: Value
    after: Value


@dataclass(frozen=True, eq=False)
class Repeat:
    """`count` turns of `body`, scanned. Weights of the body carry `count` in their `stack`."""

    count: Dim
    carries: tuple[Carry, ...]
    body: tuple[Statement, ...]
    span: Span


@dataclass(frozen=True, eq=False)
class Loss:
    """Adds the mean of `value` over all its dims to the loss."""

    value: Value
    span: Span


@dataclass(frozen=True, eq=False)
class Metric:
    """Logs the global mean of `value`, under `path`."""

    path: tuple[str, ...]
    value: Value
    span: Span


@dataclass(frozen=True, eq=False)
class Update:
    """`weight := value`, for the next step."""

    weight: Weight
    value: Value
    span: Span


Statement = Op | Invoke | Repeat | Loss | Metric | Update


@dataclass(frozen=True, eq=False)
class Module:
    """One call of a layer, or the model itself.

    `name` is the instance's (unique within its parent), `layer` the layer's. `weights` are its own; `inputs` its own
    values for the tensors it is given. The modules it calls are in its body, also inside repeats.
    """

    name: str
    layer: str
    path: tuple[str, ...]
    weights: tuple[Weight, ...]
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    body: tuple[Statement, ...]
    span: Span  # the layer's name where it is defined


# ---------------------------------------------------------------- rules


@dataclass(frozen=True, eq=False)
class StrategyUse:
    """A strategy as used in `partition`; `span` is the call. Rules written directly in `partition` have none."""

    name: str
    text: str
    span: Span


class Rest(Enum):
    """Which tensors a rule speaks of: those in use, or weights, gradients, optimizer state at rest."""

    USE = "use"
    PARAMS = "params"
    GRADS = "grads"
    OPTIMIZER = "optimizer"

    __hash__ = object.__hash__  # Enum's own hashes the name, in Python, at each look-up


@dataclass(frozen=True, eq=False)
class Rule:
    """One claim, strategies expanded and axes bound.

    Axes of size 1 are gone; a rule left without axes by that is gone too.
    `within` names the layer or primitive (nested ones outermost first) it is confined to; `of` is a weight path or
    glob.
    `axes` empty and not `append`: the dims are cleared.
    `stacks`: of a rule that a pipeline stands for, the weights that it speaks of.
    """

    rest: Rest
    within: tuple[str, ...]
    of: str | None
    dims: tuple[str, ...]
    first: bool
    axes: tuple[str, ...]
    append: bool
    where_free: bool
    zigzag: bool
    repeat: bool
    origin: StrategyUse | None
    span: Span
    stacks: frozenset[str] | None = None

    @property
    def place(self) -> Span:
        """Where the user wrote it: the use of the strategy that it is of, else itself."""
        return self.origin.span if self.origin else self.span


@dataclass(frozen=True, eq=False)
class ExchangeRule:
    within: tuple[str, ...]
    what: str
    method: str
    axis: str
    origin: StrategyUse | None
    span: Span

    @property
    def place(self) -> Span:
        """Where the user wrote it: the use of the strategy that it is of, else itself."""
        return self.origin.span if self.origin else self.span


@dataclass(frozen=True, eq=False)
class StageRule:
    """`stage dim over axis`, with the options of the pipeline strategy that it came from."""

    dim: str
    axis: str
    microbatches: int
    schedule: str
    rounds: int
    stages: tuple[int, ...] | None
    origin: StrategyUse | None
    span: Span
    given: Mapping[str, Span] = field(default_factory=dict)  # where options are written

    @property
    def place(self) -> Span:
        """Where the user wrote it: the use of the strategy that it is of, else itself."""
        return self.origin.span if self.origin else self.span


@dataclass(frozen=True, eq=False)
class Program:
    """A spec with every name bound.

    `dims` are all that `dims { }` declares. `uses` are the strategies used, also those that left no rule (an axis of
    size 1). `gathered` is what fsdp's option says: `again` or `kept`.
    """

    source: SourceFile
    axes: tuple[Axis, ...]
    mesh_span: Span | None
    views: tuple[View, ...]
    dims: dict[str, Dim]
    model: Module
    uses: tuple[StrategyUse, ...]
    rules: tuple[Rule, ...]
    exchanges: tuple[ExchangeRule, ...]
    stages: tuple[StageRule, ...]
    gathered: Literal["again", "kept"]

    def axis(self, name: str) -> Axis:
        return next(a for v in (self, *self.views) for a in v.axes if a.name == name)
