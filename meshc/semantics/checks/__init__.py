"""The checks, one module for each kind of rule. Each reads the placed program and yields what is wrong."""

from meshc.semantics.checks.balance import causal_work_balanced
from meshc.semantics.checks.context import Check, Context
from meshc.semantics.checks.dims import microsteps_divide, shards_divide
from meshc.semantics.checks.experts import routed_stay
from meshc.semantics.checks.gradients import gradients_lie_apart
from meshc.semantics.checks.idle import axes_shard, exchanges_move, losses_have_targets, rules_match, strategies_match
from meshc.semantics.checks.links import axes_stay_near
from meshc.semantics.checks.mesh import mesh_fills_slice
from meshc.semantics.checks.nowhere import values_are_read
from meshc.semantics.checks.pipeline import microbatches_divide, stages_apart, stages_cut, stages_share
from meshc.semantics.checks.schedule import microbatches_fill, stages_busy
from meshc.semantics.checks.silent import strategies_split_state
from meshc.semantics.checks.stacks import stacks_stay_whole
from meshc.semantics.checks.unable import (
    attention_within_samples,
    exchanges_agree,
    inputs_are_rows,
    repeats_copy,
    zigzag_is_along_sequences,
)

CHECKS: tuple[Check, ...] = (
    mesh_fills_slice,
    microsteps_divide,
    shards_divide,
    attention_within_samples,
    stages_cut,
    microbatches_divide,
    microbatches_fill,
    stages_apart,
    inputs_are_rows,
    repeats_copy,
    routed_stay,
    exchanges_agree,
    zigzag_is_along_sequences,
    stacks_stay_whole,
    strategies_match,
    strategies_split_state,
    rules_match,
    exchanges_move,
    axes_shard,
    axes_stay_near,
    stages_share,
    losses_have_targets,
    values_are_read,
    gradients_lie_apart,
    stages_busy,
    causal_work_balanced,
)

WITHOUT_SIZES: tuple[Check, ...] = (
    inputs_are_rows,
    routed_stay,
    exchanges_agree,
    zigzag_is_along_sequences,
    stacks_stay_whole,
    strategies_match,
    strategies_split_state,
    rules_match,
    exchanges_move,
    axes_shard,
)
"""What can be told while the size of an axis is unknown."""

ONLY_WARN: frozenset[Check] = frozenset(
    {
        strategies_split_state,
        rules_match,
        exchanges_move,
        axes_shard,
        axes_stay_near,
        stages_share,
        losses_have_targets,
        values_are_read,
        gradients_lie_apart,
        stages_busy,
        causal_work_balanced,
    }
)
"""Checks that find no errors: where only those are asked for, they need not run."""

__all__ = ["CHECKS", "ONLY_WARN", "WITHOUT_SIZES", "Check", "Context"]
