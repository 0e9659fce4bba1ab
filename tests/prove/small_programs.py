"""One small program for each collective and each way to nest one, on a mesh of a 2 x b 2 x c 2; prints {name: HLO}."""

from __future__ import annotations

import json
from functools import partial

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

MESH = jax.make_mesh((2, 2, 2), ("a", "b", "c"), axis_types=(AxisType.Auto,) * 3)
SPLIT = P(("a", "b", "c"))
RING = [(0, 1), (1, 0)]
WHOLE = jnp.zeros((64, 16), jnp.float32)  # 8 rows of 16 a device: 512 bytes


def local(function, out=SPLIT):
    """`function` of one device's rows, everything else jit's business."""
    return jax.shard_map(function, mesh=MESH, in_specs=SPLIT, out_specs=out, check_vma=False)


def scanned(x):
    def turn(carry, _):
        return lax.psum(carry, "b") * 0.5, None

    return lax.scan(turn, x, length=5)[0]


def nested(x):
    def inner(carry, _):
        return lax.psum(carry, "c") * 0.5, None

    def outer(carry, _):
        return lax.scan(inner, lax.psum(carry, "a") * 0.5, length=3)[0], None

    return lax.scan(outer, x, length=4)[0]


def until_small(x):
    return lax.while_loop(lambda v: v.sum() > 1, lambda v: lax.psum(v, "a") * 0.1, x)


def one_branch(x):
    return lax.cond(x[0, 0] > 0, lambda v: lax.psum(v, "b"), lambda v: v, x)


def products(x):
    def turn(carry, _):
        return jnp.tanh(carry @ jnp.ones((16, 16))), None

    return lax.scan(turn, x, length=6)[0]


PROGRAMS = {
    "all_gather": local(partial(lax.all_gather, axis_name="b", tiled=True)),
    "all_gather_two": local(partial(lax.all_gather, axis_name=("a", "c"), tiled=True)),
    "reduce_scatter": local(partial(lax.psum_scatter, axis_name="c", tiled=True)),
    "all_reduce": local(partial(lax.psum, axis_name=("b", "c"))),
    "all_reduce_tree": local(lambda x: [lax.psum(v, "a") for v in (x, x.sum(), x.astype(jnp.bfloat16).T)], out=P()),
    "all_to_all": local(partial(lax.all_to_all, axis_name="b", split_axis=1, concat_axis=0, tiled=True)),
    "permute": local(partial(lax.ppermute, axis_name="c", perm=RING)),
    "scanned": local(scanned),
    "nested": local(nested),
    "until_small": local(until_small),
    "one_branch": local(one_branch),
    "products": local(products),
    "global_norm": lambda x: jnp.sqrt((x * x).sum()),
}


def hlo(function) -> str:
    split = jax.ShapeDtypeStruct(WHOLE.shape, WHOLE.dtype, sharding=NamedSharding(MESH, SPLIT))
    return jax.jit(function).lower(split).compile().as_text() or ""


if __name__ == "__main__":
    print(json.dumps({name: hlo(function) for name, function in PROGRAMS.items()}))
