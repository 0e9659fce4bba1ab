"""Replica groups in every form that XLA prints, and the axes behind them."""

from __future__ import annotations

import pytest

from meshc.prove.groups import axes_of, replica_groups, source_target_pairs, spans_axes

CUBE = {"a": 2, "b": 2, "c": 2}


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("replica_groups={{0,1},{2,3}}, use_global_device_ids=true", ((0, 1), (2, 3))),
        ("replica_groups={{0},{1},{2},{3}}", ((0,), (1,), (2,), (3,))),
        ("replica_groups={}, dimensions={0}", ((0, 1, 2, 3),)),
        ("channel_id=1, dimensions={0}", ((0, 1, 2, 3),)),
        ("replica_groups=[2,2]<=[4], dimensions={0}", ((0, 1), (2, 3))),
        ("replica_groups=[2,2]<=[2,2]T(1,0), x", ((0, 2), (1, 3))),
        ("replica_groups=[1,4]<=[4]", ((0, 1, 2, 3),)),
        ("replica_groups=mesh['x'=2,'y'=2] {'y'}", ((0, 1), (2, 3))),
        ("replica_groups=mesh['x'=2,'y'=2] {'x'}, x", ((0, 2), (1, 3))),
        ("replica_groups=mesh['x'=4] {'x':(1)2}", ((0, 2), (1, 3))),
        ("replica_groups=mesh['x'=4] {'x':(2)2}", ((0, 1), (2, 3))),
        ("replica_groups=mesh['x'=2,'y'=2], device_ids=([2,2]T(1,0)) {'y'}", ((0, 2), (1, 3))),
        ("replica_groups=mesh['x'=2,'y'=2], device_ids=(3,1,2,0) {'y'}", ((3, 1), (2, 0))),
    ],
)
def test_every_form_of_four_devices(text: str, groups: tuple[tuple[int, ...], ...]):
    assert replica_groups(text, 4) == groups


def test_iota_transposed_over_three_dims():
    # numpy: arange(8).reshape(2, 2, 2).transpose(1, 0, 2).reshape(2, 4)
    assert replica_groups("replica_groups=[2,4]<=[2,2,2]T(1,0,2)", 8) == ((0, 1, 4, 5), (2, 3, 6, 7))


def test_xla_own_mesh_over_a_transposed_device_order():
    # As XLA prints the sums of a global norm on dp_replicate 2 x dp_shard 2 x tp 2: its `axis_0` is our second axis.
    text = "replica_groups=mesh['axis_0'=2,'axis_1'=4], device_ids=([2,2,2]T(1,0,2)) {'axis_0'}, to_apply=%add"
    assert axes_of(replica_groups(text, 8), CUBE) == ("b",)


def test_an_unknown_form_is_not_read_as_something_else():
    with pytest.raises(ValueError, match="unknown form"):
        replica_groups("replica_groups=<new>", 8)


@pytest.mark.parametrize(
    ("groups", "axes"),
    [
        (((0, 1), (2, 3), (4, 5), (6, 7)), ("c",)),
        (((0, 2), (1, 3), (4, 6), (5, 7)), ("b",)),
        (((0, 4), (1, 5), (2, 6), (3, 7)), ("a",)),
        (((0, 1, 2, 3), (4, 5, 6, 7)), ("b", "c")),
        (((0, 2, 4, 6), (1, 3, 5, 7)), ("a", "b")),
        (((7, 6, 5, 4, 3, 2, 1, 0),), ("a", "b", "c")),
        (((0,), (1,), (2,), (3,), (4,), (5,), (6,), (7,)), ()),
    ],
)
def test_axes_are_those_along_which_members_differ(groups: tuple[tuple[int, ...], ...], axes: tuple[str, ...]):
    assert axes_of(groups, CUBE) == axes
    assert spans_axes(groups, CUBE)


def test_half_of_an_axis_is_told_from_a_whole_one():
    halves = ((0, 1), (2, 3))
    assert axes_of(halves, {"x": 4}) == ("x",)
    assert not spans_axes(halves, {"x": 4})


def test_groups_that_leave_devices_out_span_no_axes():
    assert not spans_axes(((0, 1),), {"x": 2, "y": 2})


def test_pairs_of_a_permute():
    pairs = source_target_pairs("channel_id=1, source_target_pairs={{0,1},{1,0},{2,3},{3,2}}, metadata={}")
    assert pairs == ((0, 1), (1, 0), (2, 3), (3, 2))
    assert axes_of(pairs, {"x": 2, "y": 2}) == ("y",)
