"""Pairs that attention's mask lets through, against counting them one by one."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import pytest

from meshc.semantics.seen import pairs_seen

SIZES = (1, 2, 7, 12)
WINDOWS = (None, 1, 3, 5, 20)
CHUNKS = (None, 1, 4, 5)


def attention(seq: int, causal: bool, window: int | None, chunk: int | None):
    return SimpleNamespace(seq=SimpleNamespace(size=seq), causal=causal, window=window, chunk=chunk)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("seq", SIZES)
def test_counts(seq: int, causal: bool):
    for window, chunk in itertools.product(WINDOWS, CHUNKS):
        op = attention(seq, causal, window, chunk)
        for queries in range(seq + 1):
            pairs = [(i, j) for i in range(queries) for j in range(seq) if j <= i or not causal]
            pairs = [(i, j) for i, j in pairs if window is None or abs(i - j) < window]
            pairs = [(i, j) for i, j in pairs if chunk is None or i // chunk == j // chunk]
            assert pairs_seen(op, queries) == len(pairs), (window, chunk, queries)


def test_a_window_of_128():
    """huggingface/accelerate#4177: of 4096 tokens 516,160 pairs, and 8,390,656 of full causal attention."""
    assert pairs_seen(attention(4096, True, 128, None), 4096) == 516_160
    assert pairs_seen(attention(4096, True, None, None), 4096) == 8_390_656
