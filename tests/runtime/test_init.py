"""Initial values follow from seed, path and real shape; modules and flat dicts are the same thing."""

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from meshc.runtime import gradients, init, remat

KEY = jax.random.key(0)


class Layer(nnx.Module):
    def __init__(self, key: jax.Array) -> None:
        self.w = init.param(key, "w", (4, 6), std=0.5)
        self.eval_ = init.param(key, "eval", (4,), constant=1.0)
        self.seen = init.state(key, "seen", (), constant=0.0)


class Model(nnx.Module):
    def __init__(self, key: jax.Array) -> None:
        self.table = init.param(key, "table", (8, 4), std=1.0)
        self.block = init.stacked(Layer, init.child(key, "block"), 3)
        self.nested = init.stacked(Layer, init.child(key, "nested"), 2, 3)


RENAMED = {"eval_": "eval"}


def test_padding_does_not_change_what_is_drawn():
    plain = init.param(KEY, "w", (5, 3), std=1.0)[...]
    padded = init.param(KEY, "w", (8, 4), std=1.0, real=(5, 3))[...]
    assert (padded[:5, :3] == plain).all()
    assert not padded[5:].any() and not padded[:, 3:].any()


def test_precision_does_not_change_what_is_drawn():
    drawn = init.param(KEY, "w", (5, 3), std=1.0)[...]
    assert (init.param(KEY, "w", (5, 3), std=1.0, dtype=jnp.bfloat16)[...] == drawn.astype(jnp.bfloat16)).all()


def test_each_name_has_values_of_its_own():
    a, b = (init.param(KEY, name, (64,), std=1.0)[...] for name in "ab")
    assert abs(np.corrcoef(a, b)[0, 1]) < 0.5


def test_the_deviation_is_what_was_asked():
    """Of 10,000 numbers the deviation is known to 0.7 %."""
    assert abs(init.param(KEY, "w", (100, 100), std=0.02)[...].std() / 0.02 - 1) < 0.03


def test_stacked_layers_differ_and_stand_in_front():
    weights = init.draw(Model, "M", 0, renamed=RENAMED)
    assert weights["M.block.w"].shape == (3, 4, 6)
    assert weights["M.nested.w"].shape == (2, 3, 4, 6)
    assert (weights["M.block.w"][0] != weights["M.block.w"][1]).all()


def test_a_model_and_its_flat_dict():
    weights = init.draw(Model, "M", 0, renamed=RENAMED)
    assert "M.block.eval" in weights
    model = init.assemble(init.structure(Model), weights, RENAMED)
    again = init.flat(model, "M", renamed=RENAMED)
    assert again.keys() == weights.keys()
    assert all((again[path] == weights[path]).all() for path in weights)
    assert init.flat(model, "M", init.Carried, RENAMED).keys() == {"M.block.seen", "M.nested.seen"}


def test_assembling_leaves_the_arrays_alone():
    weights = init.draw(Model, "M", 0)
    init.assemble(init.structure(Model), weights).table[...] = 0
    assert weights["M.table"].any()


def saved(function, policy, *arguments) -> int:
    """How many residuals of a matrix's size a policy keeps, arguments not counted."""
    residuals = jax.ad_checkpoint.saved_residuals if hasattr(jax.ad_checkpoint, "saved_residuals") else None
    if residuals is None:
        from jax._src.ad_checkpoint import saved_residuals as residuals
    found = residuals(jax.checkpoint(function, policy=policy), *arguments)
    return sum("argument" not in why for _, why in found)


def test_gathered_weights_are_made_again_and_named_activations_kept():
    mesh = jax.make_mesh((2,), ("a",), axis_types=(jax.sharding.AxisType.Auto,), devices=jax.devices()[:2])
    gather = lambda w: jax.lax.all_gather(w, "a", axis=0, tiled=True)  # noqa: E731

    def count(kept, policy):
        found = []

        def local(x, w):
            found.append(saved(lambda x, w: jnp.sin(kept(gather(x)) @ gather(w)).sum(), policy, x, w))
            return x

        spec = jax.sharding.PartitionSpec("a")
        jax.eval_shape(
            jax.shard_map(local, mesh=mesh, in_specs=(spec, spec), out_specs=spec),
            jax.ShapeDtypeStruct((4, 4), jnp.float32), jax.ShapeDtypeStruct((4, 4), jnp.float32),
        )  # fmt: skip
        return found[0]

    both = count(lambda x: x, lambda *_, **__: True)
    assert count(remat.kept_activation, remat.all_but_gathered_weights) == both - 1
    assert count(lambda x: x, remat.all_but_gathered_weights) == both - 2
    assert count(remat.kept_weight, remat.weights) == 1


def test_gradients_start_from_zeros_of_their_place():
    """A weight whole at rest, its gradient split over d: each device adds up half of it."""
    P = jax.sharding.PartitionSpec
    mesh = jax.make_mesh((2,), ("d",), axis_types=(jax.sharding.AxisType.Auto,), devices=jax.devices()[:2])
    shapes = []

    def local(w):
        zeros = gradients.zeros({"w": jax.lax.pcast(w, "d", to="varying")}, {"w": P()}, {"w": P("d")})
        shapes.append(zeros["w"].shape)
        return zeros["w"]

    found = jax.shard_map(local, mesh=mesh, in_specs=P(), out_specs=P("d"))(jnp.ones((4, 3)))
    assert shapes == [(2, 3)]
    assert found.shape == (4, 3) and not found.any()
