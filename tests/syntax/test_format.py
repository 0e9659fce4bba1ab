"""There is one way to write a spec, and the formatter writes it."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from meshc.source import SourceFile
from meshc.syntax.format import format_source
from tests.syntax.spec_texts import ALL, shape, tree

EVERYTHING = "\n".join(ALL.values())


def formatted(text: str) -> str:
    out, diagnostics = format_source(SourceFile("t.mesh", text))
    assert not diagnostics, [d.message for d in diagnostics]
    assert out is not None
    return out


def comments(text: str) -> list[str]:
    return sorted(c.rstrip() for c in re.findall(r"#[^\n]*", re.sub(r'"[^"\n]*"', '""', text)))


def check(text: str) -> str:
    """Formats; what comes out means the same, has the same comments, and is formatted."""
    out = formatted(text)
    assert shape(tree(out)) == shape(tree(text))
    assert comments(out) == comments(text)
    assert formatted(out) == out
    assert all(line == line.rstrip() for line in out.split("\n"))
    assert "\n\n\n" not in out and not out.startswith("\n")
    assert out == "" or (out.endswith("\n") and not out.endswith("\n\n"))
    return out


@pytest.mark.parametrize("name", ALL)
def test_the_examples_are_written_as_they_should_be(name):
    assert check(ALL[name]) == ALL[name]


CASES = {
    "mesh": ("mesh{a=2,bbb=*;c=4}", "mesh {\n  a   = 2\n  bbb = *\n  c   = 4\n}\n"),
    "view": ("mesh v=regroup(a,b){c=2}", "mesh v = regroup(a, b) {\n  c = 2\n}\n"),
    "rows": (
        "dims { a=1 , b = 2\n c = 3,\n\n d = 4; e = 5 }",
        "dims {\n  a = 1, b = 2\n  c = 3\n\n  d = 4, e = 5\n}\n",
    ),
    "one line": ("layer F(x) {\n\n return x\n}", "layer F(x) { return x }\n"),
    "several lines": ("layer F(x) { y = x; return y }", "layer F(x) {\n  y = x\n  return y\n}\n"),
    "model": ("model M(x){loss x}", "model M(x) {\n  loss x\n}\n"),
    "nested": (
        "strategy s(a){within attend{b->a}}",
        "strategy s(a) {\n  within attend { b -> a }\n}\n",
    ),
    "empty blocks": ("mesh{}\npartition{params of A.b{}}", "mesh { }\n\npartition {\n  params of A.b { }\n}\n"),
    "flags": ("partition{a->..,b where free zigzag}", "partition {\n  a -> .., b zigzag where free\n}\n"),
    "primitive": (
        'primitive f(x:[a,b])->[a]="m:f"{whole b}',
        'primitive f(x: [a, b]) -> [a] = "m:f" { whole b }\n',
    ),
    "brace on its own line": ("layer F(x)\n{\n  return x }", "layer F(x) { return x }\n"),
    "items of one line stay together": (
        'import "a"\nimport "b"\nmesh { a = 2 }\nlayer F(x) { return x }',
        'import "a"\nimport "b"\n\nmesh {\n  a = 2\n}\n\nlayer F(x) { return x }\n',
    ),
    "blank lines": (
        "\n\npartition {\n\n  a(b)\n\n\n\n  c(d)\n\n}\n\n\n",
        "partition {\n  a(b)\n\n  c(d)\n}\n",
    ),
    "comments": (
        "#a\nmesh { #b\n #c\n x = 2 #d\n\n\n #e\n} #f\n#g",
        "#a\nmesh {  #b\n  #c\n  x = 2  #d\n\n  #e\n}  #f\n#g\n",
    ),
    "a comment belongs to what follows": (
        "mesh {\n  a = 2\n}\n# about F\nlayer F(x) { return x }\n",
        "mesh {\n  a = 2\n}\n\n# about F\nlayer F(x) { return x }\n",
    ),
    "a comment keeps a block open": ("layer F(x) { # c\n return x }", "layer F(x) {  # c\n  return x\n}\n"),
    "a comment behind a call": (
        "layer F(x) { return f(x, # first\n  # second\n y\n # last\n) }",
        "layer F(x) {\n  return f(\n    x,  # first\n    # second\n    y,\n    # last\n  )\n}\n",
    ),
    "a comment in an expression moves before it": (
        "layer F(x) { y = (a # why\n + b); return y }",
        "layer F(x) {\n  # why\n  y = a + b\n  return y\n}\n",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_one_way(name):
    text, expected = CASES[name]
    assert check(text) == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        ("(a)", "a"),
        ("(a * b) + c", "a * b + c"),
        ("a * (b + c)", "a * (b + c)"),
        ("a - (b - c)", "a - (b - c)"),
        ("(a - b) - c", "a - b - c"),
        ("a @ b * c", "(a @ b) * c"),
        ("(a @ b) @ c", "a @ b @ c"),
        ("a @ (b @ c)", "a @ (b @ c)"),
        ("(-a) ** b", "(-a) ** b"),
        ("-(a ** b)", "-a ** b"),
        ("(a ** b) ** c", "(a ** b) ** c"),
        ("a ** (-b)", "a ** -b"),
        ("a - -1", "a - -1"),
        ("not (a and b)", "not (a and b)"),
        ("not (a == b)", "not a == b"),
        ("(not a) == b", "(not a) == b"),
        ("(a < b) == c", "(a < b) == c"),
        ("(a or b) and c", "(a or b) and c"),
        ("(a + b)[c]", "(a + b)[c]"),
        ("(F(x) as f) @ w", "F(x) as f @ w"),
        ("f( x,k=( 1 ) , )", "f(x, k = 1)"),
        ("[ 1,2, ]", "[1, 2]"),
        ('f("a{b}#c")', 'f("a{b}#c")'),
        ("1_000 * 3.0e-4", "1_000 * 3.0e-4"),
    ],
)
def test_parentheses_only_where_they_are_needed_or_help(text, expected):
    assert check(f"layer F(x) {{ return {text} }}") == f"layer F(x) {{ return {expected} }}\n"


def test_a_long_call_is_broken_from_outside_in():
    inner = ", ".join(f"argument_{n}" for n in range(6))
    out = check(f"layer F(x) {{ y = f(g({inner}), over = embed) + h({inner}) @ w\n return y }}")
    assert out == (
        f"layer F(x) {{\n  y = f(\n    g({inner}),\n    over = embed,\n  ) + h({inner}) @ w\n  return y\n}}\n"
    )
    assert max(map(len, check(f"layer F(x) {{ y = f(g({inner}, {inner}), [{inner}, {inner}]) }}").splitlines())) <= 100


def test_a_long_row_of_dims_is_filled():
    entries = ", ".join(f"dimension_{n} = {n}" for n in range(20))
    lines = check(f"dims {{ {entries} }}").splitlines()
    assert max(map(len, lines)) <= 100
    assert len(lines) < 8


def test_a_spec_with_mistakes_is_not_formatted():
    out, diagnostics = format_source(SourceFile("t", "mesh { a = }\ndims { b=2 }"))
    assert out is None and [d.code for d in diagnostics] == ["E0101"]


@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff", "# c", "\r\n# c \r\n"])
def test_texts_without_items(text):
    assert check(text) == ("# c\n" if "#" in text else "")


def test_windows_line_ends_become_plain():
    assert check(EVERYTHING.replace("\n", "\r\n")) == formatted(EVERYTHING)


# ---------------------------------------------------------------- any text

NAMES = st.sampled_from(["x", "embed", "first", "over", "repeat", "a_rather_long_name_of_a_tensor"])
ATOMS = NAMES | st.sampled_from(["1", "2.5e-3", '"t # {"', "none", "embed'", "[]", "f()"])
OPERATORS = st.sampled_from(["+", "-", "*", "/", "//", "%", "@", "**", "and", "or"])
GAPS = st.sampled_from(["", " ", "\n", " # c\n", "\n\n  # d\n# e\n"])


def _grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    inside = st.tuples(GAPS, inner, GAPS).map("".join)
    return st.one_of(
        st.tuples(inner, OPERATORS, inner).map(" ".join),
        inner.map("-{}".format),
        inside.map("(not {})".format),
        st.tuples(inside, inside).map(lambda pair: f"(({pair[0]}) < ({pair[1]}))"),
        inside.map("({})".format),
        st.tuples(NAMES, inner).map(lambda pair: f"({pair[0]})[{pair[1]}]"),
        st.lists(inside, max_size=4).map(lambda items: f"[{','.join(items)}]"),
        st.tuples(NAMES, st.lists(inside, min_size=1, max_size=4), NAMES, inside).map(
            lambda c: f"{c[0]}({','.join(c[1])}, {c[2]} = {c[3]})"
        ),
        inner.map("F({}) as block".format),
    )


EXPRESSIONS = st.recursive(ATOMS, _grow, max_leaves=12)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(GAPS, EXPRESSIONS, st.sampled_from([";", "\n", "  # behind\n"])), min_size=1, max_size=4))
def test_any_expression_is_formatted_once_and_means_the_same(statements):
    body = "".join(f"{gap}y = ({value}){end}" for gap, value, end in statements)
    check(f"layer F(x) {{ {body} }}")


BLANKS = re.compile(r"(?<=[,;{}()\[\]\n])[ ]*|\n")


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_blanks_and_comments_in_a_spec(data):
    """Comments and empty lines where a line may end, in the middle of everything."""
    pieces = re.split(r"(\n|(?<=[(,])(?= ))", EVERYTHING.replace("#", "##"))
    for place in data.draw(st.lists(st.integers(0, len(pieces) - 1), max_size=15)):
        if pieces[place] in ("\n", ""):
            pieces[place] += data.draw(st.sampled_from(["\n", "\n\n\n", "# c\n", "  # d\n\n", "\n# e\n"]))
    text = "".join(piece if piece is not None else "" for piece in pieces)
    try:
        tree(text)
    except AssertionError:
        return  # a line that may not end there, as between dims
    check(text)
