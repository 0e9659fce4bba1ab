"""A pipeline of a small model yields what one device yields, whatever the schedule, the cut and the axes beside it."""

import functools
from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

from meshc.prove import hlo
from meshc.prove.flops import product_flops
from meshc.prove.wire import collectives
from meshc.runtime import pipeline
from meshc.runtime.order import canonical, on_devices
from meshc.runtime.pipeline.schedule import Kind
from meshc.semantics.pipeline import turns_of_stages

EMBED, MLP, VOCAB, ROWS = 4, 8, 16, 4
REPEATS = {"dense": 3, "wide": 5}
TURNS = sum(REPEATS.values())
SPEC = {"up": P("pp", "fsdp", "tp"), "down": P("pp", "tp", "fsdp"), "scale": P("pp")}
OUTER = {"table": P(("tp", "pp")), "head": P(None, ("tp", "pp")), "norm": P()}
SUMMED = {"up": (), "down": (), "scale": ("fsdp",), "table": ("fsdp",), "head": ("fsdp",), "norm": ("fsdp",)}
PLACES = {f"{r}.{w}": s for r in REPEATS for w, s in SPEC.items()} | OUTER


def summed(path: str) -> tuple[str, ...]:
    if path == "norm":  # used on logits' operand, which each part of the vocabulary uses its own way
        return ("fsdp",)
    return SUMMED[path.rpartition(".")[2]]


def keys_of_turns(key: jax.Array, repeat: str) -> jax.Array:
    return jax.random.split(jax.random.fold_in(key, len(repeat)), REPEATS[repeat])


# ---------------------------------------------------------------- the model: on one device without axes


