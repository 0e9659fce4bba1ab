"""The sources of samples that a program can name. Each `open`s into samples by global index.

    samples = source.open(inputs, seed)       # Samples: index -> {input name: one sample}

`samples(i)` is a function of (source, seed, i) alone: no mesh, no host, no count of hosts enters it. An epoch is a
permutation of the samples, another one each time round.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import UserError
from . import files
from .stream import Part, Stream, Windows
from .tokenizers import BYTES, tokenizer


@dataclass(frozen=True)
class Wanted:
    """What one input takes: the shape of a sample, its dtype, and the end of its ids (None for floats).

    segments: it takes the number of each token's document in its row, in place of ids
    """

    shape: tuple[int, ...]
    dtype: str
    high: int | None
    segments: bool = False


Inputs = Mapping[str, Wanted]
Samples = Callable[[int], Mapping[str, np.ndarray]]


@dataclass(frozen=True)
class Text:
    """Text files: globs, and `bytes` or the path of a tokenizer.json."""

    paths: Sequence[str]
    tokenizer: str = BYTES

    def open(self, inputs: Inputs, seed: int) -> Samples:
        documents = [(str(path), files.read(path)) for path in files.matching(self.paths)]
        return _windows(tokenizer(self.tokenizer)(documents), inputs, seed, "text")

    def __str__(self) -> str:
        return f"text {', '.join(self.paths)}, tokenizer {self.tokenizer}"


@dataclass(frozen=True)
class PythonStdlib:
    """The sources of the Python standard library of this machine, byte by byte."""

    tokenizer: str = BYTES

    def open(self, inputs: Inputs, seed: int) -> Samples:
        return _windows(tokenizer(self.tokenizer)(files.standard_library()), inputs, seed, "python-stdlib")

    def __str__(self) -> str:
        return f"the Python standard library's sources, tokenizer {self.tokenizer}"


@dataclass(frozen=True)
class Tokens:
    """Files of ids: .npy, or raw little-endian integers of `dtype`. The id `separator` ends a document, as files do."""

    paths: Sequence[str]
    dtype: str = "uint16"
    separator: int | None = None

    def open(self, inputs: Inputs, seed: int) -> Samples:
        parts = [files.token_file(path, self.dtype) for path in files.matching(self.paths)]
        return _windows(parts, inputs, seed, "tokens", self.separator)

    def __str__(self) -> str:
        return f"tokens {', '.join(self.paths)}"


@dataclass(frozen=True)
class Synthetic:
    """Random ids below each input's end, normal floats where an input has none, documents of random lengths.

    Nothing can be learnt from it.
    """

    def open(self, inputs: Inputs, seed: int) -> Samples:
        return lambda index: {name: _drawn(name, wanted, seed, index) for name, wanted in inputs.items()}

    def __str__(self) -> str:
        return "synthetic"


Source = Text | PythonStdlib | Tokens | Synthetic


def _drawn(name: str, wanted: Wanted, seed: int, index: int) -> np.ndarray:
    generator = np.random.default_rng([seed % 2**64, index, zlib.crc32(name.encode())])
    if wanted.high is None:
        return generator.standard_normal(wanted.shape, np.float32)
    if wanted.segments:
        return drawn_segments(generator, wanted.shape)
    return generator.integers(0, wanted.high, wanted.shape)


def drawn_segments(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Documents in rows of the last dim, each new one as likely to begin at one place as at another; about 4 a row."""
    begins = generator.random(shape) < 4 / shape[-1]
    begins[..., 0] = False
    return np.cumsum(begins, axis=-1)


def _windows(parts: list[Part], inputs: Inputs, seed: int, source: str, separator: int | None = None) -> Samples:
    """Shuffled windows of the parts, endlessly, for the one input of ids that a stream of tokens can feed."""
    segments = [name for name, wanted in inputs.items() if wanted.segments]
    name, length, high = _sequence({n: wanted for n, wanted in inputs.items() if n not in segments}, source)
    stream = Stream(parts, separator)
    if len(stream) < length:
        raise UserError(
            f"the {source} has {len(stream)} tokens, and one sample of `{name}` takes {length}",
            "more text, or a shorter sequence: --set seq=…",
        )
    stream.check(high, name)
    import grain

    windows = grain.MapDataset.source(Windows(stream, length, high, name, segments))
    return windows.shuffle(seed=seed % 2**32).repeat().__getitem__


def _sequence(inputs: Inputs, source: str) -> tuple[str, int, int]:
    """Name, length and end of ids of the only input, which must be a sequence of ids."""
    if len(inputs) != 1:
        names = ", ".join(f"`{name}`" for name in inputs)
        raise UserError(
            f"the model has {len(inputs)} inputs ({names}), and {source} yields one", "data: {source: synthetic}"
        )
    [(name, wanted)] = inputs.items()
    if len(wanted.shape) != 1 or wanted.high is None:
        kind = "ids" if wanted.high is not None else wanted.dtype
        raise UserError(
            f"one sample of `{name}` is {list(wanted.shape)} of {kind}, and {source} yields [tokens] of ids"
        )
    return name, wanted.shape[0], wanted.high
