"""Cures: which options are told and which becomes the edit; where edits put things."""

from __future__ import annotations

import pytest

from meshc.diagnostics.cures import cured, place_before, untried
from meshc.diagnostics.edits import edited, line_after, removed
from meshc.diagnostics.model import Cure, Diagnostic, Edit, Label, Option
from meshc.source import SourceFile, Span

SOURCE = SourceFile("a.mesh", "tp = 16")
AT = Span(SOURCE, 5, 7)


def sizes(*numbers: int, elsewhere: bool = False) -> tuple[Option, ...]:
    return tuple(Option(str(n), (("mesh.tp", n),), elsewhere=elsewhere) for n in numbers)


def problem(*cures: Cure, helps: tuple[str, ...] = ()) -> Diagnostic:
    return Diagnostic("E0301", "16 is too many", (Label(AT),), helps, cures=cures)


def told(legal: set[int], *cures: Cure, helps: tuple[str, ...] = ()) -> Diagnostic:
    """The problem, where these sizes do and no others."""
    wrong = problem(*cures, helps=helps)
    [found] = cured(
        [wrong],
        lambda option, _: [] if option.sizes[0][1] in legal else [wrong],
        lambda option: (Edit(AT, str(option.sizes[0][1])),),
    )
    return found


def test_what_does_is_told_in_order_and_the_nearest_becomes_the_edit():
    found = told({2, 4, 8}, Cure("`tp` may be {}", sizes(8, 4, 32, 2)))
    assert found.helps == ("`tp` may be 2, 4 or 8",)
    assert [edit.text for edit in found.edits] == ["8"]
    assert found.cures == ()


def test_a_cure_that_does_not_is_not_told():
    assert told(set(), Cure("`tp` may be {}", sizes(8))).helps == ()


def test_further_cures_begin_with_or():
    found = told({4, 8}, Cure("`tp` may be {}", sizes(8)), Cure("or make it {}", sizes(4)), helps=())
    assert found.helps == ("`tp` may be 8", "or make it 4")
    assert told({4}, Cure("`tp` may be {}", sizes(8)), Cure("or make it {}", sizes(4))).helps == ("make it 4",)
    assert told({4}, Cure("or make it {}", sizes(4)), helps=("this",)).helps == ("this", "or make it 4")


def test_an_axis_of_size_1_is_told_but_is_no_edit():
    found = told({1}, Cure("`tp` may be {}", sizes(1)))
    assert (found.helps, found.edits) == (("`tp` may be 1",), ())


def test_what_is_a_last_resort_is_told_only_as_one():
    last = Cure("with another slice, {}", sizes(2, elsewhere=True), usable=False, unless="mesh")
    assert told({2, 8}, Cure("`tp` may be {}", sizes(8)), last).helps == ("`tp` may be 8",)
    assert told({2}, Cure("`tp` may be {}", sizes(8)), last).helps == ("with another slice, 2",)


def test_a_new_error_is_no_cure():
    wrong = problem(Cure("`tp` may be {}", sizes(8)))
    other = Diagnostic("E0304", "some are idle", (Label(Span(SOURCE, 0, 1)),))
    [found] = cured([wrong], lambda *_: [other], lambda _: ())
    assert found.helps == ()


def test_untried_edits_are_not_safe():
    [found] = untried([problem(Cure("take it out", (Option("", (), (Edit(AT, "", safe=True),)),)))])
    assert found.helps == ("take it out",)
    assert not any(edit.safe for edit in found.edits)


@pytest.mark.parametrize(("offset", "before"), [(0, 0), (2, 2), (3, 2), (4, 2), (5, 3), (9, 7)])
def test_places_in_the_changed_text_are_those_of_the_old_one(offset: int, before: int):
    source = SourceFile("a", "abcdefg")
    edits = [Edit(Span(source, 2, 3), "xyz")]
    assert place_before(offset, edits) == before


@pytest.mark.parametrize(
    ("text", "part", "left"),
    [
        ("dims {\n  a = 1\n  b = 2\n}", "a = 1", "dims {\n  b = 2\n}"),
        ("dims {\n  a = 1  # why\n  b = 2\n}", "a = 1", "dims {\n  b = 2\n}"),
        ("dims { a = 1, b = 2 }", "a = 1", "dims { b = 2 }"),
        ("dims { a = 1, b = 2 }", "b = 2", "dims { a = 1 }"),
        ("{ x(a); y(b) }", "y(b)", "{ x(a) }"),
        ("{ x(a); y(b) }", "x(a)", "{ y(b) }"),
        ("{ x(a) }", "x(a)", "{  }"),
    ],
)
def test_what_is_removed_takes_its_separator_along(text: str, part: str, left: str):
    source = SourceFile("a", text)
    at = text.index(part)
    assert edited(text, [removed(Span(source, at, at + len(part)))]) == left


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("{\n  x(a)  # why\n}", "{\n  x(a)  # why\n  y(b)\n}"),
        ("{ x(a) }", "{ x(a)\n  y(b) }"),
    ],
)
def test_a_line_is_put_behind_one(text: str, after: str):
    source = SourceFile("a", text)
    at = text.index("x(a)")
    assert edited(text, [line_after(Span(source, at, at + 4), "y(b)")]) == after
