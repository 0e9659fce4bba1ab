"""A program's text tells of each collective: a line of its own, or the call inside of which it runs."""

from __future__ import annotations

import re

import pytest

from meshc.driver import compile_program
from meshc.job.target import Request
from tests.codegen.golden import ROOT

LINE = re.compile(r"^#     ([\w.]+): ([\w, -]+) over ([\w, ]+)$", re.MULTILINE)


@pytest.mark.parametrize("spec", ["03_fsdp", "09_ring_tensor", "10_gather_kv", "14_pipeline_outer", "15_moe"])
def test_what_runs_inside_of_calls_is_told(spec: str):
    compiled, _ = compile_program(Request(str(ROOT / "specs" / "zoo" / f"{spec}.mesh"), None))
    assert compiled is not None
    text = compiled.files["train.py"]
    told = [(function, ops.split(", "), tuple(axes.split(", "))) for function, ops, axes in LINE.findall(text)]
    for function, _, _ in told:
        assert f"{function}(" in text, f"{function} is not called"
    ways = {(op, axes) for _, ops, axes in told for op in ops}
    for collective in compiled.collectives:
        if collective.op in ("collective-permute", "all-to-all"):  # no line of these specs is one
            assert (collective.op, collective.axes) in ways
