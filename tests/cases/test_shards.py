"""Where things lie, read off the shards themselves; and masks of dropout that do not depend on it."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, PartitionSpec

from meshc.runtime import ops

PADDED = """mesh { dp_shard = 8 }
dims { batch = 8, seq = 8, embed = 16, vocab = pad(17, 8) }
model Tiny(tokens: [batch, seq] of vocab) {
  param table: vocab -> embed
  param head: embed -> vocab
  loss next_token(table[tokens] @ head, tokens)
}
partition {
  data(dp_shard)
  params { vocab -> dp_shard }
}
"""
DROPOUT = """mesh { dp = 1, tp = 1 }
dims { batch = 4, seq = 4, embed = 8, mlp = 8, vocab = 16 }
model Tiny(tokens: [batch, seq] of vocab) {
  param table: vocab -> embed
  param up: embed -> mlp
  x = dropout(table[tokens], 0.5)
  loss square(x @ up)
}
partition {
  data(dp)
  tensor(tp)
  vocab -> none
}
"""


def test_every_device_holds_three_rows_of_seventeen_padded(build):
    """jax-ml/jax#26946: what does not divide was replicated without a word, whatever spec was asked for."""
    weights = build(PADDED).init(0).weights
    shapes = {path: {s.data.shape for s in w.addressable_shards} for path, w in weights.items()}
    assert shapes == {"Tiny.table": {(3, 16)}, "Tiny.head": {(16, 3)}}
    rows = [np.asarray(s.data) for s in weights["Tiny.table"].addressable_shards]
    assert (
        len({r.tobytes() for r in rows}) == 5 + 1 + 1
    )  # 17 rows fill five shards and most of a sixth; two are padding
    assert [r.any(axis=1).sum() for r in rows] == [3, 3, 3, 3, 3, 2, 0, 0]


def mask(run, *sets: str) -> np.ndarray:
    """What dropout kept of [token, embed], seen in the gradient: each token occurs once, so a row is its own mask."""
    up = np.eye(8) + 0.1
    _, grads = run(DROPOUT, {"Tiny.table": np.ones((16, 8)), "Tiny.up": up}, np.arange(16).reshape(4, 4), *sets)
    return grads["Tiny.table"]


def test_masks_are_the_same_on_every_mesh(run):
    """tenstorrent/tt-metal#55947: seeds were the same everywhere or different everywhere.

    Two halves of the batch on dp 2 have two masks; both devices of a tp pair work with the same one.
    """
    one = mask(run)
    np.testing.assert_allclose(mask(run, "mesh.dp=2", "mesh.tp=2"), one, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(mask(run, "mesh.dp=4"), one, rtol=1e-5, atol=1e-7)
    assert 0.3 < np.mean(one != 0) < 0.7
    halves = (one != 0).reshape(2, 8, 8)
    assert (halves[0] != halves[1]).any()


def test_a_pair_of_devices_with_the_same_rows_draws_one_mask():
    mesh = jax.make_mesh((2, 2), ("dp", "tp"), axis_types=(AxisType.Auto,) * 2, devices=jax.devices()[:4])

    def drop(x: jax.Array) -> jax.Array:
        kept = ops.dropout(x, 0.5, jax.random.key(0), (("dp",), ()))
        return jax.lax.pcast(kept, "tp", to="varying")[None]

    rows = PartitionSpec("dp", None)
    dropped = jax.jit(jax.shard_map(drop, mesh=mesh, in_specs=rows, out_specs=PartitionSpec("tp", "dp")))(
        jnp.ones((8, 16))
    )
    masks = [np.asarray(s.data)[0].tobytes() for s in dropped.addressable_shards]
    assert (len(masks), len(set(masks))) == (4, 2)
    np.testing.assert_array_equal(*np.asarray(dropped))  # the two devices of each pair


@pytest.mark.parametrize("extra", [(), ("mesh.dp=2", "mesh.tp=2")])
def test_without_dropout_every_gradient_is_there(extra, run):
    """The control: it is the mask that makes the zeros above."""
    spec = DROPOUT.replace("0.5", "0.0")
    _, grads = run(
        spec, {"Tiny.table": np.ones((16, 8)), "Tiny.up": np.eye(8) + 0.1}, np.arange(16).reshape(4, 4), *extra
    )
    assert (grads["Tiny.table"] != 0).all()
