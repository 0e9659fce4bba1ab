"""Strategies of which one rule does nothing, though another does."""

from __future__ import annotations

from collections.abc import Iterator

from meshc.diagnostics.model import Diagnostic, Label
from meshc.diagnostics.suggest import quoted
from meshc.semantics.checks.context import Context
from meshc.semantics.program import Rest, Rule

KINDS = {Rest.PARAMS: "weights at rest", Rest.GRADS: "gradients", Rest.OPTIMIZER: "optimizer state"}


def strategies_split_state(context: Context) -> Iterator[Diagnostic]:
    """W0305: a strategy that is to split state finds no weight with its dims: it would be plain data parallelism."""
    placed = context.placed
    uses = {rule.origin for rule in placed.spoken if rule.origin}
    for use in placed.program.uses:
        own = [r for r in placed.program.rules if r.origin is use and r.rest in KINDS and r.axes]
        silent = [r for r in own if r not in placed.spoken]
        if use in uses and silent:
            yield _splits_no_state(silent)


def _splits_no_state(silent: list[Rule]) -> Diagnostic:
    rule = silent[0]
    use = rule.origin
    assert use is not None
    kinds = " or ".join(dict.fromkeys(KINDS[r.rest] for r in silent))
    of = f" `{rule.of}`" if rule.of else ""
    places = ", ".join(dict.fromkeys(r.rest.value for r in silent))
    return Diagnostic(
        "W0305",
        f"`{use.name}` splits no {kinds} in this program",
        (Label(use.span, f"no weight{of} has {quoted(rule.dims, 'or')}"),),
        (
            "name the dim as the strategy does",
            f"or write rules for yours in its place: {places} {{ DIM -> .., {', '.join(rule.axes)} }}",
        ),
    )
