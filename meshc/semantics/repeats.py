"""`repeat layers { … }`: what one turn hands to the next, and the dim that the weights inside lead with."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from meshc.diagnostics import spec_names, spec_sizes, spec_tensors
from meshc.semantics.build import Builder
from meshc.semantics.expressions import evaluate
from meshc.semantics.operands import BROKEN, Broken, Constant, Operand, described, names
from meshc.semantics.program import Carry, Dim, Repeat, Value
from meshc.syntax import ast

Run = Callable[[Builder, Sequence[ast.Statement]], None]


def repeat(b: Builder, node: ast.Repeat, run: Run) -> None:
    """Elaborates a repeat's body once. A name that exists before and is assigned inside is carried on."""
    for statement in node.body:
        if isinstance(statement, ast.Return):
            b.report(spec_names.return_in_repeat(statement.span))
    count = _count(b, node.count)
    frame = b.frame
    outer_names, outer_body, outer_stack = dict(frame.names), frame.body, frame.stack
    carried = {name: outer_names[name.text] for name in _assigned(node.body) if name.text in outer_names}
    starts: dict[ast.Name, Value] = {}
    for name, before in carried.items():
        if isinstance(before, Value):
            starts[name] = Value(name.text, before.dims, before.kind, before.span, named=True)
            b.facts.same(starts[name], before)
            frame.names[name.text] = starts[name]
        elif not isinstance(before, Broken):
            b.report(spec_tensors.carry_not_tensor(name.text, name.span))
    frame.body = []
    frame.stack = (*outer_stack, count) if isinstance(count, Dim) else outer_stack
    run(b, [s for s in node.body if not isinstance(s, ast.Return)])
    body, inner_names = frame.body, frame.names
    frame.names, frame.body, frame.stack = outer_names, outer_body, outer_stack
    carries = [_carry(b, name, carried[name], start, inner_names[name.text]) for name, start in starts.items()]
    if isinstance(count, Dim) and not any(carry is None for carry in carries):
        b.emit(Repeat(count, tuple(c for c in carries if c), tuple(body), node.span))


def _carry(b: Builder, name: ast.Name, before: Operand, start: Value, end: Operand) -> Carry | None:
    """What is known after the repeat under a carried name; its dims are those before, even of a wrong body."""
    assert isinstance(before, Value)
    after = Value(name.text, before.dims, before.kind, name.span, named=True)
    b.facts.same(after, before)
    b.frame.names[name.text] = after
    if isinstance(end, Broken):
        return None
    if not isinstance(end, Value) or end.kind is not before.kind:
        b.report(spec_names.wrong_type("a tensor", described(end), name.span))
        return None
    if end.dims != before.dims:
        what = spec_tensors.carry_changes(name.text, names(before.dims), names(end.dims), end.span, before.span)
        b.report(what)
        return None
    b.facts.used.add(end)
    if start in b.facts.used:
        b.facts.used.add(before)  # the first turn reads it
    return Carry(before, start, end, after)


def _count(b: Builder, expr: ast.Expr) -> Dim | Broken:
    """The dim that counts the turns; a plain number n makes one called `repeat_n`."""
    operand = evaluate(b, expr)
    match operand:
        case Dim():
            dim = operand
            b.dims.used.add(dim.base)
        case Constant(value=int(value)) if not isinstance(value, bool):
            if not 1 <= value <= spec_sizes.LARGEST:
                small = value < 1
                b.report(
                    spec_sizes.not_positive("repeat", value, expr.span) if small else spec_sizes.too_large(expr.span)
                )
                return BROKEN
            dim = Dim(f"repeat_{value}", value, value, expr.span)
        case Broken():
            return BROKEN
        case _:
            b.report(spec_names.wrong_type("a dim or a number", described(operand), expr.span))
            return BROKEN
    if dim.padded:
        b.report(spec_names.wrong_type("a dim without padding", described(dim), expr.span))
        return BROKEN
    if isinstance(operand, Dim) and dim in b.frame.stack:
        b.report(spec_tensors.dim_twice(dim.name, names((*b.frame.stack, dim)), expr.span))
        return BROKEN
    depth = sum(1 for outer in b.frame.stack if outer.name.startswith(dim.name))
    return dim if depth == 0 else Dim(f"{dim.name}_in_{depth}", dim.size, dim.real, dim.span)


def _assigned(body: Sequence[ast.Statement]) -> list[ast.Name]:
    """The first mention of each name that a body assigns, also in repeats inside."""
    found: dict[str, ast.Name] = {}
    for statement in body:
        match statement:
            case ast.Assign(targets=targets):
                for target in targets:
                    found.setdefault(target.text, target)
            case ast.Repeat(body=inner):
                for name in _assigned(inner):
                    found.setdefault(name.text, name)
            case _:
                pass
    return list(found.values())
