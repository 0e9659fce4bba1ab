"""What padding would falsify. A padded dim is computed at its full size, so its padding must hold zeros wherever it is
summed over, and get no gradient there: then a weight's padding, zero at first, stays zero. Ids are -1 there: the row of
no table, and no target; attention hides such keys.

Of every tensor it is derived along which padded dims it may hold something else ("noise"); softmax, logsumexp
and the losses mask by the real size and may see it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from meshc.semantics.flat import FlatProgram, flatten
from meshc.semantics.placed import Computed, Moved, Placed, PlacedProgram, PlacedUpdate, PlacedWeight
from meshc.semantics.program import (
    Attend,
    Concat,
    Contract,
    Custom,
    Dim,
    Elementwise,
    Load,
    Op,
    Reduce,
    Rename,
    Route,
    Softmax,
    Split,
    Value,
)
from meshc.source import Span

KEEP_ZERO = frozenset("neg square sqrt abs tanh silu gelu gelu_tanh relu sign float32 maximum minimum add sub".split())
"""Functions of zeros that are zero."""


def falsified(placed: PlacedProgram) -> Iterator[tuple[str, str, Span]]:
    """Each operation that a padded dim would make wrong: what it is, what to do about it, and where."""
    for item in placed.inputs:
        for dim in item.value.dims[:1]:
            if dim.padded:
                yield f"a padded batch (`{dim.name}`)", _unpadded(dim), item.value.span
    flat = flatten(placed)
    noise = _Noise(flat, placed.weights)
    squares = {id(s.result.value) for s in noise.computed if _is_square(s.op)}
    for statement in noise.computed:
        for dim in _summed(statement.op, squares, noise.of(statement)):
            yield f"sums over the padding of `{dim.name}`", _unpadded(dim), statement.op.span


def _unpadded(dim: Dim) -> str:
    return f"make {dim.name} {dim.size}, of which all counts, or {dim.real} on axes that divide it"


def _is_square(op: Op) -> bool:
    """What gives zeros no gradient."""
    return isinstance(op, Elementwise) and (
        op.function == "square" or (op.function == "mul" and op.operands[0] is op.operands[-1])
    )


def _summed(op: Op, squares: set[int], noise: frozenset[str]) -> Iterator[Dim]:
    """Padded dims over which the operation sums, where that is not right."""
    match op:
        case Reduce(function="logsumexp"):
            pass
        case Reduce(operand=operand, over=over):
            right = id(operand) in squares and op.function != "max"
            yield from (d for d in over if d.padded and (d.name in noise or not right))
        case Contract(over=over):
            yield from (d for d in over if d.padded and d.name in noise)
        case Route(operand=operand):  # tokens of the padding would be sent, and counted
            yield from (d for d in operand.dims[:-1] if d.padded)
        case Attend(q=q, v=v):
            yield from (d for d in {q.dims[-1], v.dims[-1]} if d.padded)
        case Concat(along=along, parts=parts):
            yield from (d for d in (along, *parts) if d.padded)
        case Split(along=along, part=part):
            yield from (d for d in (along, part) if d.padded)
        case Custom(operands=operands):
            yield from (d for operand in operands for d in operand.dims if d.padded)


class _Noise:
    """By tensor, the names of padded dims along which its padding may be other than zero."""

    def __init__(self, flat: FlatProgram, weights: Sequence[PlacedWeight]) -> None:
        self.flat = flat
        self.known: dict[Placed, frozenset[str]] = {}
        self.computed = [i.statement for i in flat.statements if isinstance(i.statement, Computed)]
        before, states = None, {weight.weight.value: weight.inside for weight in weights}
        while before != self.known:  # what a repeat hands on, its next turn has
            before = dict(self.known)
            for item in flat.statements:
                match item.statement:
                    case Moved(source=source, result=result):
                        self._add(result, self.held(source))
                    case Computed() as computed:
                        self._add(computed.result, self._yielded(computed))
                    case PlacedUpdate(update=update, value=value):  # what the next step finds there
                        self._add(states[update.weight.value], self.held(value))

    def of(self, computed: Computed) -> frozenset[str]:
        """The noise of all operands."""
        return frozenset().union(*(self.held(o) for o in computed.operands if isinstance(o, Placed)))

    def held(self, placed: Placed) -> frozenset[str]:
        return self.known.get(self.flat.of(placed), frozenset())

    def _add(self, placed: Placed, names: frozenset[str]) -> None:
        root = self.flat.of(placed)
        self.known[root] = self.known.get(root, frozenset()) | names

    def _yielded(self, computed: Computed) -> frozenset[str]:
        padded = [dim.name for dim in computed.op.result.dims if dim.padded]
        match computed.op:
            case Elementwise() as op:
                return frozenset(name for name in padded if not self._zero(op, name, computed))
            case Softmax(over=over):
                return frozenset(padded) - {over.name}
            case Reduce(function="logsumexp"):
                return frozenset(padded)
            case Attend(seq=seq):
                return (self.of(computed) | {seq.name}) & frozenset(padded)
            case Contract():
                return frozenset(name for name in padded if self._all_hold(name, computed))
            case Load():
                return frozenset()
            case Route(experts=experts):  # nothing is sent there
                return (self.of(computed) & frozenset(padded)) - {experts.name}
            case Rename(old=old, new=new):
                return frozenset(new.name if name == old.name else name for name in self.of(computed))
            case _:
                return self.of(computed) & frozenset(padded)

    def _all_hold(self, dim: str, computed: Computed) -> bool:
        """Whether all operands of a product that have the dim are noise along it."""
        having = [x for x in computed.operands if isinstance(x, Placed) and _has(x.value, dim)]
        return all(dim in self.held(x) for x in having)

    def _zero(self, op: Elementwise, dim: str, computed: Computed) -> bool:
        """Whether the result is zero in the padding of `dim`."""
        operands = zip(op.operands, computed.operands, strict=True)
        zeros = [isinstance(p, Placed) and isinstance(v, Value) and self._is_zero(v, p, dim) for v, p in operands]
        if op.function == "mul":
            return any(zeros)
        if op.function == "div":
            return zeros[0] and not any(isinstance(v, Value) and _has(v, dim) for v in op.operands[1:])
        return op.function in KEEP_ZERO and all(zeros)

    def _is_zero(self, value: Value, placed: Placed, dim: str) -> bool:
        return _has(value, dim) and dim not in self.held(placed)


def _has(value: Value, dim: str) -> bool:
    return any(d.name == dim for d in value.dims)
