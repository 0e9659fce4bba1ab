"""Rows of the global batch, read where they are held, as global arrays."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import jax
import numpy as np

from ..program import Input, Program
from .sources import Samples, Source, Wanted

Index = tuple[slice, ...]


def open_source(source: Source, program: Program, seed: int) -> Samples:
    """The source's samples for this program's inputs."""
    inputs = {name: Wanted(program.sample_shape(one), one.dtype, one.high) for name, one in program.inputs.items()}
    return source.open(inputs, seed)


def held_rows(indices: Iterable[Index], lead: tuple[int, ...]) -> set[int]:
    """Rows of the global batch under these device indices.

    lead: the dims before the sample's own: (batch,), or (microsteps, batch / microsteps), whose rows count on from one
        microbatch to the next. Devices that differ only along a model-parallel axis hold the same rows.
    """
    rows = np.arange(math.prod(lead)).reshape(lead)
    return {int(row) for index in indices for row in rows[index[: len(lead)]].flat}


def batch_at(program: Program, samples: Samples, first: int) -> dict[str, jax.Array]:
    """The batch of samples `first` to `first + batch_size`; this process reads those that its devices hold."""
    read: dict[int, Mapping[str, np.ndarray]] = {}
    batch = {}
    for name, one in program.inputs.items():
        indices = program.sharding(one).addressable_devices_indices_map(one.shape).values()
        lead = one.shape[: len(one.shape) - len(program.sample_shape(one))]
        for row in held_rows((index for index in indices if index is not None), lead) - read.keys():
            read[row] = samples(first + row)
        batch[name] = _array(program, one, lead, {row: sample[name] for row, sample in read.items()})
    return batch


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
