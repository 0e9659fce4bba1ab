"""Routed experts on a mesh against a loop over all experts and tokens on one device, in float64."""

from __future__ import annotations

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

from meshc.runtime import moe, remat
from meshc.runtime.moe import choice, exchange
from meshc.runtime.order import zigzag

BATCH, SEQ, EMBED, MLP, EXPERTS = 8, 4, 6, 10, 8


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


def drawn() -> dict[str, jax.Array]:
    source = np.random.default_rng(0)
    shapes = {
        "x": (BATCH, SEQ, EMBED),
        "router": (EMBED, EXPERTS),
        "up": (EXPERTS, EMBED, MLP),
        "bias": (EXPERTS, MLP),
        "down": (EXPERTS, MLP, EMBED),
        "target": (BATCH, SEQ, EMBED),
    }
    return {name: jnp.asarray(source.standard_normal(shape)) for name, shape in shapes.items()}


def dense_loss(w: dict[str, jax.Array], top_k: int, keep=None, **options) -> jax.Array:
    """Every expert on every token, weighed by a mask."""
    scores = jax.nn.softmax(w["x"] @ w["router"], axis=-1).reshape(-1, EXPERTS)
    chosen, weights = moe.choose(scores, top_k, **options)
    if keep is not None:
        weights = jnp.where(keep(np.asarray(lax.stop_gradient(chosen))), weights, 0)
    x, out = w["x"].reshape(-1, EMBED), 0
    for e in range(EXPERTS):
        weight = jnp.where(chosen == e, weights, 0).sum(-1)
        out += weight[:, None] * (jnp.tanh(x @ w["up"][e] + w["bias"][e]) @ w["down"][e])
    share = (chosen[..., None] == jnp.arange(EXPERTS)).mean((0, 1))
    balance = EXPERTS * (share * (scores / scores.sum(-1, keepdims=True)).mean(0)).sum()
    return (out * w["target"].reshape(-1, EMBED)).mean() + 0.1 * balance


def mesh_loss(mesh, w, *, axes, tokens, tensor=(), **options):
    """The same on a mesh: `tokens` are the axes of batch and seq, `axes` those of the experts."""

    def local(x, router, up, bias, down, target):
        router, up, bias, down = (
            lax.pcast(a, _missing(a, (*tokens[0], *tokens[1])), to="varying") for a in (router, up, bias, down)
        )
        scores = jax.nn.softmax(x @ router, axis=-1)
        spread = lax.pcast(x, tuple(tensor), to="varying") if tensor else x
        rows, routing = moe.route(spread, scores, axes=axes, split=tokens, **options)
        h = jnp.tanh(moe.product(rows, up, routing) + moe.per_row(bias, routing))
        out = moe.combine(moe.product(h, down, routing), routing)
        if tensor:
            out = lax.psum(out, tuple(tensor))
        every = tuple(a for dim in tokens for a in dim)
        loss = (out * target).sum() / (BATCH * SEQ * EMBED)
        loss = lax.psum(loss, every) if every else loss
        return loss + 0.1 * moe.load_balance(routing, every)

    over, cut = P(axes or None), tuple(tensor) or None
    spec = P(*(a or None for a in tokens))
    names = ("x", "router", "up", "bias", "down", "target")
    specs = (spec, P(), P(*over, None, cut), P(*over, cut), P(*over, cut), spec)
    return jax.shard_map(local, mesh=mesh, in_specs=specs, out_specs=P())(*(w[n] for n in names))


def _missing(x, axes):
    return tuple(a for a in axes if a not in jax.typeof(x).manual_axis_type.varying)


def mesh_of(**axes: int):
    devices = jax.devices()[: int(np.prod(list(axes.values())))]
    return jax.make_mesh(tuple(axes.values()), tuple(axes), axis_types=(AxisType.Auto,) * len(axes), devices=devices)


CASES = {
    "one device": ({"ep": 1}, (), ((), ())),
    "ep over the batch": ({"ep": 4}, ("ep",), (("ep",), ())),
    "ep of eight": ({"ep": 8}, ("ep",), (("ep",), ())),
    "two axes, over batch and sequence": ({"dp": 2, "a": 2, "b": 2}, ("a", "b"), (("dp", "a"), ("b",))),
    "ep inside of dp": ({"dp": 2, "ep": 4}, ("ep",), (("dp",), ("ep",))),
    "ep outside of dp": ({"ep": 2, "dp": 4}, ("ep",), (("ep", "dp"), ())),
}


def compare(w, mesh, one, two):
    loss, grads = jax.jit(jax.value_and_grad(functools.partial(mesh_loss, mesh, **one)))(w)
    loss_one, grads_one = jax.value_and_grad(functools.partial(dense_loss, **two))(w)
    np.testing.assert_allclose(loss, loss_one, rtol=1e-12)
    for name, grad in grads_one.items():
        np.testing.assert_allclose(grads[name], grad, rtol=1e-9, atol=1e-12 * np.abs(grad).max(), err_msg=name)


QUICK = ("one device", "two axes, over batch and sequence")


