"""What the optax chain of a generated program needs besides optax: schedules, groups by path, where its state lies."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from .errors import UserError

DECAYS: dict[str, Callable[[jax.Array], jax.Array]] = {  # of the progress after warmup, 0 to 1
    "constant": jnp.ones_like,
    "linear": lambda progress: 1 - progress,
    "cosine": lambda progress: (1 + jnp.cos(jnp.pi * progress)) / 2,
}


def schedule(
    name: str, peak: float, steps: int, warmup: int = 0, end: float = 0.0
) -> Callable[[jax.typing.ArrayLike], jax.Array]:
    """The learning rate of update number `count`, counted from 0, as optax wants it.

    Rises in `warmup` equal parts to `peak` (the first update is not at rate 0, which would waste it), then falls from
    `peak` to `end` at update `steps` by `constant` (not at all), `linear` or `cosine` decay, and stays there.
    """
    decay = DECAYS[name]
    floor = peak if name == "constant" else end

    def rate(count: jax.typing.ArrayLike) -> jax.Array:
        count = jnp.asarray(count, jnp.float32)
        progress = jnp.clip((count - warmup) / max(steps - warmup, 1), 0, 1)
        rising = jnp.minimum((count + 1) / max(warmup, 1), 1)
        return rising * (floor + (peak - floor) * decay(progress))

    return rate


def label_paths(paths: Iterable[str], groups: Mapping[str, str], default: str = "default") -> dict[str, str]:
    """Path -> label of the first pattern that matches it, for `optax.partition` or as a mask.

    groups: glob over the whole dotted path -> label, as in {"*.scale": "no_decay", "Llama.table": "frozen"}
    Raises `UserError` for a pattern without a match.
    """
    paths = list(paths)
    for pattern in groups:
        if not any(fnmatchcase(path, pattern) for path in paths):
            near = difflib.get_close_matches(pattern, paths, 3, 0.3)
            raise UserError(
                f"the optimizer group `{pattern}` matches no weight", f"there are {', '.join(near or paths[:5])}"
            )
    return {path: next((to for glob, to in groups.items() if fnmatchcase(path, glob)), default) for path in paths}


def weight_of(key_path: tuple[Any, ...], paths: Mapping[str, Any]) -> str | None:
    """The weight that an optimizer leaf belongs to: the last dict key on its way that is a weight's path."""
    keys = [key.key for key in key_path if isinstance(key, jax.tree_util.DictKey)]
    return next((key for key in reversed(keys) if key in paths), None)


def state_shardings(
    state: Any, weights: Mapping[str, jax.ShapeDtypeStruct], placement: Mapping[str, PartitionSpec], mesh: Mesh
) -> Any:
    """A sharding for each leaf of an optax state, of the state's structure.

    state: what `jax.eval_shape(optimizer.init, weights)` gives
    A leaf of a weight's shape lies as `placement` says for that weight; any other (counts, factored moments) is
    replicated. A leaf is known by the weight path on its way, as in checkpoints.
    """

    def sharding(key_path: tuple[Any, ...], leaf: jax.ShapeDtypeStruct) -> NamedSharding:
        path = weight_of(key_path, weights)
        same = path is not None and leaf.shape == weights[path].shape
        return NamedSharding(mesh, placement[path] if same else PartitionSpec())

    return jax.tree_util.tree_map_with_path(sharding, state)
