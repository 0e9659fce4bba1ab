"""Each host reads the rows that its devices hold, and no others, for any batch sharding."""

from dataclasses import replace

import jax
import numpy as np
import pytest
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from meshc import runtime
from meshc.runtime.data.batches import batch_at, batches, held_rows, open_source
from tests.runtime import bigram


def rows_of_hosts(axes, spec, shape, hosts, lead=1):
    """Rows that each of `hosts` would read, with the devices dealt out to them in mesh order."""
    size = int(np.prod(list(axes.values())))
    mesh = jax.sharding.AbstractMesh(tuple(axes.values()), tuple(axes))
    indices = list(device_indices(mesh, spec, shape, size))
    each = size // hosts
    return [held_rows(indices[host * each : (host + 1) * each], shape[:lead]) for host in range(hosts)]


def device_indices(mesh, spec, shape, size):
    """The part of the array on each device of a mesh that may be larger than this machine."""
    names = list(mesh.shape)
    for device in range(size):
        place = dict(zip(names, np.unravel_index(device, tuple(mesh.shape.values())), strict=True))
        index = []
        for dim, axes in zip(shape, tuple(spec) + (None,) * (len(shape) - len(spec)), strict=True):
            parts, part = 1, 0
            for axis in () if axes is None else (axes,) if isinstance(axes, str) else axes:
                parts, part = parts * mesh.shape[axis], part * mesh.shape[axis] + int(place[axis])
            index.append(slice(part * dim // parts, (part + 1) * dim // parts))
        yield tuple(index)


def test_the_indices_above_are_those_of_jax():
    mesh = runtime.make_mesh({"a": 2, "b": 2, "c": 2})
    for spec in (P(("a", "c"), None), P(None, "b"), P("c", ("a", "b")), P()):
        jax_map = NamedSharding(mesh, spec).devices_indices_map((8, 16))
        mine = list(device_indices(mesh, spec, (8, 16), 8))
        grid = [jax_map[device] for device in mesh.devices.flat]
        assert [held_rows([index], (8,)) for index in grid] == [held_rows([index], (8,)) for index in mine]


def test_model_parallel_hosts_read_the_same_rows():  # case C24
    assert rows_of_hosts({"tp": 2}, P(), (4, 16), hosts=2) == [{0, 1, 2, 3}] * 2


def test_data_parallel_hosts_read_disjoint_rows_that_are_all_of_them():  # case C33
    assert rows_of_hosts({"fsdp": 8}, P("fsdp"), (8, 16), hosts=2) == [{0, 1, 2, 3}, {4, 5, 6, 7}]


def test_fewer_rows_than_hosts_is_fine():  # case C35: 16 devices as 4 x 4, 8 hosts of 2, batch 4
    rows = rows_of_hosts({"fsdp": 4, "tp": 4}, P("fsdp"), (4, 16), hosts=8)
    assert rows == [{0}, {0}, {1}, {1}, {2}, {2}, {3}, {3}]


def test_microbatches_are_consecutive_global_rows():
    rows = rows_of_hosts({"fsdp": 2}, P(None, "fsdp"), (2, 4, 16), hosts=2, lead=2)
    assert rows == [{0, 1, 4, 5}, {2, 3, 6, 7}]


@pytest.mark.parametrize("axes", [{"fsdp": 4, "tp": 2}, {"fsdp": 8}, {"tp": 8}])
def test_the_batch_is_the_same_on_every_mesh(axes):
    program = bigram.build(runtime.make_mesh(axes))
    samples = open_source(runtime.Synthetic(), program, 5)
    batch = batch_at(program, samples, 24)["tokens"]
    assert batch.shape == (8, 16) and batch.dtype == np.int32
    assert batch.sharding == program.sharding(program.inputs["tokens"])
    assert np.array_equal(batch, [samples(i)["tokens"] for i in range(24, 32)])


def test_microsteps_hold_the_rows_of_the_whole_batch_in_order():
    mesh = runtime.make_mesh({"fsdp": 2, "tp": 4})
    whole, cut = bigram.build(mesh), bigram.build(mesh, microsteps=4)
    samples = open_source(runtime.Synthetic(), whole, 0)
    one, four = batch_at(whole, samples, 8)["tokens"], batch_at(cut, samples, 8)["tokens"]
    assert four.shape == (4, 2, 16) and cut.batch_size == whole.batch_size == 8
    assert np.array_equal(np.reshape(four, (8, 16)), one)


def test_a_sequence_split_over_devices_is_cut_after_the_rows_are_read():
    mesh = runtime.make_mesh({"dp": 2, "cp": 4})
    tokens = runtime.Input((4, 16), "int32", P("dp", "cp"), 100)
    program = replace(bigram.build(runtime.make_mesh({"fsdp": 8})), mesh=mesh, inputs={"tokens": tokens})
    samples = open_source(runtime.Synthetic(), program, 0)
    batch = batch_at(program, samples, 0)["tokens"]
    assert {shard.data.shape for shard in batch.addressable_shards} == {(2, 4)}
    assert np.array_equal(batch, [samples(i)["tokens"] for i in range(4)])


def test_batches_follow_one_another_from_any_sample():
    program = bigram.build(runtime.make_mesh({"fsdp": 8}))
    read = []

    def samples(index):
        read.append(index)
        return {"tokens": np.full(16, index)}

    with batches(program, samples, first=16, count=3) as stream:
        firsts = [int(batch["tokens"][0, 0]) for batch in stream]
    assert firsts == [16, 24, 32]
    assert read == list(range(16, 40))


def test_a_mistake_in_the_data_reaches_the_loop():
    program = bigram.build(runtime.make_mesh({"fsdp": 8}))

    def samples(index):
        raise runtime.UserError("a bad row")

    with pytest.raises(runtime.UserError, match="a bad row"), batches(program, samples, 0, 2) as stream:
        next(stream)


def test_targets_follow_whole_rows_before_they_are_put_in_order_and_cut():  # cases C20 and C25
    """Rank order [0, 1, 6, 7], [2, 3, 4, 5]: each token has the target that it has on one device."""
    mesh = runtime.make_mesh({"cp": 2}, jax.devices()[:2])
    order = {1: runtime.zigzag(8, 2)}
    tokens = runtime.Input((1, 8), "int32", P(None, "cp"), 100, order=order)
    targets = runtime.Input((1, 8), "int32", P(None, "cp"), 100, next_of="tokens", order=order)
    program = replace(bigram.build(mesh), inputs={"tokens": tokens, "next": targets})
    batch = runtime.put(program, {"tokens": np.arange(1, 9)[None]})
    assert [s.data.tolist() for s in batch["tokens"].addressable_shards] == [[[1, 2, 7, 8]], [[3, 4, 5, 6]]]
    assert [s.data.tolist() for s in batch["next"].addressable_shards] == [[[2, 3, 8, -1]], [[4, 5, 6, 7]]]


def test_a_target_in_another_document_is_none_where_the_input_says_so():
    mesh = runtime.make_mesh({}, jax.devices()[:1])
    shape, spec = (1, 6), P()
    inputs = {
        "tokens": runtime.Input(shape, "int32", spec, 100),
        "of": runtime.Input(shape, "int32", spec, 6, segments=True),
        "next": runtime.Input(shape, "int32", spec, 100, next_of="tokens", within="of"),
    }
    program = replace(bigram.build(mesh), inputs=inputs)
    batch = runtime.put(program, {"tokens": np.arange(1, 7)[None], "of": np.array([[0, 0, 1, 1, 1, 2]])})
    assert batch["next"].tolist() == [[2, -1, 4, 5, -1, -1]]


def test_a_padded_sequence_is_filled_on_the_host():
    mesh = runtime.make_mesh({}, jax.devices()[:1])
    tokens = runtime.Input((2, 4), "int32", P(), 100, real=(2, 3))
    targets = runtime.Input((2, 4), "int32", P(), 100, next_of="tokens", real=(2, 3))
    program = replace(bigram.build(mesh), inputs={"tokens": tokens, "next": targets})
    batch = runtime.put(program, {"tokens": np.arange(1, 7).reshape(2, 3)})
    assert batch["tokens"].tolist() == [[1, 2, 3, -1], [4, 5, 6, -1]]
    assert batch["next"].tolist() == [[2, 3, -1, -1], [5, 6, -1, -1]]
    with pytest.raises(ValueError, match="takes"):
        runtime.put(program, {"tokens": np.zeros((2, 4), np.int32)})
