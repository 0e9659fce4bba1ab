"""The placement tables of a program, and the ways of gradients between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from meshc.codegen.context import Context
from meshc.codegen.expressions import axes_literal
from meshc.codegen.text import WIDTH, Text, atom, comment, quoted, tuple_of
from meshc.semantics.placed import Layout, PlacedWeight, Step
from meshc.semantics.program import Rest, Rule


def spec_of(axes: Sequence[tuple[str, ...]]) -> str:
    """`P(None, "fsdp", ("dp", "cp"))`; nothing for trailing dims that are whole where all are."""
    entries = ["None" if not a else axes_literal(a) for a in axes]
    return f"P({', '.join(entries)})" if any(axes) else "P()"


def table(name: str, weights: Iterable[PlacedWeight], rest: Rest) -> tuple[str, ...]:
    """`NAME = {` … `}`: a line for each weight, its dims and the strategies that placed it behind."""
    lines = [entry(w, rest) for w in weights]
    return (f"{name} = {{", *lines, "}") if lines else (f"{name} = {{}}",)


def entry(weight: PlacedWeight, rest: Rest) -> str:
    code = f"    {quoted(weight.weight.dotted)}: {spec_of(layout_of(weight, rest).axes)},"
    dims = ", ".join(d.name for d in weight.weight.dims)
    room = WIDTH - len(code) - len("  # ")
    strategies, lines = because(weight, rest)
    for words in (f"{dims}; {strategies} {lines}", f"{dims}; {strategies}", f"{strategies} {lines}", dims, strategies):
        text = comment(words).strip("; ")
        if text and len(text) <= room:
            return f"{code}  # {text}"
    return code


def layout_of(weight: PlacedWeight, rest: Rest) -> Layout:
    return {Rest.PARAMS: weight.rest, Rest.GRADS: weight.grads, Rest.OPTIMIZER: weight.optimizer}[rest]


def because(weight: PlacedWeight, rest: Rest) -> tuple[str, str]:
    """`fsdp, tensor` and `llama.mesh:19, 20`: the strategies, and the lines where they are used."""
    rules: dict[Rule, None] = {}
    for dim, axes in zip(weight.weight.dims, layout_of(weight, rest).axes, strict=True):
        if axes:
            rules |= dict.fromkeys(weight.because.get((rest, dim.name), ()))
    if not rules:
        return "", ""
    names = dict.fromkeys(r.origin.name if r.origin else "a rule" for r in rules)
    spans = [rule.place for rule in rules]
    lines: dict[str, dict[str, None]] = {}
    for span in spans:
        lines.setdefault(span.source.name.rpartition("/")[2], {})[str(span.line)] = None
    return ", ".join(names), "; ".join(f"{file}:{', '.join(numbers)}" for file, numbers in lines.items())


def changed(name: str, base: str, weights: Iterable[PlacedWeight], rest: Rest, of: Rest) -> tuple[str, ...]:
    """A table that is another one but for some weights."""
    differing = [w for w in weights if layout_of(w, rest).axes != layout_of(w, of).axes]
    if not differing:
        return (f"{name} = {base}",)
    return (f"{name} = {base} | {{", *(entry(w, rest) for w in differing), "}")


# ---------------------------------------------------------------- gradients


def cast_lines(weights: Sequence[PlacedWeight], context: Context) -> tuple[str, ...]:
    """Weights counted as varying, so that their gradients are reduced where this program says, once."""
    by_axes: dict[tuple[str, ...], list[PlacedWeight]] = {}
    for weight in weights:
        by_axes.setdefault(weight.summed, []).append(weight)
    if set(by_axes) == {()}:
        return ()
    if len(by_axes) == 1:
        (axes,) = by_axes
        return (f'weights = lax.pcast(weights, {axes_literal(axes)}, to="varying")',)
    return ('weights = {path: lax.pcast(w, SUMMED[path], to="varying") for path, w in weights.items()}',)


def summed_table(weights: Sequence[PlacedWeight]) -> tuple[str, ...]:
    """`SUMMED`, where weights differ in the axes over which their gradients are summed at the end."""
    if len({w.summed for w in weights}) < 2:
        return ()
    lines = [f"    {quoted(w.weight.dotted)}: {axes_literal(w.summed, always_tuple=True)}," for w in weights]
    return ("SUMMED = {", *lines, "}")


def way_lines(
    weights: Sequence[PlacedWeight],
    steps_of: Callable[[PlacedWeight], tuple[Step, ...]],
    context: Context,
) -> tuple[str, ...]:
    """Statements that bring `grads` along each weight's steps; weights with the same steps go together."""
    by_steps: dict[tuple[Step, ...], list[PlacedWeight]] = {}
    for weight in weights:
        by_steps.setdefault(steps_of(weight), []).append(weight)
    if len(by_steps) > 1 and all(_sums_only(w, steps) for steps, group in by_steps.items() for w in group):
        return ("grads = {path: lax.psum(g, SUMMED[path]) for path, g in grads.items()}",)
    lines: list[str] = []
    for steps, group in by_steps.items():
        if not steps:
            continue
        if len(by_steps) == 1 and all(s.kind == "all_reduce" for s in steps):
            for step in steps:
                lines.append(f"grads = {_moved(atom('grads'), (step,), context)}")
            continue
        if len(by_steps) == 1:
            lines.append(f"grads = {{path: {_moved(atom('g'), steps, context)} for path, g in grads.items()}}")
        else:
            lines += _for_some(group, _moved(atom("grads[path]"), steps, context))
    return tuple(lines)


def _sums_only(weight: PlacedWeight, steps: tuple[Step, ...]) -> bool:
    """Whether the way of a gradient is no more than the sum over the axes along which it differs."""
    return steps == ((Step("all_reduce", weight.summed),) if weight.summed else ())


def _for_some(group: Sequence[PlacedWeight], value: str) -> list[str]:
    paths = [quoted(w.weight.dotted) for w in group]
    together = f"for path in {tuple_of(paths)}:"
    if len(together) + 8 <= WIDTH:
        return [together, f"    grads[path] = {value}"]
    return ["for path in (", *(f"    {p}," for p in paths), "):", f"    grads[path] = {value}"]


def _moved(tensor: Text, steps: Sequence[Step], context: Context) -> str:
    for step in steps:
        tensor = context.helpers.step(tensor, step, weight=True)
    return tensor.render(str)
