"""Rows of the global batch, read where they are held, as global arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import jax
import numpy as np

from ..order import on_devices
from ..program import Input, Program
from .sources import Samples, Source, Wanted

Index = tuple[slice, ...]
Sample = Mapping[str, np.ndarray]
NOTHING = -1  # no id: the row of no table, no target


def open_source(source: Source, program: Program, seed: int) -> Samples:
    """The source's samples for this program's inputs."""
    return source.open({name: wanted(program, one) for name, one in drawn_inputs(program).items()}, seed)


def drawn_inputs(program: Program) -> dict[str, Input]:
    """The inputs that a source yields; the others are made of them."""
    return {name: one for name, one in program.inputs.items() if one.next_of is None}


def wanted(program: Program, one: Input) -> Wanted:
    return Wanted(program.real_sample_shape(one), one.dtype, one.high, one.segments)


def held_rows(indices: Iterable[Index], lead: tuple[int, ...]) -> set[int]:
    """Rows of the global batch under these device indices.

    lead: the dims before the sample's own: (batch,), or (microsteps, batch / microsteps), whose rows count on from one
        microbatch to the next. Devices that differ only along a model-parallel axis hold the same rows.
    """
    rows = np.arange(math.prod(lead)).reshape(lead)
    return {int(row) for index in indices for row in rows[index[: len(lead)]].flat}


def batch_at(program: Program, samples: Samples, first: int) -> dict[str, jax.Array]:
    """The batch of samples `first` to `first + batch_size`; this process reads those that its devices hold."""
    return _batch(program, program.inputs, lambda row: samples(first + row))


def put(program: Program, arrays: Sample) -> dict[str, jax.Array]:
    """A step's batch of host arrays, {name: [batch, ...]}, samples and dims in their natural order, without padding.

    All inputs, also those that are made of others; without those that `arrays` leaves out, as `predict` may. Raises
    ValueError where a shape is not the program's.
    """
    given = {name: one for name, one in drawn_inputs(program).items() if name in arrays}
    for name, one in given.items():
        shape = (program.batch_size, *program.real_sample_shape(one))
        if arrays[name].shape != shape:
            raise ValueError(f"`{name}` is {list(arrays[name].shape)}, and the program takes {list(shape)}")
    made = {name: one for name, one in program.inputs.items() if _sources(name, one) <= given.keys()}
    return _batch(program, made, lambda row: {name: array[row] for name, array in arrays.items()})


def _sources(name: str, one: Input) -> set[str]:
    """The inputs that one is made of."""
    return {name} if one.next_of is None else {one.next_of, *([] if one.within is None else [one.within])}


def _batch(program: Program, inputs: Mapping[str, Input], sample: Callable[[int], Sample]) -> dict[str, jax.Array]:
    read: dict[int, Sample] = {}
    batch = {}
    for name, one in inputs.items():
        indices = program.sharding(one).addressable_devices_indices_map(one.shape).values()
        lead = one.shape[: len(one.shape) - len(program.sample_shape(one))]
        for row in held_rows((index for index in indices if index is not None), lead) - read.keys():
            read[row] = prepared(program, inputs, sample(row))
        batch[name] = _array(program, one, lead, {row: sample[name] for row, sample in read.items()})
    return batch


def prepared(program: Program, inputs: Mapping[str, Input], sample: Sample) -> Sample:
    """One sample of these inputs as it lies on devices: targets made of whole rows, then padded, then put in order."""
    made = {}
    for name, one in inputs.items():
        values = sample[name] if one.next_of is None else _following(sample, one)
        real, shape = program.real_sample_shape(one), program.sample_shape(one)
        if real != shape:
            filler = NOTHING if np.issubdtype(values.dtype, np.integer) else 0
            padding = [(0, whole - part) for whole, part in zip(shape, real, strict=True)]
            values = np.pad(values, padding, constant_values=filler)
        made[name] = on_devices(values, {dim - 1: order for dim, order in one.order.items()})
    return made


def _following(sample: Sample, one: Input) -> np.ndarray:
    """The next ids along a dim of the sample."""
    assert one.next_of is not None
    ahead = next_ids(sample[one.next_of], one.along - 1)
    if one.within is None:
        return ahead
    of = sample[one.within]
    return np.where(next_ids(of, one.along - 1) == of, ahead, NOTHING)


def next_ids(ids: np.ndarray, axis: int = -1) -> np.ndarray:
    """The id that follows each along `axis`, -1 at the end: the targets of next-token prediction."""
    ahead = np.roll(ids, -1, axis)
    ahead[(slice(None),) * (axis % ids.ndim) + (-1,)] = NOTHING
    return ahead


def _array(program: Program, one: Input, lead: tuple[int, ...], held: dict[int, np.ndarray]) -> jax.Array:
    rows = np.arange(math.prod(lead)).reshape(lead)

    def part(index: Index) -> np.ndarray:
        mine = rows[index[: len(lead)]]
        values = np.stack([held[int(row)] for row in mine.flat]).reshape(mine.shape + program.sample_shape(one))
        return values[(..., *index[len(lead) :])].astype(one.dtype)

    return jax.make_array_from_callback(one.shape, program.sharding(one), part)


@contextmanager
def batches(program: Program, samples: Samples, first: int, count: int) -> Iterator[Iterator[dict[str, jax.Array]]]:
    """`count` batches from sample `first` on, the next one made while the current one is used."""
    with ThreadPoolExecutor(1, "data") as worker:

        def ahead() -> Iterator[dict[str, jax.Array]]:
            starts = range(first, first + count * program.batch_size, program.batch_size)
            waiting = None
            for start in starts:
                coming = worker.submit(batch_at, program, samples, start)
                if waiting is not None:
                    yield waiting.result()
                waiting = coming
            if waiting is not None:
                yield waiting.result()

        yield ahead()
