"""Nearest names and legal sizes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshc.diagnostics import suggest


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("haeds", ["heads", "head_dim", "kv_heads"], "heads"),
        ("Heads", ["heads"], "heads"),
        ("optimiser", ["optimizer", "steps"], "optimizer"),
        ("embedding", ["embed", "heads"], "embed"),
        ("tpp", ["dpp", "app", "fsdp"], "app"),  # of equals the first by the alphabet
        ("board", ["coard", "baord"], "baord"),  # but the same letters before others
        ("tp", ["dp", "sp", "fsdp"], None),
        ("tp", ["dp", "pt"], "pt"),
        ("zebra", ["heads", "mlp"], None),
        ("x", [], None),
    ],
)
def test_nearest(name: str, known: list[str], expected: str | None):
    assert suggest.nearest(name, known) == expected


@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_distance_is_symmetric_and_zero_only_for_equals(a: str, b: str):
    assert suggest.edit_distance(a, b) == suggest.edit_distance(b, a)
    assert (suggest.edit_distance(a, b) == 0) == (a == b)


def test_a_swap_of_neighbours_is_one_slip():
    assert suggest.edit_distance("baord", "board") == 1


def test_help_for_an_unknown_name():
    assert suggest.did_you_mean("haeds", ["heads"]) == ("did you mean `heads`?",)
    assert suggest.did_you_mean("zzz", ["heads", "mlp"]) == ("known are `heads` and `mlp`",)
    assert suggest.did_you_mean("zzz", map(str, range(1000, 1100))) == ()


@given(st.integers(1, 10**6))
def test_divisors_divide_and_none_is_missing(n: int):
    found = suggest.divisors(n)
    assert found == sorted({d for k in range(1, int(n**0.5) + 1) if n % k == 0 for d in (k, n // k)})


@given(st.integers(1, 10**9), st.integers(1, 10**4))
def test_legal_sizes_are_the_nearest_multiples(value: int, multiple: int):
    found = suggest.legal_sizes(value, multiple)
    assert all(size > 0 and size % multiple == 0 and abs(size - value) < multiple for size in found)
    assert (value in found) == (value % multiple == 0)


def test_listed():
    assert suggest.listed([4, 1, 2]) == "1, 2 or 4"
    assert suggest.listed([7]) == "7"
    assert suggest.listed([]) == ""
    assert suggest.listed(range(1, 100), near=50, most=3) == "49, 50 or 51"
