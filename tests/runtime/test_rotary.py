"""Rotary positions against complex numbers, and their slowing against what its papers say."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from meshc.runtime import ops
from meshc.runtime.rotary import linear, llama3, speeds, yarn

PAIRS, THETA, FACTOR, ORIGINAL = 32, 10_000.0, 8.0, 2048
TURNS = ORIGINAL * speeds(PAIRS, THETA) / (2 * math.pi)  # of each pair in the original positions


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("magnitude", [1.0, 1.25])
def test_pairs_are_complex_numbers_that_turn(interleaved: bool, magnitude: float):
    x = np.random.default_rng(0).normal(size=(2, 6, 3, 8))  # [batch, seq, heads, head_dim]
    a, b = (x[..., ::2], x[..., 1::2]) if interleaved else np.split(x, 2, axis=-1)
    turned = (a + 1j * b) * magnitude * np.exp(1j * np.arange(6)[:, None, None] * THETA ** (-np.arange(4) / 4))
    halves = (turned.real, turned.imag)
    expected = np.stack(halves, -1).reshape(x.shape) if interleaved else np.concatenate(halves, -1)
    found = ops.rope(jnp.asarray(x), THETA, interleaved=interleaved, magnitude=magnitude)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_linear_slows_all_alike():
    np.testing.assert_allclose(speeds(PAIRS, THETA, linear(FACTOR)), speeds(PAIRS, THETA) / FACTOR, rtol=1e-12)


@pytest.mark.parametrize("slowing", [llama3, yarn])
def test_quick_pairs_keep_their_speed_and_slow_ones_are_slowed(slowing):
    ratio = speeds(PAIRS, THETA, slowing(FACTOR, ORIGINAL, low=1.0, high=4.0)) / speeds(PAIRS, THETA)
    assert (ratio[TURNS > 4 * 1.4] == 1).all()  # yarn goes to whole pairs, a step of 1.33 in turns
    np.testing.assert_allclose(ratio[TURNS < 1 / 1.4], 1 / FACTOR)
    assert (np.diff(ratio) <= 0).all()


def test_llama3_mixes_by_the_number_of_turns():
    ratio = speeds(PAIRS, THETA, llama3(FACTOR, ORIGINAL, low=1.0, high=4.0)) / speeds(PAIRS, THETA)
    between = (TURNS > 1) & (TURNS < 4)
    share = (TURNS[between] - 1) / 3
    assert between.any()
    np.testing.assert_allclose(ratio[between], share + (1 - share) / FACTOR)


@pytest.mark.parametrize("whole", [True, False])
def test_yarn_mixes_by_the_pair(whole: bool):
    """Pair i turns TURNS[0] * theta ** (-i / pairs) times, so k times where i = pairs * log(TURNS[0] / k) / log(theta)."""
    first, last = (PAIRS * math.log(TURNS[0] / turns) / math.log(THETA) for turns in (32, 1))
    if whole:
        first, last = math.floor(first), math.ceil(last)
    share = np.clip((last - np.arange(PAIRS)) / (last - first), 0, 1)
    ratio = speeds(PAIRS, THETA, yarn(FACTOR, ORIGINAL, whole=whole)) / speeds(PAIRS, THETA)
    np.testing.assert_allclose(ratio, share + (1 - share) / FACTOR)


def test_what_lies_side_by_side_is_repeated_where_it_lacks_a_dim():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 3, 4, 5)), rng.normal(size=(2, 3, 1, 2))
    found = ops.concatenate([jnp.asarray(a), jnp.asarray(b)], axis=3)
    np.testing.assert_array_equal(found, np.concatenate([a, np.repeat(b, 4, axis=2)], axis=3))
    found = ops.concatenate([jnp.asarray(a), jnp.asarray(b[0])], axis=3)
    np.testing.assert_array_equal(found, np.concatenate([a, np.broadcast_to(b[0], (2, 3, 4, 2))], axis=3))
