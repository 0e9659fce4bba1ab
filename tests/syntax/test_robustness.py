"""Any text is read without an exception, in time that grows with its length, and every place lies inside it."""

import itertools
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from meshc.source import SourceFile
from meshc.syntax.format import format_source
from meshc.syntax.parser import MAX_CHARACTERS, parse
from tests.syntax.spec_texts import ALL, read, spans

TOKENS = re.compile(r'"[^"\n]*"|[A-Za-z_]\w*|\d\S*|\.\.|->|:=|\*\*|//|[<>=!]=|\S|\n')
EVERYTHING = "\n".join(ALL.values())
PIECES = TOKENS.findall(EVERYTHING)
WORDS = [*sorted(set(TOKENS.findall(EVERYTHING))), '"', "'", "\\", "\x00", "é", "😀", "\r", "\t", "# c\n", "\ufeff"]


def check(text: str) -> int:
    """The number of mistakes; all that was found lies inside the text."""
    file, diagnostics = parse(SourceFile("t.mesh", text))
    places = spans(file.items) + [label.span for d in diagnostics for label in d.labels]
    places += [edit.span for d in diagnostics for edit in d.edits]
    assert all(0 <= span.start <= span.end <= len(text) for span in places)
    assert all(d.labels and d.message for d in diagnostics)
    return len(diagnostics)


@pytest.mark.parametrize("name", ALL)
def test_every_prefix_of_a_spec(name):
    mistakes = [check(ALL[name][:end]) for end in range(len(ALL[name]) + 1)]
    assert mistakes[0] == mistakes[-1] == 0
    assert max(mistakes) <= 3  # a text in the middle of being typed


@pytest.mark.parametrize("name", ALL)
def test_every_deletion_of_a_token_is_one_mistake_at_most(name):
    text = ALL[name]
    for match in TOKENS.finditer(text):
        assert check(text[: match.start()] + text[match.end() :]) <= 1, match


@pytest.mark.parametrize("name", ALL)
def test_a_token_doubled_or_swapped_with_the_next(name):
    text = ALL[name]
    places = [(match.start(), match.end()) for match in TOKENS.finditer(text)]
    for (start, end), (start2, end2) in list(itertools.pairwise(places))[::3]:
        assert check(text[:end] + " " + text[start:]) <= 3
        assert check(text[:start] + text[start2:end2] + " " + text[start:end] + text[end2:]) <= 4


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200))
def test_any_text(text):
    check(text)
    format_source(SourceFile("t", text))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=60), st.sampled_from([" ", "", "\n"]))
def test_any_mixture_of_tokens(words, between):
    check(between.join(words))
    check(f"partition {{ {between.join(words)} }}")
    check(f"layer F(x) {{\n{between.join(words)}\n}}")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(PIECES) - 1), st.sampled_from(WORDS)), max_size=6))
def test_any_few_tokens_replaced(changes):
    pieces = list(PIECES)
    for place, word in changes:
        pieces[place] = word
    check(" ".join(pieces))


@pytest.mark.parametrize(
    "text",
    [
        "layer F(x) { y = " + "(" * 50_000 + "x" + ")" * 50_000 + " }",
        "layer F(x) { y = " + "(" * 50_000,
        "layer F(x) { y = " + "f(" * 50_000 + ")" * 50_000 + " }",
        "layer F(x) { y = " + "[" * 50_000 + "]" * 50_000 + " }",
        "layer F(x) { y = x" + "[x" * 50_000 + "]" * 50_000 + " }",
        "layer F(x) { y = " + "-" * 50_000 + "x }",
        "layer F(x) { y = " + "not " * 50_000 + "x }",
        "layer F(x) { y = x" + " + x" * 50_000 + " }",
        "layer F(x) { y = x" + " ** x" * 50_000 + " }",
        "layer F(x) {" + "repeat 2 {" * 20_000 + "}" * 20_000 + "}",
        "partition {" + "within a {" * 20_000 + "}" * 20_000 + "}",
        "partition {" + "if a {" * 20_000 + "}" * 20_000,
    ],
    ids=lambda text: text[:40],
)
def test_deep_nesting_is_a_mistake_and_no_more(text):
    _, diagnostics = read(text)
    assert 1 <= len(diagnostics) <= 20
    assert {d.code for d in diagnostics} <= {"E0101", "E0102", "E0104", "E0110"}


def test_what_is_not_too_deep_can_be_walked_by_recursion():
    text = "layer F(x) { y = " + "f(" * 90 + "x" + ")" * 90 + " }"
    assert format_source(SourceFile("t", text))[0]


@pytest.mark.parametrize("text", ["", " ", "\n", "\r\n", "\t", "\ufeff", "# only a comment", "\ufeff\r\n# c\r\n;;\n"])
def test_a_text_without_items(text):
    assert read(text) == ((), [])


@pytest.mark.parametrize("name", ALL)
def test_line_ends_and_byte_order_marks_change_nothing(name):
    plain = spans(read(ALL[name])[0])
    windows, diagnostics = read("\ufeff" + ALL[name].replace("\n", "\r\n"))
    assert not diagnostics
    assert [span.text.replace("\r\n", "\n") for span in spans(windows)] == [span.text for span in plain]


def test_a_huge_text_is_refused_at_once():
    huge = "mesh { a = 2 }\n" * (50_000_000 // 15)
    items, (diagnostic,) = read(huge)
    assert items == () and diagnostic.code == "E0111"
    assert f"{MAX_CHARACTERS:,}" in diagnostic.message
    assert seconds(huge) < 1


def seconds(text: str) -> float:
    best = float("inf")
    for _ in range(2):
        begin = time.process_time()
        read(text)
        best = min(best, time.process_time() - begin)
    return best


@pytest.mark.parametrize(
    "unit",
    [
        EVERYTHING,
        "foo bar\n",
        "}\n",
        "layer F(x {\n",
        "dims { a = = }\n",
        'import "\n',
        "( ",
        "a = f(\n",
        "partition { a => b; c => d\n",
    ],
    ids=lambda unit: unit[:20],
)
def test_time_is_linear_in_the_text(unit):
    small = unit * max(1, 8_000 // len(unit))
    assert seconds(small * 4) < 4 * 2.5 * seconds(small) + 0.05  # four times the text; quadratic would be sixteen


@pytest.mark.parametrize("head", ["dims {", "partition {", "layer F(x) {", "layer F(", "layer F(x) { y = f("])
@pytest.mark.parametrize("unit", ["a = 1\n", "a = = 1\n", "a => f(\n", "a(b,\n", "{ ", "x, "])
def test_time_is_linear_in_one_item(head, unit):
    small = unit * (3_000 // len(unit))
    assert seconds(head + small * 4) < 4 * 2.5 * seconds(head + small) + 0.05


def test_ten_thousand_lines_take_less_than_two_seconds():
    text = EVERYTHING * (10_000 // EVERYTHING.count("\n"))
    assert seconds(text) < 2