def layer(x, w, key, axes, swap=False):
    if swap:  # rows with those of the other device along fsdp
        x += 0.1 * (lax.ppermute(x, "fsdp", [(0, 1), (1, 0)]) if axes else jnp.roll(x, ROWS // 2, axis=0))
    if axes:
        up = lax.all_gather(w["up"], "fsdp", axis=0, tiled=True)
        down = lax.all_gather(w["down"], "fsdp", axis=1, tiled=True)
        h = jnp.tanh(lax.pcast(x * w["scale"], "tp", to="varying") @ up)
        out = lax.psum(h @ down, "tp")
        rows = lax.axis_index("fsdp") * len(x) + jnp.arange(len(x))
    else:
        out = jnp.tanh(x * w["scale"] @ w["up"]) @ w["down"]
        rows = jnp.arange(len(x))
    noise = jax.vmap(lambda r: jax.random.normal(jax.random.fold_in(key, r), (EMBED,)))(rows)
    x = x + out * (1 + 0.1 * noise)
    total = (x * x).sum() / (ROWS * EMBED)
    mean = lax.psum(total, "fsdp") if axes else total
    return x, mean


def embed(table, ids, axes):
    if not axes:
        return table[ids]
    at = ids - lax.axis_index(("tp", "pp")) * len(table)
    mine = (at >= 0) & (at < len(table))
    return lax.psum(jnp.where(mine[:, None], table[jnp.where(mine, at, 0)], 0), ("tp", "pp"))


def loss_of(w, x, ids, axes):
    x = x * w["norm"]
    if not axes:
        logits = x @ w["head"]
        return (jax.nn.logsumexp(logits, -1) - jnp.take_along_axis(logits, ids[:, None], 1)[:, 0]).sum() / ROWS
    logits = lax.pcast(x, ("tp", "pp"), to="varying") @ w["head"]
    shards = ("tp", "pp")
    top = lax.pmax(lax.stop_gradient(logits).max(-1), shards)
    whole = lax.psum(jnp.exp(logits - top[:, None]).sum(-1), shards)
    at = ids - lax.axis_index(shards) * logits.shape[1]
    mine = (at >= 0) & (at < logits.shape[1])
    picked = jnp.take_along_axis(logits, jnp.where(mine, at, 0)[:, None], 1)[:, 0]
    picked = lax.psum(jnp.where(mine, picked, 0), shards)
    return lax.psum((jnp.log(whole) + top - picked).sum(), "fsdp") / ROWS


# ---------------------------------------------------------------- one device


def one_device(swap, weights, seen, ids, keys):
    def micro(weights, ids, key):
        x, total, after = embed(weights["table"], ids, ()), 0.0, {}
        for repeat, n in REPEATS.items():
            each = keys_of_turns(key, repeat)
            means = []
            for i in range(n):
                x, mean = layer(x, {p: weights[f"{repeat}.{p}"][i] for p in SPEC}, each[i], (), swap)
                means.append(mean)
            total += sum(means)
            after[f"{repeat}.seen"] = jnp.stack(means)
        loss = loss_of(weights, x, ids, ()) + 0.1 * total
        return loss / len(keys), (after, total / len(keys))

    loss, grads, after, metric = 0.0, None, None, 0.0
    for i in range(len(keys)):
        (part, (state, told)), g = jax.value_and_grad(micro, has_aux=True)(weights, ids[i], keys[i])
        loss, metric = loss + part, metric + told
        grads = g if grads is None else jax.tree.map(jnp.add, grads, g)
        after = state if after is None else jax.tree.map(jnp.add, after, state)
    return loss, metric, jax.tree.map(lambda a: a / len(keys), after), grads


# ---------------------------------------------------------------- the pipeline


def pipelined(swap, plan, microbatches, weights, seen, ids, keys):
    weights = {p: lax.pcast(w, summed(p), to="varying") if summed(p) else w for p, w in weights.items()}

    def before(w, _, micro):
        return (embed(w["table"], micro[0], True),), pipeline.Told()

    def stage(w, state, x, micro, turns):
        loss, after = 0.0, {}
        for repeat, own in zip(REPEATS, turns, strict=True):
            over = (
                {p: w[f"{repeat}.{p}"] for p in SPEC},
                own.of(keys_of_turns(micro[1], repeat)),
            )
            turn = lambda x, o: layer(x, o[0], o[1], True, swap)  # noqa: E731
            y, means = pipeline.scan(turn, x[0], over, own)
            x, loss = (y,), loss + means.sum()
            after[f"{repeat}.seen"] = means
        return x, pipeline.Told(0.1 * loss / microbatches, {"total": loss / microbatches}, after)

    def after(w, _, x, micro):
        return pipeline.Told(loss_of(w, x[0], micro[0], True) / microbatches)

    loss, metrics, carried, grads = pipeline.run(plan, before, stage, after, weights, seen, (ids, keys))
    grads = {p: lax.psum(g, summed(p)) if summed(p) else g for p, g in grads.items()}
    return loss, metrics["total"], carried, grads


def numbers(microbatches):
    random = np.random.default_rng(0)
    shapes = {"up": (EMBED, MLP), "down": (MLP, EMBED), "scale": (EMBED,)}
    weights = {f"{r}.{p}": random.normal(size=(n, *s)) * 0.5 for r, n in REPEATS.items() for p, s in shapes.items()}
    weights |= {"table": random.normal(size=(VOCAB, EMBED)), "head": random.normal(size=(EMBED, VOCAB))}
    weights |= {"norm": random.normal(size=(EMBED,))}
    ids = random.integers(0, VOCAB, (microbatches, ROWS)).astype(np.int32)
    seen = {f"{r}.seen": np.zeros(n) for r, n in REPEATS.items()}
    return weights, seen, ids


@pytest.mark.parametrize(
    ("kind", "microbatches", "rounds", "stages", "swap"),
    [
        ("gpipe", 3, 1, (4, 4), True),
        ("1f1b", 1, 1, (4, 4), False),
        ("1f1b", 5, 1, (6, 2), False),
        ("interleaved", 4, 2, (2, 2, 2, 2), False),
        ("interleaved", 3, 2, (1, 3, 2, 2), True),
    ],
)
def test_a_pipeline_trains_what_one_device_trains(kind, microbatches, rounds, stages, swap):
    weights, seen, ids = numbers(microbatches)
    cut = turns_of_stages(tuple(REPEATS.values()), stages)
    orders = {r: pipeline.order(turns, 2) for r, turns in zip(REPEATS, cut, strict=True)}
    schedule = pipeline.schedule(kind, 2, microbatches, rounds)
    plan = pipeline.Pipeline(("pp",), schedule, cut, tuple(REPEATS))
    mesh = jax.make_mesh((2, 2, 2), ("pp", "fsdp", "tp"), axis_types=(AxisType.Auto,) * 3)

    def at_rest(arrays):
        return {p: on_devices(a, {0: orders[p.partition(".")[0]]} if "." in p else {}) for p, a in arrays.items()}

    with jax.enable_x64(True):
        keys = jax.random.split(jax.random.key(0), microbatches)
        loss, metric, after, grads = jax.jit(functools.partial(one_device, swap))(weights, seen, ids, keys)
        states = {p: P("pp") for p in seen}
        run = jax.shard_map(
            functools.partial(pipelined, swap, plan, microbatches), mesh=mesh,
            in_specs=(PLACES, states, P(None, "fsdp"), P()), out_specs=(P(), P(), states, PLACES),
        )  # fmt: skip
        found = jax.jit(run)(at_rest(weights), at_rest(seen), ids, keys)
        np.testing.assert_allclose(found[0], loss, rtol=1e-12)
        np.testing.assert_allclose(found[1], metric, rtol=1e-12)
        for mine, right in ((found[2], after), (found[3], grads)):
            assert mine.keys() == right.keys()
            for path in right:
                order = {0: orders[path.partition(".")[0]]} if "." in path else {}
                np.testing.assert_allclose(canonical(np.asarray(mine[path]), order), right[path], rtol=1e-9, atol=1e-12)


# ---------------------------------------------------------------- memory

WIDTH, STAGES = 128, 4
INPUT = WIDTH * WIDTH * 4
"""Bytes of what one stage hands to the next, a microbatch."""


@functools.cache
def compiled(kind: Kind, microbatches: int, turns: tuple[int, ...] = (1,) * STAGES, cp: int = 1) -> jax.stages.Compiled:
    """A step of four stages of a product each turn. Rows are split over `cp`, and go on before each."""
    plan = pipeline.Pipeline(("pp",), pipeline.schedule(kind, STAGES, microbatches), (turns,), ("w",))

    def step(weights, batch):
        weights = {p: lax.pcast(w, "cp", to="varying") for p, w in weights.items()}

        def turn(x, w):
            x = lax.ppermute(x, "cp", [(i, (i + 1) % cp) for i in range(cp)]) if cp > 1 else x
            return jnp.tanh(x @ w), None

        def stage(w, state, x, micro, turns):
            y, _ = pipeline.scan(turn, x, w["w"], turns[0])
            return y, pipeline.Told()

        def before(w, state, micro):
            return jnp.outer(micro, w["first"]), pipeline.Told()

        def after(w, state, x, micro):
            return pipeline.Told((x * x).mean())

        loss, _, _, grads = pipeline.run(plan, before, stage, after, weights, {}, batch)
        return lax.psum((loss, grads), "cp")

    devices = jax.devices()[: STAGES * cp]
    mesh = jax.make_mesh((STAGES, cp), ("pp", "cp"), axis_types=(AxisType.Auto,) * 2, devices=devices)
    places = {"w": P("pp"), "first": P()}
    run = jax.shard_map(step, mesh=mesh, in_specs=(places, P(None, "cp")), out_specs=(P(), places))
    shapes = {"w": (STAGES * max(turns), WIDTH, WIDTH), "first": (WIDTH,)}
    arguments = {p: jax.ShapeDtypeStruct(s, jnp.float32) for p, s in shapes.items()}
    batch = jax.ShapeDtypeStruct((microbatches, cp * WIDTH), jnp.float32)
    return jax.jit(run).lower(arguments, batch).compile()


def temporary_bytes(kind: Kind, microbatches: int) -> int:
    """What XLA sets aside on a device for a step, arguments and results aside."""
    found = compiled(kind, microbatches).memory_analysis()
    assert found is not None
    return found.temp_size_in_bytes


def test_what_waits_grows_with_microbatches_in_gpipe_alone():
    """Beyond 2 * stages - 1 microbatches 1f1b keeps no more of them; gpipe keeps an input and a cotangent of each."""
    kinds: tuple[Kind, ...] = ("1f1b", "gpipe")
    few, many = ({kind: temporary_bytes(kind, m) for kind in kinds} for m in (8, 24))
    assert abs(many["1f1b"] - few["1f1b"]) < INPUT / 2
    assert many["gpipe"] - few["gpipe"] == pytest.approx(16 * 2 * INPUT, rel=0.02)


def branches_around(text: str, opcode: str) -> list[int]:
    """Of each instruction of this kind, in how many conditionals it stands."""
    module = hlo.parse(text)

    def within(name: str, around: int) -> Iterator[int]:
        for instruction in module.computations[name].instructions:
            if instruction.opcode == opcode:
                yield around
            for called in instruction.called:
                yield from within(called, around + (instruction.opcode == "conditional"))

    return list(within(module.entry, 0))


@pytest.mark.parametrize("kind", ["1f1b", "gpipe"])
def test_slots_without_work_multiply_nothing(kind):
    """A product forward, one to compute it again and two backward for each microbatch: 2 * WIDTH**3 each. All stand in
    branches of slots; were those of idle slots run, too, it would be (8 + 3) / 8 of that, or more."""
    text = compiled(kind, 8).as_text() or ""
    assert product_flops(text) == 8 * 4 * 2 * WIDTH**3
    assert branches_around(text, "dot") == [1] * 4


@pytest.mark.parametrize(("kind", "turns"), [("1f1b", (1, 1, 1, 1)), ("gpipe", (2, 1, 1, 1))])
def test_nor_do_they_where_devices_meet_in_permutes(kind, turns):
    """Permutes run in each of the 8 + 3 ticks in which some stage has work, in each place for a turn; all that stands
    between them once more is in a branch, products of idle slots and of places without a turn among it."""
    text = compiled(kind, 8, turns, 2).as_text() or ""
    assert product_flops(text) == 8 * sum(turns) / STAGES * 4 * 2 * WIDTH**3
    assert min(branches_around(text, "dot")) >= 2
    permutes = [c for c in collectives(text, {"pp": STAGES, "cp": 2}) if c.axes == ("cp",) and c.op.endswith("permute")]
    assert sum(c.times for c in permutes) == (8 + 3) * max(turns) * 3
