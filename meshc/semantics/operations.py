"""The resolved program's operations: each makes one value from others. One frozen class each, looked up like a list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from meshc.semantics.tensors import Dim, Value
from meshc.source import Span


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


@dataclass(frozen=True, eq=False)
class Dropped:
    """The share of a microbatch's global choices that their experts have no room for; no gradient goes through it."""

    routed: Value
    result: Value
    span: Span


Op = (
    Elementwise | Contract | Lookup | Reduce | Softmax | Rope | Attend | Dropout | Concat | Split | Rename
    | NextToken | CrossEntropy | Custom | Route | Combine | LoadBalance | Load | Dropped
)  # fmt: skip
