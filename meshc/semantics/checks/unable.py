"""Rules that ask for what cannot be: stages of what is no repeat, copies of what is no kv heads, two exchanges."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations

from meshc.diagnostics.edits import removed
from meshc.diagnostics.model import Cure, Diagnostic, Edit, Label, Option
from meshc.diagnostics.spec_tensors import bad_attend
from meshc.diagnostics.suggest import quoted
from meshc.semantics.checks.context import Context
from meshc.semantics.clashes import along_samples
from meshc.semantics.placed import Computed
from meshc.semantics.program import Attend, Dim, Kind, Rule, Value


def inputs_are_rows(context: Context) -> Iterator[Diagnostic]:
    """E0262: a step takes one sample of every input for each row of the batch, the first dim of all."""
    inputs = context.placed.program.model.inputs
    first = _with_rows(inputs)
    rows = first.dims[0].name if first else "batch"
    for value in inputs:
        if value.dims and value.dims[0].name == rows:
            continue
        dims = [dim.name for dim in value.dims if dim.name != rows]
        begins = f"begins with `{value.dims[0].name}`" if value.dims else "has no dims"
        labels = (Label(value.span), *([Label(first.span, f"begins with `{rows}`")] if first else []))
        yield Diagnostic(
            "E0262",
            f"`{value.name}` {begins}, not with `{rows}`" + (f" as `{first.name}` does" if first else ""),
            labels,
            (
                f"an input has a sample for each row: write {value.name}: [{', '.join((rows, *dims))}]",
                f"or, where it is the same for all rows, make it a weight: param {value.name}: [{', '.join(dims)}]",
            ),
        )


def _with_rows(inputs: Sequence[Value]) -> Value | None:
    """The input that shows what counts rows: what most begin with, and fewest have further in; of equals the first."""
    having = [value for value in inputs if value.dims]

    def shows(value: Value) -> tuple[int, int]:
        dim = value.dims[0]
        return sum(v.dims[0] == dim for v in having), -sum(dim in v.dims[1:] for v in having)

    return max(having, key=shows, default=None)


def repeats_copy(context: Context) -> Iterator[Diagnostic]:
    """E0257: a dim other than kv heads cannot lie on more shards than it has entries."""
    ops = [i.statement.op for i in context.flat.statements if isinstance(i.statement, Computed)]
    kv_heads = {op.kv_heads.name for op in ops if isinstance(op, Attend)} - {
        op.heads.name for op in ops if isinstance(op, Attend)
    }
    for rule in context.placed.program.rules:
        declared = [dim for dim in rule.dims if dim in context.placed.program.dims]  # of others E0203 tells
        if wrong := [dim for dim in declared if dim not in kv_heads] if rule.repeat else []:
            yield Diagnostic(
                "E0257",
                f"{quoted(wrong)} cannot be repeated",
                (Label(rule.place),),
                (
                    f"only kv heads can, here {quoted(kv_heads)}"
                    if kv_heads
                    else "only kv heads can, and here are none",
                ),
                cures=_without(rule, "repeat"),
            )


def zigzag_is_along_sequences(context: Context) -> Iterator[Diagnostic]:
    """E0260: only positions along which attention runs, or ids follow one another, know of another order."""
    program = context.placed.program
    ops = [i.statement.op for i in context.flat.statements if isinstance(i.statement, Computed)]
    along = {op.seq.base for op in ops if isinstance(op, Attend)}
    for value in program.model.inputs:
        along |= {dim.base for dim in (value.dims[1:] if value.kind is Kind.INT else value.dims[1:-1])}
    for rule in program.rules:
        if rule.zigzag and (wrong := [dim for dim in rule.dims if dim in context.placed.orders and dim not in along]):
            yield Diagnostic(
                "E0260",
                f"{quoted(wrong)} cannot be in zigzag order",
                (Label(rule.place),),
                (f"only a sequence can, here {quoted(sorted(along))}" if along else "only a sequence can",),
                cures=_without(rule, "zigzag"),
            )


def _without(rule: Rule, word: str) -> tuple[Cure, ...]:
    """A direct rule without a word of it."""
    text = re.sub(rf"\s+{word}\b", "", rule.span.text)
    if rule.origin or text == rule.span.text:
        return ()
    return (Cure(f"or without `{word}`: {text}", (Option("", (), (Edit(rule.span, text),)),)),)


def exchanges_agree(context: Context) -> Iterator[Diagnostic]:
    """E0201: keys travel over an axis in one way."""
    for one, other in combinations(context.placed.program.exchanges, 2):
        nested = one.within == other.within[: len(one.within)] or other.within == one.within[: len(other.within)]
        if one.axis == other.axis and one.method != other.method and nested:
            labels = (Label(other.place, f"by {other.method}"), Label(one.place, f"by {one.method}"))
            message = f"keys and values are exchanged over `{one.axis}` by {one.method} and by {other.method}"
            gone = (Option("", (), (removed(other.place),)),)
            yield Diagnostic("E0201", message, labels, ("keep one of them",), cures=(Cure("", gone),))


def attention_within_samples(context: Context) -> Iterator[Diagnostic]:
    """E0228: attention along the batch: what has no heads is read by place as if `seq` were they."""
    ops = dict.fromkeys(i.statement.op for i in context.flat.statements if isinstance(i.statement, Computed))
    for op in ops:
        if isinstance(op, Attend) and along_samples(op, context.placed.program):
            q, k, v = ([dim.name for dim in value.dims] for value in (op.q, op.k, op.v))
            along = f"attention would run along `{op.seq.name}`, with `{op.heads.name}` as its heads"
            yield bad_attend(along, q, k, v, op.span)


def _declared(dim: Dim) -> Sequence[Label]:
    return (Label(dim.span, f"{dim.name} is {dim.size}"),) if dim.span else ()
