"""Checkpoints know no mesh: what was saved on one is bit-equal on any other, or an error names what does not fit."""

import logging
import shutil
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from meshc import runtime
from meshc.runtime.canonical import _dims_of, layout
from meshc.runtime.checkpoint import Position, Store, load_weights
from meshc.runtime.disk import quiet_orbax
from meshc.runtime.order import zigzag
from tests.runtime import bigram
from tests.runtime.limits import files_up_to


def program_on(axes, **options):
    size = int(np.prod(list(axes.values())))
    return bigram.build(runtime.make_mesh(axes, jax.devices()[:size]), **options)


def saved(folder, program, step=5):
    """A checkpoint of a state whose every number differs, and those numbers, unpadded, by name."""
    shapes = layout(program, 0)
    state = program.init(0)
    batch = {"tokens": jax.device_put(np.arange(128).reshape(8, 16) % 250, program.sharding(program.inputs["tokens"]))}
    for _ in range(3):
        state, _ = program.step(state, batch)
    store = Store(folder, keep=3)
    store.save(shapes, state, Position(step, 40, 0, "hash", "somewhere"))
    store.finish()
    store.close()
    return {name: np.asarray(array) for name, array in shapes.stored(state).items()}


def assert_equal(program, state, expected):
    found = layout(program, 0).stored(state)
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert np.array_equal(found[name], array), name


@pytest.mark.parametrize(
    ("axes", "vocab"),
    [
        ({"tp": 2}, 250),  # case C30: from 8 to 2 devices, and another padding
        ({"tp": 2}, 252),
        ({}, 250),  # to 1 device, without padding
        ({"fsdp": 8}, 256),
        ({"fsdp": 2, "tp": 4}, 260),
    ],
)
def test_a_state_is_bit_equal_on_another_mesh(tmp_path, axes, vocab):
    expected = saved(tmp_path, program_on({"tp": 8}))
    there = program_on(axes, vocab=vocab)
    state, position = Store(tmp_path, 3).restore(layout(there, 0), 5)
    assert position == Position(5, 40, 0, "hash", "somewhere")
    assert_equal(there, state, expected)
    assert state.weights["Tiny.table"].shape == (vocab, bigram.EMBED)
    drawn = there.init(0)
    assert jax.tree.map(lambda x: x.sharding, state) == jax.tree.map(lambda x: x.sharding, drawn)
    assert not np.asarray(state.weights["Tiny.table"])[250:].any()  # padding is zero


@pytest.mark.parametrize("order", [zigzag(256, 4), [*range(100), *[-1] * 6, *range(100, 250)]])
def test_the_order_on_devices_is_not_that_of_files(tmp_path, order):
    """A dim in zigzag order, padding and all, and a stack with places that hold nothing."""
    mesh = {"tp": 8}
    laid = replace(program_on(mesh), orders={"Tiny.table": {0: order}})
    expected = saved(tmp_path, laid)
    held = np.asarray(laid.init(0).weights["Tiny.table"])
    names = ("weights/Tiny.table", "optimizer/1/0/mu/Tiny.table")
    shapes = layout(laid, 0)
    assert {expected[name].shape for name in names} == {(250, 8)}
    stored = shapes.leaves["weights/Tiny.table"].to_disk(jnp.asarray(held))
    for place, number in enumerate(order):
        if 0 <= number < 250:
            assert (np.asarray(stored)[number] == held[place]).all()
    there = program_on({"fsdp": 2}, vocab=252)
    assert_equal(there, Store(tmp_path, 3).restore(layout(there, 0), 5)[0], expected)
    again = Store(tmp_path, 3).restore(shapes, 5)[0]
    assert_equal(laid, again, expected)


