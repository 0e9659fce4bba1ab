"""A run of `meshc prove`: what is printed, what a terminal shows meanwhile, and what counts as holding."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pytest

from meshc.diagnostics.model import Diagnostic
from meshc.prove import proofs
from meshc.prove.model import Measure, Proof
from meshc.prove.session import Session
from meshc.prove.variants import Builder

HOLDS = Proof("", "parity", (Measure("loss", "step 1", 1e-12, 1e-10),), ("all-gather over tp: 8 bytes",))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def builder(path: str, sets: Sequence[str] = ()) -> Builder:
    return lambda flags, on_slice: []


@pytest.fixture(autouse=True)
def _all_hold(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(proofs, "run", lambda name, build: [HOLDS])


def test_a_terminal_shows_what_is_being_proven_and_rows_take_that_away():
    out, terminal = io.StringIO(), Terminal()
    Session(1, False, out, terminal).prove(["a.mesh", "b.mesh"], builder)
    shown = terminal.getvalue().split("\r\x1b[K")
    assert "proving a.mesh" in shown
    assert shown[-1] == ""  # nothing is left
    assert [line[:13] for line in out.getvalue().splitlines()] == ["holds  a.mesh", "holds  b.mesh", "2 of 2 specs "]


def test_what_is_no_terminal_is_told_nothing_meanwhile():
    progress = io.StringIO()
    Session(2, False, io.StringIO(), progress).prove(["a.mesh", "b.mesh"], builder)
    assert progress.getvalue() == ""


def test_more_is_said_where_it_is_asked_for():
    brief, verbose = io.StringIO(), io.StringIO()
    for out in (brief, verbose):
        Session(1, out is verbose, out, io.StringIO()).prove(["a.mesh"], builder)
    assert "all-gather over tp: 8 bytes" in verbose.getvalue()
    assert "all-gather" not in brief.getvalue()


def test_nothing_proven_does_not_hold():
    session = Session(1, False, io.StringIO(), io.StringIO())
    session.prove([], builder)
    assert not session.holds


def test_fewer_legal_draws_than_were_wanted_do_not_hold():
    """Every draw is refused here, so none is proven."""
    out = io.StringIO()
    session = Session(1, False, out, io.StringIO())
    refused = [Diagnostic("E0301", "no", ())]
    session.prove(["a.mesh"], builder, mixed=1, seed=0, drawn=lambda path, sets: lambda flags, on_slice: refused)
    assert not session.holds
    assert "1 mixed specs wanted of draws 0 to 99: the checker refused 100, 0 are not built yet" in out.getvalue()
