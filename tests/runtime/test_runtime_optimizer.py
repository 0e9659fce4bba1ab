"""Schedules, groups by path, and where the optimizer's state lies."""

from collections.abc import Hashable

import jax
import jax.numpy as jnp
import optax
import pytest
from jax.sharding import PartitionSpec as P

from meshc import runtime

SHAPES = {"M.a": (256, 128), "M.norm.scale": (128,), "M.table": (8, 8)}
WEIGHTS = {path: jax.ShapeDtypeStruct(shape, jnp.float32) for path, shape in SHAPES.items()}
PLACES = {"M.a": P("x", None), "M.norm.scale": P(), "M.table": P(None, "x")}


@pytest.mark.parametrize(
    ("name", "warmup", "expected"),
    [
        ("constant", 0, [1, 1, 1, 1, 1, 1]),
        ("constant", 2, [0.5, 1, 1, 1, 1, 1]),
        ("linear", 0, [1, 0.75, 0.5, 0.25, 0, 0]),
        ("linear", 2, [0.5, 1, 1, 0.5, 0, 0]),
        ("cosine", 0, [1, 0.853553, 0.5, 0.146447, 0, 0]),  # (1 + cos(pi i / 4)) / 2
    ],
)
def test_schedules(name, warmup, expected):
    rate = runtime.schedule(name, 2.0, 4, warmup)
    assert [float(rate(count)) for count in range(6)] == pytest.approx([2 * value for value in expected], abs=1e-6)


def test_a_schedule_ends_where_it_is_told():
    rate = runtime.schedule("cosine", 1.0, 10, end=0.1)
    assert float(rate(10)) == float(rate(99)) == pytest.approx(0.1)


def test_the_first_group_that_matches_a_path_has_it():
    labels = runtime.label_paths(SHAPES, {"*.scale": "no_decay", "M.table": "frozen", "M.*": "rest"})
    assert labels == {"M.a": "rest", "M.norm.scale": "no_decay", "M.table": "frozen"}
    assert runtime.label_paths(SHAPES, {}, default="all") == dict.fromkeys(SHAPES, "all")


def test_a_group_that_matches_nothing_is_an_error():
    with pytest.raises(runtime.UserError, match=r"`M.tabel` matches no weight\n.*M.table"):
        runtime.label_paths(SHAPES, {"M.tabel": "frozen"})


def shardings(optimizer):
    mesh = runtime.make_mesh({"x": 8})
    state = jax.eval_shape(optimizer.init, WEIGHTS)
    places = runtime.state_shardings(state, WEIGHTS, PLACES, mesh)
    assert jax.tree.structure(state) == jax.tree.structure(places)
    named = jax.tree.leaves_with_path(places)
    return {jax.tree_util.keystr(path, simple=True, separator="/"): place.spec for path, place in named}


def test_moments_lie_in_the_optimizer_place_and_counts_everywhere():
    assert shardings(optax.adam(1e-3)) == {
        "0/count": P(),
        **{f"0/{moment}/{path}": place for moment in ("mu", "nu") for path, place in PLACES.items()},
    }


def test_groups_keep_the_places():
    labels = runtime.label_paths(SHAPES, {"*.scale": "no_decay", "M.table": "frozen"}, "decay")
    groups: dict[Hashable, optax.GradientTransformation] = {
        "decay": optax.adamw(1e-3),
        "no_decay": optax.adam(1e-3),
        "frozen": optax.set_to_zero(),
    }
    places = shardings(optax.chain(optax.clip_by_global_norm(1.0), optax.partition(groups, labels)))
    assert places["1/inner_states/decay/inner_state/0/mu/M.a"] == P("x", None)
    assert not any("M.table" in name for name in places)


def test_leaves_of_another_shape_are_whole():
    places = shardings(optax.adafactor(1e-3))
    assert places["0/v_row/M.a"] == places["0/v_col/M.a"] == places["0/v/M.a"] == P()
    assert places["0/v/M.table"] == P(None, "x")  # too small to factor: of the weight's shape
