"""One cause, one report."""

from dataclasses import replace

from meshc.diagnostics.fold import folded
from meshc.diagnostics.model import Diagnostic, Edit, Label
from meshc.diagnostics.render import concise, full
from meshc.source import SourceFile, Span

SOURCE = SourceFile("a.mesh", "\n".join(f"line {i}" for i in range(1, 41)))


def at(line: int, message: str = "`a` is no dim", code: str = "E0203", **rest) -> Diagnostic:
    start = SOURCE.line_starts[line - 1]
    return Diagnostic(code, message, (Label(Span(SOURCE, start, start + 4)),), **rest)


def test_the_same_of_several_places_is_one():
    (one,) = folded([at(1), at(3), at(7)])
    assert [span.line for span in one.also] == [3, 7]


def test_other_names_other_codes_and_other_words_are_others():
    assert len(folded([at(1), at(2, "`b` is no dim"), at(3, code="E0204")])) == 3


def test_syntax_warnings_and_what_names_nothing_stand_for_themselves():
    for message, code in (
        ("this `{` is never closed", "E0102"),
        ("`w` is never used", "W0310"),
        ("this never runs", "E0233"),
    ):
        assert len(folded([at(1, message, code), at(2, message, code)])) == 2


def test_what_names_one_cause_is_one_with_notes():
    found = [at(i, f"`{name}` is no axis", cause="no mesh") for i, name in ((1, "a"), (2, "b"), (3, "a"), (4, "b"))]
    (one,) = folded(found)
    assert [(label.span.line, label.text) for label in one.labels] == [(1, ""), (2, "`b` is no axis")]
    assert [span.line for span in one.also] == [3, 4]


def test_the_cure_is_that_of_all_places_or_none():
    def edit(line: int) -> tuple[Edit, ...]:
        found = at(line).span
        assert found
        return (Edit(found, "b", True),)

    assert folded([at(1, edits=edit(1)), at(2, edits=edit(2)), at(3, edits=edit(2))])[0].edits == (*edit(1), *edit(2))
    assert folded([at(1, edits=edit(1)), at(2)])[0].edits == ()


def test_of_one_cause_the_simplest_is_told_with_its_cure():
    def edits(line: int, text: str) -> tuple[Edit, ...]:
        found = at(line).span
        assert found
        return (Edit(found, text),)

    long = at(1, "`a` and `b`", cause="c", edits=edits(1, "x"))
    long = replace(long, labels=(*long.labels, *at(3).labels))
    (one,) = folded([long, at(2, "`a`", cause="c", edits=edits(1, "y"))])
    assert (one.message, [label.text for label in one.labels]) == ("`a`", ["", "`a` and `b`"])
    assert one.edits == edits(1, "y")


def test_cures_that_meet_are_none():
    found = at(1).span
    assert found
    one, other = at(1, edits=(Edit(found, "x"),)), at(2, edits=(Edit(found, "y"),))
    assert folded([one, other])[0].edits == ()


def test_the_full_form_shows_some_places_and_counts_the_others():
    (one,) = folded([at(i) for i in range(1, 40)])
    text = full.render([one])
    assert text.count("and here") == 2
    assert "\n   = note: and 36 more places\n" in text.replace("\n  =", "\n   =")


def test_one_line_counts_them():
    assert concise.render(folded([at(1), at(2)])) == "a.mesh:1:1: error[E0203]: `a` is no dim (and 1 more place)\n"