def test_files_hold_what_the_model_means(tmp_path):
    expected = saved(tmp_path, program_on({"tp": 8}))
    assert {name: array.shape for name, array in expected.items() if "count" not in name} == {
        "step": (),
        "carried/Tiny.seen": (),
        "weights/Tiny.table": (250, 8),
        "weights/Tiny.head": (8, 250),
        **{f"optimizer/1/0/{m}/Tiny.table": (250, 8) for m in ("mu", "nu")},
        **{f"optimizer/1/0/{m}/Tiny.head": (8, 250) for m in ("mu", "nu")},
    }


def test_an_init_without_shardings_is_placed_by_the_contract(tmp_path):
    program = program_on({"fsdp": 4, "tp": 2})
    silent = replace(program, init=lambda seed: program.init(seed))
    assert layout(silent, 0).leaves == layout(program, 0).leaves


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((256, 3, 8), (0, 1, 2)),  # a moment
        ((256, 3), (0, 1)),  # Adafactor's row
        ((256, 8), (0, 2)),  # and its column
        ((8,), (2,)),
        ((1,), None),  # its placeholder
        ((), ()),
    ],
)
def test_which_dims_of_a_weight_an_optimizer_leaf_has(shape, expected):
    assert _dims_of(shape, (256, 3, 8)) == expected


def mistake(action):
    with pytest.raises(runtime.UserError) as raised:
        action()
    return str(raised.value)


def other_model(program, **shapes):
    """The same program with other weights: none where the shape is None."""
    state = jax.eval_shape(program.init, 0)
    weights = {path: leaf for path, leaf in state.weights.items() if shapes.get(path, ()) is not None}
    weights |= {path: jax.ShapeDtypeStruct(shape, np.float32) for path, shape in shapes.items() if shape}
    placement = {path: P() for path in weights}
    new = runtime.State(state.step, weights, state.carried, state.optimizer)
    return replace(
        program,
        init=lambda seed: jax.tree.map(lambda x: jax.numpy.zeros(x.shape, x.dtype), new),
        placement=placement,
        real_shapes={},
    )


def test_weights_that_do_not_fit_are_listed(tmp_path):
    program = program_on({"tp": 8})
    saved(tmp_path, program)
    shapes = {"Tiny.table": (300, 8), "Tiny.head": None, "Tiny.extra": (4,)}
    message = mistake(lambda: Store(tmp_path, 3).restore(layout(other_model(program, **shapes), 0), 5))
    assert "missing: `Tiny.extra` [4]" in message
    assert "not in the model: `Tiny.head` [8, 250]" in message
    assert "`Tiny.table` is [250, 8] in the checkpoint, [300, 8] in the model" in message


def test_another_optimizer_is_an_error_and_its_weights_can_be_taken(tmp_path):
    program = program_on({"tp": 8})
    expected = saved(tmp_path, program)
    state = jax.eval_shape(program.init, 0)
    momentum = replace(program, init=lambda seed: state._replace(optimizer={"trace": state.weights}))
    message = mistake(lambda: Store(tmp_path, 3).restore(layout(momentum, 0), 5))
    assert "missing: `optimizer/trace/Tiny.head` [8, 250]" in message and "--init-from" in message
    weights = load_weights(str(tmp_path), layout(momentum, 0))
    assert np.array_equal(weights["Tiny.head"][:, :250], expected["weights/Tiny.head"])


def test_weights_come_from_a_run_its_checkpoints_or_one_of_them(tmp_path):
    program = program_on({"tp": 8})
    expected = saved(tmp_path / "run" / "checkpoints", program)["weights/Tiny.table"]
    here = program_on({"fsdp": 2})
    for source in (tmp_path / "run", tmp_path / "run" / "checkpoints", tmp_path / "run" / "checkpoints" / "5"):
        weights = load_weights(str(source), layout(here, 0))
        assert np.array_equal(weights["Tiny.table"][:250], expected)
        assert weights["Tiny.table"].sharding == NamedSharding(here.mesh, here.placement["Tiny.table"])
    assert "no checkpoint in" in mistake(lambda: load_weights(str(tmp_path / "nowhere"), layout(here, 0)))


