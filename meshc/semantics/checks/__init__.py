"""The checks, one module for each kind of rule. Each reads the placed program and yields what is wrong."""

from meshc.semantics.checks.context import Check, Context
from meshc.semantics.checks.dims import microsteps_divide, shards_divide
from meshc.semantics.checks.idle import axes_shard, rules_match, strategies_match
from meshc.semantics.checks.mesh import mesh_fills_slice

CHECKS: tuple[Check, ...] = (
    mesh_fills_slice,
    microsteps_divide,
    shards_divide,
    strategies_match,
    rules_match,
    axes_shard,
)

__all__ = ["CHECKS", "Check", "Context"]
