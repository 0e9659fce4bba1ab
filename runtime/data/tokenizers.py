"""Text into ids: bytes as they are, or a `tokenizer.json` of the `tokenizers` library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from ..errors import UserError
from .stream import Part

BYTES = "bytes"
BETWEEN_FILES = 0  # the NUL byte: an id that text does not use
END_TOKENS = ("<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>", "[SEP]")


def tokenizer(name: str) -> Callable[[Sequence[tuple[str, bytes]]], list[Part]]:
    """From (file name, content) pairs to ids. `name` is `bytes`, or the path of a `tokenizer.json`."""
    if name == BYTES:
        return _bytes
    return lambda documents: _library(name, documents)


def _bytes(documents: Sequence[tuple[str, bytes]]) -> list[Part]:
    """Ids 0 to 255, one a byte, and `BETWEEN_FILES` after each file."""
    end = bytes([BETWEEN_FILES])
    return [Part(name, np.frombuffer(content + end, np.uint8)) for name, content in documents]


def _library(path: str, documents: Sequence[tuple[str, bytes]]) -> list[Part]:
    if not Path(path).is_file():
        raise UserError(f"no tokenizer `{path}`", "`bytes`, or the path of a tokenizer.json")
    from tokenizers import Tokenizer

    try:
        loaded = Tokenizer.from_file(path)
    except Exception as problem:  # the library raises a bare Exception
        raise UserError(f"`{path}` is not a tokenizer.json: {problem}") from None
    texts = [_decoded(name, content) for name, content in documents]
    ends = [i for token in END_TOKENS if (i := loaded.token_to_id(token)) is not None][:1]
    encoded = loaded.encode_batch_fast(texts, add_special_tokens=False)
    return [Part(name, np.array(one.ids + ends, np.int32)) for (name, _), one in zip(documents, encoded, strict=True)]


def _decoded(name: str, content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise UserError(
            f"`{name}` is not UTF-8: byte {content[problem.start]:#04x} at {problem.start}",
            "convert the file, or use the tokenizer `bytes`",
        ) from None