def test_weights_of_another_dtype_are_cast_for_init_and_refused_for_resume(tmp_path):
    program = program_on({"tp": 8})
    expected = saved(tmp_path, program)["weights/Tiny.table"]

    def short(seed):
        return jax.tree.map(lambda x: x.astype(jnp.bfloat16) if x.ndim else x, program.init(seed))

    half = replace(program, init=short)
    weights = load_weights(str(tmp_path), layout(half, 0))
    assert np.array_equal(weights["Tiny.table"][:250], expected.astype(jnp.bfloat16))
    message = mistake(lambda: Store(tmp_path, 3).restore(layout(half, 0), 5))
    assert "`Tiny.table` is float32 in the checkpoint, bfloat16 in the model" in message


def test_what_was_not_written_to_its_end_is_not_resumed(tmp_path):
    program = program_on({"tp": 8})
    saved(tmp_path, program, step=5)
    shutil.copytree(tmp_path / "5", tmp_path / "9.orbax-checkpoint-tmp")
    store = Store(tmp_path, 3)
    assert store.latest() == 5
    store.save(layout(program, 0), program.init(0), Position(6))
    store.finish()
    store.close()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["5", "6"]


def test_the_newest_are_kept(tmp_path):
    program = program_on({"tp": 8})
    store, state = Store(tmp_path, keep=2), program.init(0)
    for step in (1, 2, 3, 4):
        store.save(layout(program, 0), state, Position(step))
    store.finish()
    store.close()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["3", "4"]


def test_a_damaged_checkpoint_is_named(tmp_path):
    program = program_on({"tp": 8})
    saved(tmp_path, program)
    for file in (tmp_path / "5" / "weights").rglob("d/*"):
        file.write_bytes(b"")
    message = mistake(lambda: Store(tmp_path, 3).restore(layout(program, 0), 5))
    assert f"cannot read the checkpoint `{tmp_path}/5`" in message and "Traceback" not in message
    (tmp_path / "5" / "meta" / "metadata").write_text("{")
    assert "cannot read the checkpoint" in mistake(lambda: Store(tmp_path, 3).restore(layout(program, 0), 5))


def try_to_save(folder, capfd):
    """What a save that fails says; nothing else may be said, and nothing may be left."""
    program = program_on({"tp": 8})
    store = Store(folder, 3)

    def save():
        store.save(layout(program, 0), program.init(0), Position(7))
        store.finish()

    message = mistake(save)
    store.close()
    assert store.latest() is None
    assert "Traceback" not in "".join(capfd.readouterr())
    return message


def test_a_disk_that_fills_up_while_saving_leaves_nothing(tmp_path, capfd):
    with files_up_to(1000):
        message = try_to_save(tmp_path, capfd)
    assert "File too large" in message and "no checkpoint of this run is complete yet" in message
    assert not list(tmp_path.iterdir())


def test_what_orbax_leaves_to_the_event_loop_is_not_told_again(caplog):
    quiet_orbax()
    logger = logging.getLogger("asyncio")
    logger.error("Task exception was never retrieved\nfuture: <Task coro=<write_fragment() at orbax/checkpoint/x.py>>")
    logger.error("Task exception was never retrieved\nfuture: <Task coro=<mine() at mine.py>>")
    assert [record.getMessage().partition("coro=")[2] for record in caplog.records] == ["<mine() at mine.py>>"]


def test_a_disk_too_small_is_told_before_anything_is_written(tmp_path, capfd, monkeypatch):
    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    message = try_to_save(tmp_path, capfd)
    assert "a checkpoint takes 0.0 MB" in message and "0.0 MB free" in message
    assert not list(tmp_path.iterdir())


def test_a_directory_that_cannot_be_made_is_an_error(tmp_path, capfd):
    (tmp_path / "file").write_text("")
    assert "Not a directory" in try_to_save(tmp_path / "file" / "checkpoints", capfd)