@pytest.mark.parametrize("case", [pytest.param(c, marks=[] if c in QUICK else pytest.mark.slow) for c in CASES])
@pytest.mark.parametrize("top_k", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_losses_and_gradients_are_those_of_a_dense_loop(case: str, top_k: int):
    axes, over, tokens = CASES[case]
    options = {"top_k": top_k, "normalise": top_k > 1}
    compare(drawn(), mesh_of(**axes), {"axes": over, "tokens": tokens, **options}, options)


def test_an_experts_mlp_may_be_split():
    mesh = mesh_of(ep=4, tp=2)
    compare(drawn(), mesh, {"axes": ("ep",), "tokens": (("ep",), ()), "tensor": ("tp",), "top_k": 2}, {"top_k": 2})


def first_in_line(chosen: np.ndarray, most: int) -> np.ndarray:
    """Which choices an expert takes: the first `most` in the order of tokens."""
    taken, keep = dict.fromkeys(range(EXPERTS), 0), np.zeros(chosen.shape, bool)
    for at in np.ndindex(chosen.shape):
        keep[at] = taken[chosen[at]] < most
        taken[chosen[at]] += 1
    return keep


@pytest.mark.parametrize("case", ["one device", "two axes, over batch and sequence"])
def test_a_capacity_drops_the_last_tokens_whatever_the_mesh(case: str):
    """32 tokens to 2 of 8 experts: 8 is an even share, 5 are 0.6 of it, rounded up."""
    axes, over, tokens = CASES[case]
    keep = functools.partial(first_in_line, most=5)
    assert not keep(np.asarray(moe.choose(scores_of(drawn()), 2)[0])).all()
    options = {"axes": over, "tokens": tokens, "top_k": 2, "capacity": 0.6}
    loss = jax.jit(functools.partial(mesh_loss, mesh_of(**axes), **options))(drawn())
    np.testing.assert_allclose(loss, dense_loss(drawn(), 2, keep), rtol=1e-12)


def ragged_all_to_all(operand, output, input_offsets, send_sizes, output_offsets, recv_sizes, *, axis_name):
    """What jax documents of `lax.ragged_all_to_all`, by gathering all from all: XLA:CPU has no such collective."""
    operands, *tables = (
        lax.all_gather(x, axis_name) for x in (operand, input_offsets, send_sizes, output_offsets, recv_sizes)
    )
    starts, sent, ends, came = (table.reshape(len(operands), len(operands), -1) for table in tables)  # from, to, slice
    here, row = lax.axis_index(axis_name), jnp.arange(len(output))
    for source in range(len(operands)):
        for number in range(starts.shape[-1]):
            start, size, at = (t[source, here, number] for t in (starts, sent, ends))
            agreed = size == came[here, source, number]
            moved = operands[source][jnp.clip(start + row - at, 0, len(operand) - 1)]
            inside = (row >= at) & (row < at + size) & agreed
            output = jnp.where(inside[:, None], moved, output)
    return output


@pytest.mark.parametrize("capacity", [None, 0.6])
def test_the_ragged_form_gives_what_the_padded_one_does(monkeypatch, capacity: float | None):
    """Rows, weights and gradients, on two axes of experts inside of one of data."""
    axes, over, tokens = CASES["two axes, over batch and sequence"]
    options = {"axes": over, "tokens": tokens, "top_k": 2, "capacity": capacity}

    def loss_and_grads():
        return jax.jit(jax.value_and_grad(functools.partial(mesh_loss, mesh_of(**axes), **options)))(drawn())

    padded = loss_and_grads()
    monkeypatch.setattr(exchange, "_in_blocks", lambda rows: rows.ndim == 1)
    sent = []
    monkeypatch.setattr(exchange.lax, "ragged_all_to_all", lambda *x, **k: sent.append(x) or ragged_all_to_all(*x, **k))
    ragged = loss_and_grads()
    assert len(sent) == 4  # there and back, and both once more for gradients
    np.testing.assert_allclose(ragged[0], padded[0], rtol=1e-14)
    for name, grad in padded[1].items():
        np.testing.assert_allclose(ragged[1][name], grad, rtol=1e-12, atol=1e-15, err_msg=name)


@pytest.mark.parametrize("pairs", [1, 2, 4])
@pytest.mark.parametrize("cut", [1, 2, 3])
def test_tokens_in_zigzag_order_stand_in_line_in_the_natural_one(pairs: int, cut: int):
    """Pieces of a sequence in zigzag order over `pairs` shards, each cut once more: where each begins in the natural one."""
    order = zigzag(12 * pairs * cut, pairs)
    places = choice._places(pairs * cut, pairs)
    pieces = order.reshape(*places.shape, -1)
    assert (np.diff(pieces) == 1).all()
    assert (pieces[..., 0] == places * pieces.shape[-1]).all()


def scores_of(w: dict[str, jax.Array]) -> jax.Array:
    return jax.nn.softmax(w["x"] @ w["router"], axis=-1).reshape(-1, EXPERTS)


# ---------------------------------------------------------------- choices


def test_of_equal_scores_the_first_experts_count():
    chosen, weights = moe.choose(jnp.ones((3, EXPERTS)), 2)
    assert chosen.tolist() == [[0, 1]] * 3
    assert weights.tolist() == [[0.5, 0.5]] * 3


def test_a_bias_chooses_and_does_not_weigh():
    scores = jnp.asarray([[0.1, 0.2, 0.3, 0.4]])
    chosen, weights = moe.choose(scores, 2, jnp.asarray([1.0, 0, 0, 0]), normalise=False, scale=2.0)
    assert chosen.tolist() == [[0, 3]]
    np.testing.assert_allclose(weights, [[0.2, 0.8]])
    gradient = jax.grad(lambda bias: moe.choose(scores, 2, bias)[1].sum())(jnp.zeros(4))
    assert not gradient.any()


def test_only_experts_of_the_best_groups_are_chosen():
    """Groups of 2: the best expert, 3, is in the group of 2 and 3, 0.5 together; that of 0 and 1 has 0.6 together."""
    scores = jnp.asarray([[0.3, 0.3, 0.0, 0.5, 0.1, 0.1, 0.2, 0.0]])
    assert moe.choose(scores, 2, groups=4, top_groups=1)[0].tolist() == [[0, 1]]
    assert moe.choose(scores, 2, groups=4, top_groups=2)[0].tolist() == [[3, 0]]
    assert moe.choose(scores, 2)[0].tolist() == [[3, 0]]


def test_a_choice_is_not_made_again_in_the_backward_pass():
    """Made again, rounding could send a token elsewhere: of all that a policy of `full` forgets, it is kept."""

    def layer(w):
        rows, routing = moe.route(w["x"], jax.nn.softmax(w["x"] @ w["router"], axis=-1), top_k=2)
        return moe.combine(
            moe.product(jnp.tanh(moe.product(rows, w["up"], routing)), w["down"], routing), routing
        ).sum()

    def top_ks(policy) -> int:
        step = jax.value_and_grad(jax.checkpoint(lambda w: jnp.square(layer(w)), policy=policy))
        return jax.jit(step).lower(drawn()).as_text().count("chlo.top_k")

    policies = jax.checkpoint_policies
    assert top_ks(policies.nothing_saveable) == 2
    assert [top_ks(p) for p in (remat.gathered_vectors, remat.dots, remat.weights, remat.dots_and_weights)] == [1] * 4


# ---------------------------------------------------------------- balance


def test_loads_are_shares_of_all_tokens():
    mesh = mesh_of(dp=2, ep=4)
    w = drawn()

    def local(x, router):
        _, routing = moe.route(x, jax.nn.softmax(x @ router, axis=-1), top_k=2, axes=("ep",))
        return moe.load(routing, ("dp", "ep"))

    on_devices = jax.shard_map(local, mesh=mesh, in_specs=(P("dp", "ep"), P()), out_specs=P())
    load = jax.jit(on_devices)(w["x"], w["router"])
    chosen = np.asarray(moe.choose(scores_of(w), 2)[0])
    np.testing.assert_allclose(load, np.bincount(chosen.ravel(), minlength=EXPERTS) / chosen.size)


@pytest.mark.parametrize("over", [("ep",), ()])
def test_what_is_dropped_is_a_share_of_all_choices(over: tuple[str, ...]):
    """Counted beside it: of each expert the choices beyond its room, half of an even share of all; 0 without a capacity."""
    mesh, w = mesh_of(dp=2, ep=4), drawn()

    def local(x, router, capacity):
        options = {"top_k": 2, "axes": over, "capacity": capacity, "split": (("dp",), ("ep",))}
        _, routing = moe.route(x, jax.nn.softmax(x @ router, axis=-1), **options)
        return moe.dropped(routing, ("dp", "ep"))

    def share(capacity):
        on_devices = functools.partial(local, capacity=capacity)
        specs = {"mesh": mesh, "in_specs": (P("dp", "ep"), P()), "out_specs": P()}
        return float(jax.jit(jax.shard_map(on_devices, **specs))(w["x"], w["router"]))

    chosen = np.asarray(moe.choose(scores_of(w), 2)[0])
    beyond = np.bincount(chosen.ravel(), minlength=EXPERTS) - math.ceil(0.5 * chosen.size / EXPERTS)
    assert share(0.5) == pytest.approx(np.maximum(beyond, 0).sum() / chosen.size, rel=1e-12)
    assert share(0.5) > 0 and share(None) == 0


def test_the_auxiliary_loss_is_one_where_experts_are_used_evenly():
    scores = jnp.eye(EXPERTS)
    _, routing = moe.route(jnp.zeros((EXPERTS, 2)), scores, top_k=1, normalise=False)
    assert float(moe.load_balance(routing)) == pytest.approx(1)
    _, routing = moe.route(jnp.zeros((EXPERTS, 2)), jnp.ones((EXPERTS, 1)) * scores[0], top_k=1, normalise=False)
    assert float(moe.load_balance(routing)) == pytest.approx(EXPERTS)
