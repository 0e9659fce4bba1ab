"""What a turn of a repeat, or a layer called beside an inner repeat, keeps for its backward pass."""

from __future__ import annotations

from collections.abc import Sequence

from meshc.codegen.context import Context, gathers_weights
from meshc.semantics.placed import PlacedRepeat, PlacedStatement
from meshc.semantics.walk import everything


def repeats_within(body: Sequence[PlacedStatement]) -> bool:
    """Whether inner repeats say what is kept, and the calls beside them for themselves."""
    return any(isinstance(statement, PlacedRepeat) for statement in everything(body))


def policy(body: Sequence[PlacedStatement], context: Context) -> str:
    """The policy of `jax.checkpoint` for what a body computes; empty where it keeps everything."""
    gathers = gathers_weights(body, context.weights)
    kept = context.placed.program.gathered == "kept"
    match context.train.remat:
        case "full":
            return "remat.weights" if kept and gathers else "remat.gathered_vectors"
        case "dots":
            return "remat.dots_and_weights" if kept and gathers else "remat.dots"
        case _:
            return "" if kept or not gathers else "remat.all_but_gathered_weights"
