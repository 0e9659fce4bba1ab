"""The full form, as language.md shows it."""

import pytest

from meshc.diagnostics.model import Diagnostic, Label
from meshc.diagnostics.render import full
from meshc.diagnostics.render.text import WINDOW
from meshc.source import SourceFile, Span


def span(source: SourceFile, text: str) -> Span:
    start = source.text.index(text)
    return Span(source, start, start + len(text))


def shown(diagnostic: Diagnostic) -> list[str]:
    return full.render([diagnostic]).splitlines()


def one(text: str, pointed: str, label: str = "") -> list[str]:
    source = SourceFile("a.mesh", text)
    return shown(Diagnostic("E0201", "m", (Label(span(source, pointed), label),)))


def test_the_conflict_of_language_md():
    source = SourceFile("long.mesh", "\n" * 17 + "  tensor(tp)\n  ulysses(sp)\n")
    diagnostic = Diagnostic(
        "E0201",
        "`heads` is claimed by two strategies inside `attend`",
        (
            Label(span(source, "ulysses(sp)"), "Ulysses puts heads, kv_heads on `sp` (4)"),
            Label(span(source, "tensor(tp)"), "tensor parallelism puts heads, kv_heads on `tp` (4)"),
        ),
        (
            "8 kv_heads cannot be split over tp * sp = 16 shards",
            "`ring(sp)` shards the sequence through attention and leaves heads to `tp`",
        ),
    )
    assert full.render([diagnostic]) == (
        """\
error[E0201]: `heads` is claimed by two strategies inside `attend`
  --> long.mesh:19:3
   |
18 |   tensor(tp)
   |   ---------- tensor parallelism puts heads, kv_heads on `tp` (4)
19 |   ulysses(sp)
   |   ^^^^^^^^^^^ Ulysses puts heads, kv_heads on `sp` (4)
   |
   = help: 8 kv_heads cannot be split over tp * sp = 16 shards
   = help: `ring(sp)` shards the sequence through attention and leaves heads to `tp`
"""
    )


def test_a_diagnostic_without_a_place_has_no_snippet():
    assert shown(Diagnostic("E0130", "no such file: `a.mesh`", (), ("did you mean `b.mesh`?",))) == [
        "error[E0130]: no such file: `a.mesh`",
        "  = help: did you mean `b.mesh`?",
    ]


def test_lines_between_places_are_left_out_but_for_a_single_one():
    source = SourceFile("a.mesh", "one\ntwo\nthree\nfour\nfive\nsix\n")
    labels = (Label(span(source, "three")), Label(span(source, "one")), Label(span(source, "six")))
    lines = shown(Diagnostic("E0201", "m", labels))
    assert lines[3:] == ["1 | one", "  | ---", "2 | two", "3 | three", "  | ^^^^^", "...", "6 | six", "  | ---"]


def test_the_primary_file_comes_first_and_each_file_has_its_place():
    here, there = SourceFile("a.mesh", "use x\n"), SourceFile("b.mesh", "\ndef x\n")
    lines = shown(Diagnostic("E0201", "m", (Label(span(here, "x"), "used"), Label(span(there, "x"), "defined"))))
    assert [line for line in lines if ":::" in line or "-->" in line] == [" --> a.mesh:1:5", " ::: b.mesh:2:5"]


@pytest.mark.parametrize(
    ("text", "pointed", "underline"),
    [
        ("\tx = y", "x", "  |     ^"),  # a tab reaches to column 4
        ("ab\tx", "x", "  |     ^"),
        ("# 汉字 x", "x", "  |        ^"),  # two columns each
        ("e\u0301 x", "x", "  |   ^"),  # a combining accent takes none
        ("x = 汉字 + 1", "汉字", "  |     ^^^^"),
    ],
)
def test_the_underline_stands_below_what_it_means(text: str, pointed: str, underline: str):
    assert one(text, pointed)[-1] == underline


def test_crlf_is_not_shown():
    assert one("a = 1\r\nb = 2\r\n", "b")[-2:] == ["2 | b = 2", "  | ^"]


def test_a_span_of_several_lines_is_underlined_on_the_first():
    assert one("mesh {  \n  a = 1\n}\n", "mesh {  \n  a = 1\n}")[-2:] == ["1 | mesh {", "  | ^^^^^^"]


def test_the_end_of_the_file_can_be_pointed_at():
    source = SourceFile("a.mesh", "mesh {\n")
    assert shown(Diagnostic("E0101", "m", (Label(Span(source, 7, 7), "here"),)))[-2:] == ["2 |", "  | ^ here"]


def test_what_ends_a_line_can_be_pointed_at():
    source = SourceFile("a.mesh", "ab" + "\r" * 30)
    assert shown(Diagnostic("E0101", "m", (Label(Span(source, 20, 20)),)))[-1] == "  |   ^"


def test_an_empty_file_can_be_pointed_at():
    source = SourceFile("a.mesh", "")
    assert shown(Diagnostic("E0101", "m", (Label(Span(source, 0, 0)),)))[-2:] == ["1 |", "  | ^"]


@pytest.mark.parametrize("filling", ["a", "汉", "\t"])
@pytest.mark.parametrize("length", [50, 200, 5_000, 200_000])
def test_of_a_long_line_a_window_is_shown_with_the_place_in_it(filling: str, length: int):
    *_, line, underline = one(filling * length + " HERE " + filling * length, "HERE")
    assert "HERE" in line
    assert len(line) <= WINDOW + 10
    assert underline.count("^") == 4
    if filling == "a":
        assert underline.index("^") == line.index("HERE")


def test_places_far_apart_on_a_long_line_are_shown_one_by_one():
    source = SourceFile("a.mesh", "LEFT" + "." * 300 + "RIGHT")
    lines = shown(Diagnostic("E0201", "m", (Label(span(source, "LEFT")), Label(span(source, "RIGHT")))))
    assert sum(line.startswith("1 |") for line in lines) == 2


@pytest.mark.parametrize("char", ["\x1b", "\x07", "\u202e", "\u2066", "\x00", "\u2028"])
def test_what_would_steer_the_terminal_is_replaced(char: str):
    text = full.render([Diagnostic("E0201", f"a{char}", (Label(span(SourceFile(f"f{char}", f"{char}x"), "x"), char),))])
    assert char not in text


def test_colours_only_when_asked_and_without_changing_the_text():
    import re

    source = SourceFile("a.mesh", "a\nb\n")
    diagnostic = Diagnostic("W0301", "m", (Label(span(source, "a"), "x"), Label(span(source, "b"))), ("h",))
    plain, coloured = full.render([diagnostic]), full.render([diagnostic], colour=True)
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
