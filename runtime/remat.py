"""What a layer keeps for its backward pass, where a policy of jax.checkpoint_policies does not say it.

Weights gathered for use are large and cheap to gather anew; activations gathered along a sequence are neither. Both
come from the same primitive, so one of the two is named: `kept_weight` or `kept_activation`.
"""

from __future__ import annotations

from typing import Any

import jax
from jax.ad_checkpoint import checkpoint_name

_WEIGHT, _ACTIVATION, _ROUTING = "weight", "activation", "routing"
_GATHERS = frozenset({"all_gather", "all_gather_invariant"})


def kept_weight(w: jax.Array) -> jax.Array:
    """A gathered weight that the policies `dots_and_weights` and `weights` keep."""
    return checkpoint_name(w, _WEIGHT)


def kept_activation(x: jax.Array) -> jax.Array:
    """A gathered activation that the policy `all_but_gathered_weights` keeps."""
    return checkpoint_name(x, _ACTIVATION)


def kept_routing(x: jax.Array) -> jax.Array:
    """Who goes to which expert, which every policy keeps: made again, rounding could send a token elsewhere.

    A stage of a pipeline, which keeps its input alone, makes it again: its gradients are of the tokens as they go then.
    """
    return checkpoint_name(x, _ROUTING)


def all_but_gathered_weights(primitive: Any, *operands: Any, **parameters: Any) -> bool:
    """Keep everything but gathered matrices; an activation is kept by its name, one step after its gather."""
    return primitive.name not in _GATHERS or gathered_vectors(primitive, *operands, **parameters)


def gathered_vectors(primitive: Any, *operands: Any, **parameters: Any) -> bool:
    """Keep no more than gathered weights of one dim, such as the scales of norms: small, and not worth the latency.

    And routing.
    """
    return (primitive.name in _GATHERS and operands[0].ndim == 1) or _is_routing(primitive, parameters)


def _is_routing(primitive: Any, parameters: dict[str, Any]) -> bool:
    return primitive.name == "name" and parameters["name"] == _ROUTING


_policies = jax.checkpoint_policies
weights = _policies.save_only_these_names(_WEIGHT, _ROUTING)
dots_and_weights = _policies.save_from_both_policies(_policies.dots_with_no_batch_dims_saveable, weights)
dots = _policies.save_from_both_policies(_policies.dots_with_no_batch_dims_saveable, gathered_vectors)
