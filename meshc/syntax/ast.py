"""The tree of a `.mesh` file: one frozen class for each concept of the language, each with its place in the text."""

from __future__ import annotations

from dataclasses import dataclass

from meshc.source import SourceFile, Span


@dataclass(frozen=True, slots=True)
class Name:
    """An identifier.

    `text` may be dotted (`m.Block`, `Llama.table`) where a path may stand; a dim's keeps its primes (`embed'`).
    """

    text: str
    span: Span


# ---------------------------------------------------------------- expressions


@dataclass(frozen=True, slots=True)
class Number:
    value: int | float
    span: Span


@dataclass(frozen=True, slots=True)
class Text:
    """A string literal; `value` is without quotes and escapes."""

    value: str
    span: Span


@dataclass(frozen=True, slots=True)
class Literal:
    """`true`, `false` or `none`."""

    value: bool | None
    span: Span


@dataclass(frozen=True, slots=True)
class Ref:
    """A name used as a value: a tensor, a dim, a constant, an option word such as `kept`."""

    name: Name

    @property
    def span(self) -> Span:
        return self.name.span


@dataclass(frozen=True, slots=True)
class Unary:
    """`-x` or `not x`."""

    op: str
    operand: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Binary:
    """`op` is one of + - * / // % ** @ == != < <= > >= and or."""

    op: str
    left: Expr
    right: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Keyword:
    """One `name = value` of a call."""

    name: Name
    value: Expr


@dataclass(frozen=True, slots=True)
class Call:
    """`callee(args, keywords)`, and its instance name when it ends in `as alias`."""

    callee: Name
    args: tuple[Expr, ...]
    keywords: tuple[Keyword, ...]
    alias: Name | None
    span: Span


@dataclass(frozen=True, slots=True)
class Index:
    """`table[ids]`."""

    table: Expr
    ids: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class ListExpr:
    items: tuple[Expr, ...]
    span: Span


Expr = Number | Text | Literal | Ref | Unary | Binary | Call | Index | ListExpr

# ---------------------------------------------------------------- statements of layers and models


@dataclass(frozen=True, slots=True)
class Param:
    """`param a, b: [bank] ins -> outs = init`, or `param a: [dims] = init`.

    In the second form `outs` holds the dims and `ins` is None.
    """

    names: tuple[Name, ...]
    bank: tuple[Name, ...]
    ins: tuple[Name, ...] | None
    outs: tuple[Name, ...]
    init: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class State:
    name: Name
    dims: tuple[Name, ...]
    init: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Assign:
    """`a, b = expr`; one target but for `split`."""

    targets: tuple[Name, ...]
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Update:
    """`state := expr`."""

    name: Name
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Repeat:
    count: Expr
    body: tuple[Statement, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Loss:
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Metric:
    name: Name
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Return:
    values: tuple[Expr, ...]
    span: Span


Statement = Param | State | Assign | Update | Repeat | Loss | Metric | Return

# ---------------------------------------------------------------- placement rules


@dataclass(frozen=True, slots=True)
class Claim:
    """`dims -> axes`.

    `first` when written `first(dims)`, `append` when the axes begin with `..`, no axes and no append for `none`.
    """

    dims: tuple[Name, ...]
    first: bool
    axes: tuple[Name, ...]
    append: bool
    zigzag: bool
    repeat: bool
    where_free: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Exchange:
    """`exchange what by method over axis`."""

    what: Name
    method: Name
    axis: Name
    span: Span


@dataclass(frozen=True, slots=True)
class Stage:
    """`stage dim over axis`."""

    dim: Name
    axis: Name
    span: Span


@dataclass(frozen=True, slots=True)
class Place:
    """`within A, B { … }`, `params { … }`, `grads, optimizer { … }`, `params of PATH { … }`.

    `kinds` holds one or more of within, params, grads, optimizer; `targets` the layers and primitives of a `within`.
    """

    kinds: tuple[Name, ...]
    targets: tuple[Name, ...]
    of: Name | None
    rules: tuple[Rule, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class If:
    condition: Expr
    rules: tuple[Rule, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Use:
    """A strategy used as a rule: `tensor(tp, sequence = true)`."""

    call: Call

    @property
    def span(self) -> Span:
        return self.call.span


Rule = Claim | Exchange | Stage | Place | If | Use

# ---------------------------------------------------------------- items


@dataclass(frozen=True, slots=True)
class Import:
    path: Text
    alias: Name | None
    span: Span


@dataclass(frozen=True, slots=True)
class Axis:
    """`name = size`; the size is None for `*`."""

    name: Name
    size: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Mesh:
    """The device mesh, or with `name` and `regroup` a second view of it."""

    name: Name | None
    regroup: tuple[Name, ...] | None
    axes: tuple[Axis, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Dim:
    name: Name
    size: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Dims:
    entries: tuple[Dim, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a layer, model, primitive or strategy: `x`, `x: [batch, seq] of vocab`, `eps = 1e-5`."""

    name: Name
    dims: tuple[Name, ...] | None
    of: Name | None
    default: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Layer:
    name: Name
    parameters: tuple[Parameter, ...]
    body: tuple[Statement, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Model:
    name: Name
    parameters: tuple[Parameter, ...]
    body: tuple[Statement, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Primitive:
    """`primitive f(x: [dims]) -> [dims] = "module:function" { whole dims }`."""

    name: Name
    parameters: tuple[Parameter, ...]
    dims: tuple[Name, ...]
    target: Text
    whole: tuple[Name, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Strategy:
    name: Name
    parameters: tuple[Parameter, ...]
    rules: tuple[Rule, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Partition:
    rules: tuple[Rule, ...]
    span: Span


Item = Import | Mesh | Dims | Layer | Model | Primitive | Strategy | Partition


@dataclass(frozen=True, slots=True)
class File:
    """A parsed file: the items that could be parsed, in the order of the text."""

    source: SourceFile
    items: tuple[Item, ...]
