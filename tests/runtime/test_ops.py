"""Operations on local parts say on eight devices what they say on one."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import AxisType, Mesh
from jax.sharding import PartitionSpec as P

from meshc.runtime import ops

RNG = np.random.default_rng(0)


def mesh(**axes: int) -> Mesh:
    devices = jax.devices()[: int(np.prod(list(axes.values())))]
    return jax.make_mesh(tuple(axes.values()), tuple(axes), axis_types=(AxisType.Auto,) * len(axes), devices=devices)


def normal(*shape: int) -> jax.Array:
    return jnp.asarray(RNG.normal(size=shape), jnp.float32)


def close(a, b, tolerance: float = 1e-5) -> None:
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=tolerance, atol=tolerance)


# ---------------------------------------------------------------- lookup, rope, softmax


def test_a_lookup_in_split_rows_adds_up_to_the_lookup():
    table, ids = normal(16, 4), jnp.asarray([[0, 5, 15], [7, 8, 3]])
    local = jax.shard_map(
        lambda t, i: lax.psum(ops.lookup(t, i, ("a", "b")), ("a", "b")),
        mesh=mesh(a=2, b=4), in_specs=(P(("a", "b")), P()), out_specs=P(),
    )  # fmt: skip
    close(local(table, ids), table[ids])


def test_ids_out_of_range_give_zero():
    assert not ops.lookup(jnp.ones((4, 2)), jnp.asarray([-1, 4])).any()


def test_positions_of_a_split_sequence_are_global():
    x = normal(2, 8, 3, 4)
    local = jax.shard_map(
        lambda x: ops.rope(x, axes=("s",)), mesh=mesh(s=4), in_specs=P(None, "s"), out_specs=P(None, "s")
    )
    close(local(x), ops.rope(x))


def test_rope_turns_pairs_by_their_position():
    """Position 1, one pair: an angle of 1 radian (theta to the power 0)."""
    x = jnp.asarray([[[[1.0, 0.0]], [[1.0, 0.0]]]])
    close(ops.rope(x)[0, :, 0], [[1, 0], [np.cos(1), np.sin(1)]])


def test_products_of_turned_vectors_depend_on_their_distance_only():
    q, k = (jnp.broadcast_to(normal(1, 1, 1, 8), (1, 6, 1, 8)) for _ in range(2))
    scores = jnp.einsum("bshd,bthd->st", ops.rope(q), ops.rope(k))
    close(jnp.diagonal(scores, 1), jnp.full(5, scores[0, 1]))


def test_softmax_over_a_split_dim():
    x = normal(3, 8)
    local = jax.shard_map(
        lambda x: ops.softmax(x, axes=("a",)), mesh=mesh(a=4), in_specs=P(None, "a"), out_specs=P(None, "a")
    )
    close(local(x), jax.nn.softmax(x))


def test_softmax_gives_padding_nothing():
    found = ops.softmax(jnp.zeros((2, 8)), real=5)
    close(found, jnp.asarray([[0.2] * 5 + [0] * 3] * 2))


# ---------------------------------------------------------------- activations


@pytest.mark.parametrize("name", ["silu", "gelu", "softplus"])
def test_activations_are_those_of_jax_and_keep_only_their_input(name: str):
    ours, theirs = getattr(ops, name), getattr(jax.nn, name)
    exact = {"approximate": False} if name == "gelu" else {}
    x = normal(32)
    close(ours(x), theirs(x, **exact))
    close(jax.grad(lambda x: ours(x).sum())(x), jax.grad(lambda x: theirs(x, **exact).sum())(x))
    _, pull = jax.vjp(ours, x)
    assert [leaf.shape for leaf in jax.tree.leaves(pull) if np.size(leaf) > 1] == [(32,)]


# ---------------------------------------------------------------- losses


def reference(logits: jax.Array, targets: jax.Array) -> jax.Array:
    logs = jax.nn.log_softmax(logits)
    picked = jnp.take_along_axis(logs, jnp.maximum(targets, 0)[..., None], -1)[..., 0]
    return -jnp.where(targets >= 0, picked, 0).sum()


LOGITS, TARGETS = normal(2, 5, 8), jnp.asarray([[0, 7, -1, 3, 4], [1, 2, 6, 5, -1]])


def test_cross_entropy_and_its_gradient():
    found = jax.value_and_grad(lambda x: ops.cross_entropy(x, TARGETS))(LOGITS)
    for a, b in zip(found, jax.value_and_grad(lambda x: reference(x, TARGETS))(LOGITS), strict=True):
        close(a, b)


def test_cross_entropy_with_batch_and_vocabulary_split():
    def local(logits, targets):
        def loss(logits):
            return lax.psum(ops.cross_entropy(logits, targets, ("v",)), "b")

        return jax.value_and_grad(loss)(logits)

    split = jax.shard_map(
        local, mesh=mesh(b=2, v=4), in_specs=(P("b", None, "v"), P("b")), out_specs=(P(), P("b", None, "v"))
    )
    loss, grads = split(LOGITS, TARGETS)
    expected = jax.value_and_grad(lambda x: reference(x, TARGETS))(LOGITS)
    close(loss, expected[0])
    close(grads, expected[1])


def test_a_padded_vocabulary_is_as_if_it_were_not():
    wide = jnp.concatenate([LOGITS, jnp.full((2, 5, 3), 9.0)], axis=-1)
    loss, grads = jax.value_and_grad(lambda x: ops.cross_entropy(x, TARGETS, real=8))(wide)
    close(loss, reference(LOGITS, TARGETS))
    assert not grads[..., 8:].any()


def test_the_loss_of_bfloat16_logits_is_summed_in_float32():
    assert ops.cross_entropy(LOGITS.astype(jnp.bfloat16), TARGETS).dtype == jnp.float32


def test_the_count_is_of_real_targets():
    assert ops.count(jnp.asarray([[4, 5, -1], [7, 8, -1]])) == 4


def test_a_step_without_targets_divides_by_one():
    assert ops.count(jnp.asarray([-1, -1])) == 1


# ---------------------------------------------------------------- movement and noise


def test_each_takes_its_part_and_gradients_come_back_whole():
    """The gradient of x[i] * w[i] is w: gathered, and equal on all devices."""
    x, w = normal(8), normal(8)

    def local(x, w):
        return jax.grad(lambda x: lax.psum((ops.shard(x, "a", 0) * w).sum(), "a"))(x)

    found = jax.shard_map(local, mesh=mesh(a=4), in_specs=(P(), P("a")), out_specs=P())(x, w)
    close(found, w)


def test_the_own_part_of_what_varies():
    """x is spread: each device's gradient has zeros elsewhere, and their sum is whole."""
    x, w = normal(8), normal(8)

    def local(x, w):
        spread = lax.pcast(x, "a", to="varying")
        return lax.psum(jax.grad(lambda x: (ops.own_part(x, "a", 0) * w).sum())(spread), "a")

    close(jax.shard_map(local, mesh=mesh(a=4), in_specs=(P(), P("a")), out_specs=P())(x, w), w)


