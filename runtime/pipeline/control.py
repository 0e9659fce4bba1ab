"""Work that is done in some ticks only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax


def when(active: jax.Array, work: Callable[[], Any], otherwise: Callable[[Any], Any] = lambda zeros: zeros) -> Any:
    """What `work` yields where `active`, else what `otherwise` makes of zeros like that.

    A real branch: without work no matmul and no collective runs. `active` may differ between devices of an axis that
    no collective in `work` runs over.
    """
    like = jax.eval_shape(work)
    return lax.cond(active, work, lambda: otherwise(zeros(like)))


def zeros(like: Any) -> Any:
    """Zeros of these shapes and dtypes, counted as varying over the same axes."""
    return jax.tree.map(_zero, like)


def _zero(like: Any) -> jax.Array:
    aval = like if isinstance(like, jax.ShapeDtypeStruct) else jax.typeof(like)
    return varying(lax.full(like.shape, 0, like.dtype), sorted(aval.manual_axis_type.varying))


def varying(tree: Any, axes: Sequence[str]) -> Any:
    """The arrays counted as varying over these axes, too."""

    def cast(x: Any) -> jax.Array:
        x = jnp.asarray(x)
        missing = tuple(a for a in axes if a not in jax.typeof(x).manual_axis_type.varying)
        return lax.pcast(x, missing, to="varying") if missing else x

    return jax.tree.map(cast, tree)


def scope(slot: str, busy: int, of: int):
    """Names what a branch runs, with how often it does: what is below runs `busy` of `of` times, over all devices.

    XLA keeps the name (`op_name`), so that who counts collectives in its text can tell.
    """
    return jax.named_scope(f"{slot}_{busy}_of_{of}")
