"""One operation on local parts as a Python expression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from meshc.codegen import routed
from meshc.codegen.asked import Context
from meshc.codegen.text import ATOM, POWER, PRODUCT, SUM, UNARY, Text, call, commas, quoted, text, tuple_of
from meshc.semantics.placed import Computed, Placed
from meshc.semantics.program import (
    Attend,
    Combine,
    Concat,
    Contract,
    CrossEntropy,
    Custom,
    Dim,
    Dropout,
    Dropped,
    Elementwise,
    Load,
    LoadBalance,
    Lookup,
    NextToken,
    Reduce,
    Rename,
    Rope,
    Route,
    Slowed,
    Softmax,
    Split,
    Value,
)

INFIX = {"add": ("+", SUM), "sub": ("-", SUM), "mul": ("*", PRODUCT), "div": ("/", PRODUCT)}
CALLED = {
    "square": "jnp.square", "sqrt": "jnp.sqrt", "rsqrt": "lax.rsqrt", "exp": "jnp.exp", "log": "jnp.log",
    "abs": "jnp.abs", "tanh": "jnp.tanh", "sigmoid": "jax.nn.sigmoid", "silu": "ops.silu", "gelu": "ops.gelu",
    "gelu_tanh": "ops.gelu_tanh",    "relu": "jax.nn.relu",
    "softplus": "ops.softplus", "maximum": "jnp.maximum", "minimum": "jnp.minimum", "sign": "jnp.sign",
}  # fmt: skip


@dataclass(frozen=True)
class Printer:
    context: Context

    def expression(self, computed: Computed) -> Text:
        op = computed.op
        match op:
            case Elementwise():
                return self._elementwise(op, computed)
            case Contract():
                return self._contract(op, computed)
            case Lookup():
                return self._lookup(op, computed)
            case Reduce():
                return self._reduce(op, computed)
            case Softmax():
                return self._softmax(op, computed)
            case Rope():
                return self._rope(op, computed)
            case Attend():
                return self._attend(op, computed)
            case Dropout():
                return self._dropout(op, computed)
            case Concat():
                return self._concat(op, computed)
            case Split():
                return self._split(op, computed)
            case Rename():
                return self._tensor(computed.operands[0])
            case NextToken() | CrossEntropy():
                return self._cross_entropy(op, computed)
            case Custom():
                return self._custom(op, computed)
            case Route():
                x, scores, *bias = computed.operands
                tensors = (self._narrow(x), self._tensor(scores), *map(self._tensor, bias))
                return routed.sending(op, computed, self._zigzags(op.operand.dims[:-1]), *tensors)
            case Combine():
                return call("moe.combine", self._narrow(computed.operands[0]), self._routing(op.routed))
            case LoadBalance() | Load() | Dropped():
                return routed.shares(op, computed, self._routing(op.routed))

    def _tensor(self, operand: Placed | float) -> Text:
        return self.context.operand(operand) if isinstance(operand, Placed) else number(operand)

    def _routing(self, value: Value) -> Text:
        route = self.context.route(value)
        assert route is not None
        return self.context.routing(route)

    def _dims(self, value: Value) -> tuple[Dim, ...]:
        """A tensor's dims as they lie."""
        return routed.lying(value, self.context.route(value))

    def _narrow(self, operand: Placed | float) -> Text:
        return self.context.operand(operand, narrow=True) if isinstance(operand, Placed) else number(operand)

    # ------------------------------------------------------------ elementwise

    def _elementwise(self, op: Elementwise, computed: Computed) -> Text:
        aligned = [self._aligned(x, self._dims(op.result), self.context.route(op.result)) for x in computed.operands]
        match op.function:
            case "neg":
                return text(UNARY, "-", (aligned[0], UNARY))
            case "pow":
                return text(POWER, (aligned[0], ATOM), "**", (aligned[1], ATOM))
            case "square" if isinstance(computed.operands[0], Placed):
                # jnp.square would keep 2 * x for its backward pass
                return text(PRODUCT, (aligned[0], PRODUCT), " * ", (aligned[0], UNARY))
            case "float32":
                narrower = self.context.sums_in_float32
                return text(ATOM, (aligned[0], ATOM), ".astype(jnp.float32)") if narrower else aligned[0]
            case function if function in INFIX:
                sign, level = INFIX[function]
                return text(level, (aligned[0], level), f" {sign} ", (aligned[1], level + 1))
            case function:
                return call(CALLED[function], *aligned)

    def _aligned(self, operand: Placed | float, dims: Sequence[Dim], route: Route | None = None) -> Text:
        """The operand with its dims where numpy's broadcasting looks for the result's; of what each expert has one of,
        in a routed result, each row takes its expert's.
        """
        expression = self._tensor(operand)
        if not isinstance(operand, Placed):
            return expression
        own = self._dims(operand.value)
        if route is not None and route.experts in own:
            order = [own.index(route.experts), *(i for i, d in enumerate(own) if d != route.experts)]
            if order != sorted(order):
                expression = call("jnp.transpose", expression, tuple_of([str(i) for i in order]))
            expression = call("moe.per_row", expression, self.context.routing(route))
            own = (dims[0], *(own[i] for i in order[1:]))
        order = [d for d in dims if d in own]
        if list(own) != order:
            permutation = [own.index(d) for d in order]
            expression = call("jnp.transpose", expression, tuple_of([str(i) for i in permutation]))
        missing = [d not in own for d in dims]
        if not own or not any(missing[missing.index(False) :]):
            return expression
        if not any(missing[: len(own)]):
            return text(ATOM, (expression, ATOM), "[..., ", ", ".join(["None"] * (len(dims) - len(own))), "]")
        shown = missing[missing.index(False) :]
        while not shown[-1]:
            shown.pop()
        return text(ATOM, (expression, ATOM), "[", ", ".join("None" if m else ":" for m in shown), "]")

    # ------------------------------------------------------------ products, sums

    def _contract(self, op: Contract, computed: Computed) -> Text:
        left, right = (self._narrow(x) for x in computed.operands)
        route = self.context.route(op.result)
        if route is not None and route.experts in op.right.dims:
            return routed.product(op, route, left, right, self.context.routing(route))
        a, b, result, over = self._dims(op.left), self._dims(op.right), self._dims(op.result), op.over
        if len(b) == 2 and over == (b[0],) and a[-1:] == over and result == (*a[:-1], b[1]):
            return text(PRODUCT, (left, PRODUCT), " @ ", (right, UNARY))
        of = self.context.letters
        every = tuple(dict.fromkeys((*a, *b, *result)))
        letter = dict(zip(every, of(every), strict=True))
        spelled = ["".join(letter[d] for d in dims) for dims in (a, b, result)]
        return call("jnp.einsum", f'"{spelled[0]},{spelled[1]}->{spelled[2]}"', left, right)

    def _lookup(self, op: Lookup, computed: Computed) -> Text:
        table, ids = (self._narrow(x) for x in computed.operands)
        placed = computed.operands[0]
        assert isinstance(placed, Placed)
        at = op.table.dims.index(op.row)
        if at:
            table = call("jnp.moveaxis", table, str(at), "0")
        if parts := self.context.zigzag(op.row):
            ids = call("ops.place_in_zigzag", ids, str(op.row.size), str(parts))
        return call("ops.lookup", table, ids, **_axes("axes", placed.layout.axes[at]))

    def _reduce(self, op: Reduce, computed: Computed) -> Text:
        (operand,) = computed.operands
        assert isinstance(operand, Placed)
        dims, whole_dims = self._dims(operand.value), operand.value.dims
        axes = [dims.index(d) - (len(dims) if d == dims[-1] else 0) for d in op.over]
        axis = {"axis": str(axes[0]) if len(axes) == 1 else tuple_of([str(a) for a in axes])}
        if len(axes) == len(dims):
            axis = {}
        split = any(operand.layout.axes[whole_dims.index(d)] for d in op.over)
        wide = {"dtype": "jnp.float32"} if self.context.sums_in_float32 else {}
        expression = self._tensor(operand)
        if op.function == "max":
            return call("jnp.max", expression, **axis)
        if op.function == "logsumexp":
            return call("ops.logsumexp", expression, **axis, **_real(op.over[0]))
        if op.function == "sum" or not (split or any(d.padded for d in op.over)):
            return call(f"jnp.{op.function}", expression, **axis, **wide)
        total = call("jnp.sum", expression, **axis, **wide)
        whole = " * ".join(self.context.extent(d) for d in op.over)
        return text(PRODUCT, (total, PRODUCT), " / ", whole if len(op.over) == 1 else f"({whole})")

    def _softmax(self, op: Softmax, computed: Computed) -> Text:
        (operand,) = computed.operands
        assert isinstance(operand, Placed)
        dims, split = self._dims(op.operand), operand.layout.axes[op.operand.dims.index(op.over)]
        axis = {} if dims[-1] == op.over else {"axis": str(dims.index(op.over))}
        return call(
            "ops.softmax", self._tensor(operand), **axis, **_axes("axes", split), **_real(op.over),
            **(self._order("zigzag", op.over) if op.over.padded else {}),
        )  # fmt: skip

    # ------------------------------------------------------------ the rest

    def _rope(self, op: Rope, computed: Computed) -> Text:
        (operand,) = computed.operands
        assert isinstance(operand, Placed)
        at = op.operand.dims.index(op.along)
        options = {} if op.theta == 10_000 else {"theta": repr(op.theta)}
        if op.interleaved:
            options["interleaved"] = "True"
        if op.scaling is not None:
            options["scaling"] = f"ops.{_slowed(op.scaling)}"
        if op.magnitude != 1:
            options["magnitude"] = repr(op.magnitude)
        axis = {} if at == 1 else {"axis": str(at)}
        options |= _axes("axes", operand.layout.axes[at]) | self._order("zigzag", op.along)
        return call("ops.rope", self._narrow(operand), **axis, **options)

    def _attend(self, op: Attend, computed: Computed) -> Text:
        q, k, v, *rest = computed.operands
        assert isinstance(q, Placed) and isinstance(k, Placed)
        options: dict[str, str | Text] = {"causal": str(op.causal)}
        given = {"window": op.window, "scale": op.scale, "cap": op.cap, "chunk": op.chunk}
        options |= {name: repr(value) for name, value in given.items() if value is not None}
        if not op.causal:  # else no real query sees the padding, which comes last
            options |= _real(op.seq)
        if op.by_position:
            options |= self._order("zigzag", op.seq)
        heads = q.layout.axes[op.q.dims.index(op.heads)]
        kv_heads = k.layout.axes[op.k.dims.index(op.kv_heads)]
        options |= _axes("own_heads", tuple(a for a in heads if a not in kv_heads))
        others = [name for name, value in (("sinks", op.sinks), ("segments", op.segments)) if value]
        options |= {name: self._narrow(operand) for name, operand in zip(others, rest, strict=True)}
        over = q.layout.axes[op.q.dims.index(op.seq)]
        gathered = tuple(a for c in computed.inner if c.op == "all_gather" for a in c.axes)
        if over:
            function = "attention.ring" if over != gathered else "attention.gather"
            partly = _axes("gathered", gathered) if over != gathered else {}
            options = _axes("over", over) | partly | options
        else:
            function = "attention.attend"
            if not self.context.recompute:
                options["recompute"] = "False"
        return call(function, *(self._narrow(x) for x in (q, k, v)), **options)

    def _dropout(self, op: Dropout, computed: Computed) -> Text:
        (operand,) = computed.operands
        assert isinstance(operand, Placed)
        if self.context.evaluating:
            return self._tensor(operand)
        split = {}
        if operand.layout.sharded:
            split["split"] = tuple_of([axes_literal(a, always_tuple=True) for a in operand.layout.axes])
        if turned := self._zigzags(op.operand.dims):
            split["zigzag"] = f"{{{', '.join(f'{at}: {parts}' for at, parts in turned.items())}}}"
        return call("ops.dropout", self._tensor(operand), repr(op.rate), self.context.key(op.path[-1]), **split)

    def _zigzags(self, dims: Sequence[Dim]) -> dict[int, int]:
        """Which of the dims lie in zigzag order, by number, and into how many pairs of chunks each is cut."""
        return {at: parts for at, dim in enumerate(dims) if (parts := self.context.zigzag(dim))}

    def _concat(self, op: Concat, computed: Computed) -> Text:
        dims = self._dims(op.result)
        at = dims.index(op.along)
        parts = [
            self._natural(self._aligned(x, (*dims[:at], part, *dims[at + 1 :])), (*dims[:at], part), (part,))
            for x, part in zip(computed.operands, op.parts, strict=True)
        ]
        alike = all(len(operand.dims) == len(dims) for operand in op.operands)
        listed = text(ATOM, "[", *commas(parts), "]")
        whole = call("jnp.concatenate" if alike else "ops.concatenate", listed, axis=str(at))
        return self._turned(whole, dims, (op.along,))

    def _split(self, op: Split, computed: Computed) -> Text:
        dims = self._dims(op.operand)
        at = dims.index(op.along)
        part = f"{op.start or ''}:{op.start + op.part.size}"
        last = at == len(dims) - 1
        index = f"..., {part}" if last and at else ", ".join([":"] * at + [part])
        operand = self._natural(self._tensor(computed.operands[0]), dims, (op.along,))
        return self._turned(text(ATOM, (operand, ATOM), "[", index, "]"), self._dims(op.result), (op.part,))

    def _custom(self, op: Custom, computed: Computed) -> Text:
        """A dim that a user's function sees whole it sees in natural order."""
        values = [self._narrow(x) for x in computed.operands]
        natural = [self._natural(x, v.dims, op.whole) for x, v in zip(values, op.operands, strict=True)]
        return self._turned(call(self.context.function(op.target), *natural), op.result.dims, op.whole)

    def _natural(self, tensor: Text, dims: Sequence[Dim], whole: Sequence[Dim]) -> Text:
        """A tensor with some of its dims, which are whole, put in natural order."""
        return self._in_order("ops.natural_order", tensor, dims, whole)

    def _turned(self, tensor: Text, dims: Sequence[Dim], whole: Sequence[Dim]) -> Text:
        """The inverse of `_natural`."""
        return self._in_order("ops.zigzag_order", tensor, dims, whole)

    def _in_order(self, function: str, tensor: Text, dims: Sequence[Dim], whole: Sequence[Dim]) -> Text:
        for dim in whole:
            if dim in dims and (parts := self.context.zigzag(dim)):
                tensor = call(function, tensor, str(parts), axis=str(dims.index(dim)))
        return tensor

    def _order(self, keyword: str, dim: Dim) -> dict[str, str]:
        parts = self.context.zigzag(dim)
        return {keyword: str(parts)} if parts else {}

    def _cross_entropy(self, op: NextToken | CrossEntropy, computed: Computed) -> Text:
        logits, targets = computed.operands
        assert isinstance(logits, Placed) and isinstance(targets, Placed)
        at = op.logits.dims.index(op.vocab)
        expression = self._tensor(logits)
        if at != len(op.logits.dims) - 1:
            expression = call("jnp.moveaxis", expression, str(at), "-1")
        options = _axes("axes", logits.layout.axes[at]) | _real(op.vocab)
        total = call("ops.cross_entropy", expression, self.context.operand(targets), **options)
        return text(PRODUCT, total, " / ", (self.context.count(targets), UNARY))


