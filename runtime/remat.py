"""What a layer keeps for its backward pass, where a policy of jax.checkpoint_policies does not say it.

Weights gathered for use are large and cheap to gather anew; activations gathered along a sequence are neither. Both
come from the same primitive, so one of the two is named: `kept_weight` or `kept_activation`.
"""

from __future__ import annotations

from typing import Any

import jax
from jax.ad_checkpoint import checkpoint_name

_WEIGHT, _ACTIVATION = "weight", "activation"
_GATHERS = frozenset({"all_gather", "all_gather_invariant"})


def kept_weight(w: jax.Array) -> jax.Array:
    """A gathered weight that the policies `dots_and_weights` and `weights` keep."""
    return checkpoint_name(w, _WEIGHT)


def kept_activation(x: jax.Array) -> jax.Array:
    """A gathered activation that the policy `all_but_gathered_weights` keeps."""
    return checkpoint_name(x, _ACTIVATION)


def all_but_gathered_weights(primitive: Any, *_: Any, **__: Any) -> bool:
    """Keep everything but what an all-gather yields; an activation is kept by its name, one step after."""
    return primitive.name not in _GATHERS


weights = jax.checkpoint_policies.save_only_these_names(_WEIGHT)
dots_and_weights = jax.checkpoint_policies.save_from_both_policies(
    jax.checkpoint_policies.dots_with_no_batch_dims_saveable, weights
)
