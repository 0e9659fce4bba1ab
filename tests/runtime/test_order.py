"""Orders of dims: a permutation that balances causal work, its inverse, and stacks with padding."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import PartitionSpec as P

from meshc.runtime import ops
from meshc.runtime.order import canonical, on_devices, places, zigzag


def test_zigzag_gives_each_part_an_early_and_a_late_chunk():
    assert zigzag(8, 2).tolist() == [0, 1, 6, 7, 2, 3, 4, 5]  # the rank order of AI-Hypercomputer/maxtext#4364


@pytest.mark.parametrize(("size", "parts"), [(12, 1), (12, 2), (12, 3), (30, 5), (64, 8)])
def test_each_part_has_the_same_causal_work(size, parts):
    order = zigzag(size, parts)
    assert sorted(order) == list(range(size))
    assert len({(part + 1).sum() for part in order.reshape(parts, -1)}) == 1  # a query sees as many keys as its place


def test_one_part_is_the_natural_order():
    assert zigzag(6, 1).tolist() == list(range(6))


@pytest.mark.parametrize("parts", [1, 2, 3])
def test_positions_on_devices_are_those_of_the_table(parts):
    order = zigzag(12, parts)
    assert ops.positions(12, zigzag=parts).tolist() == order.tolist()
    assert ops.place_in_zigzag(jnp.asarray(order), 12, parts).tolist() == list(range(12))
    x = np.arange(24).reshape(2, 12)
    assert (np.asarray(ops.zigzag_order(jnp.asarray(x), parts, 1)) == on_devices(x, {1: order})).all()
    assert (np.asarray(ops.natural_order(jnp.asarray(on_devices(x, {1: order})), parts, 1)) == x).all()


def test_a_split_dim_knows_its_positions():
    mesh = jax.make_mesh((2, 2), ("a", "b"), axis_types=(jax.sharding.AxisType.Auto,) * 2, devices=jax.devices()[:4])
    local = jax.shard_map(
        lambda x: x + ops.positions(x.shape[0], ("a", "b"), 2),
        mesh=mesh,
        in_specs=P(("a", "b")),
        out_specs=P(("a", "b")),
    )
    assert local(jnp.zeros(16, jnp.int32)).tolist() == zigzag(16, 2).tolist()


def test_a_stack_with_padding():
    """Five layers for three devices of two: the places of a device that has one layer are filled with zeros."""
    order = [0, 1, 2, -1, 3, 4]
    x = np.arange(1, 11).reshape(5, 2)
    held = on_devices(x, {0: order})
    assert held[:, 0].tolist() == [1, 3, 5, 0, 7, 9]
    assert places(order).tolist() == [0, 1, 2, 4, 5]
    assert (canonical(held, {0: order}) == x).all()
    assert (canonical(on_devices(jnp.asarray(x), {0: order}), {0: order}) == x).all()