def number(value: float) -> Text:
    code = repr(int(value)) if float(value).is_integer() and abs(value) < 1e6 else repr(float(value))
    return Text((code,), UNARY if value < 0 else ATOM)


def _slowed(scaling: Slowed) -> str:
    """The function of the runtime that slows rotary positions."""
    factor, turns = f"factor={scaling.factor!r}", f"low={scaling.low!r}, high={scaling.high!r}"
    match scaling.kind:
        case "linear":
            return f"linear({factor})"
        case "llama3":
            return f"llama3({factor}, original={scaling.original}, {turns})"
        case "yarn":
            whole = "" if scaling.whole else ", whole=False"
            return f"yarn({factor}, original={scaling.original}, {turns}{whole})"


def axes_literal(axes: Sequence[str], *, always_tuple: bool = False) -> str:
    """Mesh axes as code: a string, or a tuple where they are several."""
    if len(axes) == 1 and not always_tuple:
        return quoted(axes[0])
    return tuple_of([quoted(a) for a in axes]) if axes else "()"


def _axes(keyword: str, axes: Sequence[str]) -> dict[str, str]:
    return {keyword: axes_literal(axes, always_tuple=True)} if axes else {}


def _real(dim: Dim) -> dict[str, str]:
    return {"real": str(dim.real)} if dim.padded else {}
