"""How much attention has to do: pairs of a query and a key that its mask lets through."""

from __future__ import annotations

from meshc.semantics.program import Attend


def pairs_seen(op: Attend, queries: int) -> int:
    """Of the first so many queries with all keys: causal, those up to a query's own; within its window and chunk."""
    chunk = op.chunk or op.seq.size
    whole, rest = divmod(queries, chunk)
    last = min(chunk, op.seq.size - whole * chunk)
    return whole * _of_chunk(op, chunk, chunk) + _of_chunk(op, rest, last)


def _of_chunk(op: Attend, queries: int, chunk: int) -> int:
    """Of the first queries of a chunk with its keys."""
    window = chunk if op.window is None else min(op.window, chunk)
    near = min(queries, window)
    before = near * (near + 1) // 2 + (queries - near) * window  # a query's own key among them
    return before if op.causal else before + _after(queries, window, chunk)


def _after(queries: int, window: int, chunk: int) -> int:
    """Keys of the chunk after a query's own: a window reaches as far ahead as back."""
    full = min(queries, chunk - window + 1)  # queries with window - 1 keys ahead
    most, least = chunk - 1 - full, chunk - queries
    return full * (window - 1) + (most + least) * (most - least + 1) // 2