KEY = jax.random.key(3)


def test_dropout_does_not_know_the_mesh():
    x = jnp.ones((4, 8, 16))
    local = jax.shard_map(
        lambda x: ops.dropout(x, 0.25, KEY, split=(("a", "b"), ("c",), ())),
        mesh=mesh(a=2, b=2, c=2), in_specs=P(("a", "b"), "c"), out_specs=P(("a", "b"), "c"),
    )  # fmt: skip
    assert (local(x) == ops.dropout(x, 0.25, KEY)).all()


def test_dropout_drops_its_share_and_scales_the_rest():
    """Of 65,536 the share dropped has a standard deviation of 0.0017."""
    x = ops.dropout(jnp.ones((256, 256)), 0.25, KEY)
    assert abs((x == 0).mean() - 0.25) < 0.01
    close(x[x > 0], 4 / 3)


def test_rows_and_keys_have_masks_of_their_own():
    x = ops.dropout(jnp.ones((4, 64)), 0.5, KEY)
    assert len({tuple(row) for row in np.asarray(x).tolist()}) == 4
    assert (x != ops.dropout(jnp.ones((4, 64)), 0.5, jax.random.key(4))).any()


def test_a_rate_of_zero_is_nothing():
    x = normal(4)
    assert ops.dropout(x, 0.0, KEY) is x
