"""`# meshc: allow(CODE) reason`."""

import pytest

from meshc.diagnostics.codes import TITLES
from meshc.diagnostics.model import Diagnostic, Label
from meshc.diagnostics.suppress import suppress
from meshc.source import SourceFile, Span

WARNING = next(code for code in sorted(TITLES) if code.startswith("W03"))


def left(text: str, *found: tuple[str, str]) -> list[str]:
    """The codes that are left of `found`, pairs of a code and the text it points at."""
    source = SourceFile("a.mesh", text)
    diagnostics = []
    for code, pointed in found:
        start = text.index(pointed)
        diagnostics.append(Diagnostic(code, "m", (Label(Span(source, start, start + len(pointed))),)))
    return [d.code for d in suppress(diagnostics, [source])]


def test_a_warning_on_the_line_is_silenced_with_a_reason():
    assert left(f"dp = 1  # meshc: allow({WARNING}) kept for the big slice\n", (WARNING, "dp")) == []


def test_on_another_line_it_is_not_and_the_comment_is_reported():
    text = f"dp = 1\nx = 2  # meshc: allow({WARNING}) because\n"
    assert left(text, (WARNING, "dp")) == [WARNING, "W0140"]


def test_several_codes():
    assert left(f"dp = 1 # meshc: allow({WARNING}, W0140) r\n", (WARNING, "dp"), ("W0140", "dp")) == []


@pytest.mark.parametrize(
    ("comment", "code"),
    [
        (f"# meshc: allow({WARNING})", "E0140"),  # no reason
        ("# meshc: allow(W9999) reason", "E0141"),
        ("# meshc: allow() reason", "E0141"),
        ("# meshc: alow(W0140) reason", "E0141"),
    ],
)
def test_what_is_wrong_with_a_comment_is_said(comment: str, code: str):
    assert code in left(f"dp = 1 {comment}\n", (WARNING, "dp"))


def test_errors_cannot_be_silenced():
    assert left("dp = 1 # meshc: allow(E0130) no\n", ("E0130", "dp")) == ["E0130", "E0141"]


def test_after_an_error_an_idle_suppression_is_not_yet_reported():
    assert left(f"a = 1 # meshc: allow({WARNING}) r\nb = 2\n", ("E0130", "b")) == ["E0130"]


@pytest.mark.parametrize("line", ['x = "# meshc: allow"', r'x = "\" # meshc: no"', "x = 1  # about meshc: allow"])
def test_what_is_no_such_comment_is_let_alone(line: str):
    assert left(f"{line}\n") == []


def test_a_suppression_in_an_imported_file_silences_and_is_not_judged():
    imported = SourceFile("lib.mesh", f"a # meshc: allow({WARNING}) r\nb # meshc: allow({WARNING}) r\nc # meshc: x\n")
    found = Diagnostic(WARNING, "m", (Label(Span(imported, 0, 1)),))
    assert suppress([found], [SourceFile("a.mesh", "")]) == ()


def test_a_comment_may_follow_a_prime_a_string_or_another_comment():
    for before in ("param w: embed -> embed'", 'import "#"', "dp = 1  # eight of them"):
        assert left(f"{before}  # meshc: allow({WARNING}) r\n", (WARNING, before[:2])) == []


def test_behind_the_end_of_a_block_it_is_for_the_whole_block():
    text = f'mesh {{\n  a = 2  # }}\n  b {{ c "}}" }}\n}}  # meshc: allow({WARNING}) r\nx\n'
    assert left(text, (WARNING, "a = 2"), (WARNING, "b {")) == []
    assert left(text, (WARNING, "x")) == [WARNING, "W0140"]
    assert left(f"}}  # meshc: allow({WARNING}) r\n", (WARNING, "}")) == []


def at(source: SourceFile, pointed: str) -> Label:
    start = source.text.index(pointed)
    return Label(Span(source, start, start + len(pointed)))


def test_of_a_place_of_several_lines_the_first_and_the_last_count():
    for line in range(3):
        lines = ["rule(", "  a,", ")"]
        lines[line] += f"  # meshc: allow({WARNING}) r"
        source = SourceFile("a.mesh", "\n".join(lines) + "\n")
        whole = Label(Span(source, 0, source.text.index(")") + 1 if line == 2 else source.text.rindex(")") + 1))
        found = suppress([Diagnostic(WARNING, "m", (whole,))], [source])
        assert [d.code for d in found] == ([WARNING, "W0140"] if line == 1 else [])


def test_where_its_place_cannot_be_commented_on_another_of_its_places_can():
    source = SourceFile("a.mesh", f"a\nb  # meshc: allow({WARNING}) r\n")
    for other in (SourceFile("--set", "b=1"), SourceFile("std/llama.mesh", "b")):
        assert suppress([Diagnostic(WARNING, "m", (at(other, "b"), at(source, "b")))], [source]) == ()
    first = Diagnostic(WARNING, "m", (at(source, "a"), at(source, "b")))
    assert [d.code for d in suppress([first], [source])] == [WARNING, "W0140"]
