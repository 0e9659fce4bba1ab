"""The tree of each construct of the language."""

import pytest

from meshc.syntax import ast
from tests.syntax.spec_texts import ALL, shape, tree


def statement(text: str):
    (layer,) = tree(f"layer F(x) {{ {text} }}")
    assert isinstance(layer, ast.Layer)
    (node,) = layer.body
    return shape(node)


def rule(text: str):
    (partition,) = tree(f"partition {{ {text} }}")
    assert isinstance(partition, ast.Partition)
    (node,) = partition.rules
    return shape(node)


def expr(text: str):
    return statement(f"loss {text}")[1]


def claim(dims, axes, *, first=False, append=False, zigzag=False, repeat=False, free=False):
    return ("Claim", dims, first, axes, append, zigzag, repeat, free)


A, B, C = (("Ref", name) for name in "abc")


def test_items_of_a_whole_spec_in_order():
    kinds = [type(item).__name__ for item in tree(ALL["whole"])]
    assert kinds == ["Import", "Mesh", "Dims", "Model", "Partition"]


@pytest.mark.parametrize("name", ALL)
def test_every_example_reads_without_mistakes(name):
    assert tree(ALL[name])


@pytest.mark.parametrize(
    "text, expected",
    [
        ('import "std/llama.mesh"', ("Import", ("Text", "std/llama.mesh"), None)),
        ('import "a.mesh" as m', ("Import", ("Text", "a.mesh"), "m")),
        ("mesh { }", ("Mesh", None, None, ())),
        ("mesh { a = 2, b = * }", ("Mesh", None, None, (("Axis", "a", ("Number", 2)), ("Axis", "b", None)))),
        ("mesh v = regroup(a, b) { c = 2 }", ("Mesh", "v", ("a", "b"), (("Axis", "c", ("Number", 2)),))),
        ("dims { a = 1; b = a }", ("Dims", (("Dim", "a", ("Number", 1)), ("Dim", "b", A)))),
        (
            'primitive f(x: [a, b]) -> [b] = "m:g" { whole a, b }',
            ("Primitive", "f", (("Parameter", "x", ("a", "b"), None, None),), ("b",), ("Text", "m:g"), ("a", "b")),
        ),
        ('primitive f(x: []) -> [] = "m:g"', ("Primitive", "f", (("Parameter", "x", (), None, None),), (), ("Text", "m:g"), ())),
        (
            "model M(t: [a] of v, e = 1,) { }",
            ("Model", "M", (("Parameter", "t", ("a",), "v", None), ("Parameter", "e", None, None, ("Number", 1))), ()),
        ),
        ("strategy s(a) { }", ("Strategy", "s", (("Parameter", "a", None, None, None),), ())),
    ],
)  # fmt: skip
def test_items(text, expected):
    assert shape(tree(text)) == (expected,)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("param w: a -> b, c", ("Param", ("w",), (), ("a",), ("b", "c"), None)),
        ("param w, v: [e] a, b -> a' = a", ("Param", ("w", "v"), ("e",), ("a", "b"), ("a'",), A)),
        ("param w: [a, b] = b", ("Param", ("w",), (), None, ("a", "b"), B)),
        ("param w: []", ("Param", ("w",), (), None, (), None)),
        ("state s: [a] = b", ("State", "s", ("a",), B)),
        ("x = a", ("Assign", ("x",), A)),
        ("x, y = a", ("Assign", ("x", "y"), A)),
        ("x := a", ("Update", "x", A)),
        ("repeat 2 { x = a; y = b }", ("Repeat", ("Number", 2), (("Assign", ("x",), A), ("Assign", ("y",), B)))),
        ("loss a", ("Loss", A)),
        ("metric x = a", ("Metric", "x", A)),
        ("return a, b", ("Return", (A, B))),
    ],
)
def test_statements(text, expected):
    assert statement(text) == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        ("a, b -> x, y", claim(("a", "b"), ("x", "y"))),
        ("a -> .., x", claim(("a",), ("x",), append=True)),
        ("a -> none", claim(("a",), ())),
        ("a' -> x", claim(("a'",), ("x",))),
        ("first(a, b) -> .., x", claim(("a", "b"), ("x",), first=True, append=True)),
        ("a -> .., x zigzag where free", claim(("a",), ("x",), append=True, zigzag=True, free=True)),
        ("a -> x repeat", claim(("a",), ("x",), repeat=True)),
        ("exchange kv by all_gather over x", ("Exchange", "kv", "all_gather", "x")),
        ("stage layers over x", ("Stage", "layers", "x")),
        ("within A, m.B { }", ("Place", ("within",), ("A", "m.B"), None, ())),
        ("grads, optimizer { a -> x }", ("Place", ("grads", "optimizer"), (), None, (claim(("a",), ("x",)),))),
        ("params of M.block.w { }", ("Place", ("params",), (), "M.block.w", ())),
        ("if a { }", ("If", A, ())),
        ("s(a, b = c)", ("Use", ("Call", "s", (A,), (("Keyword", "b", C),), None))),
        ("m.s()", ("Use", ("Call", "m.s", (), (), None))),
    ],
)
def test_rules(text, expected):
    assert rule(text) == expected


@pytest.mark.parametrize(
    "text, same",
    [
        ("a + b * c", "a + (b * c)"),
        ("a - b - c", "(a - b) - c"),
        ("a @ b * c", "(a @ b) * c"),
        ("-a ** b", "-(a ** b)"),
        ("a ** b ** c", "a ** (b ** c)"),
        ("a ** -b", "a ** (-b)"),
        ("-a * b", "(-a) * b"),
        ("not a == b", "not (a == b)"),
        ("a or b and c", "a or (b and c)"),
        ("a + b < c", "(a + b) < c"),
        ("a // b % c / a", "((a // b) % c) / a"),
        ("a[b][c]", "(a[b])[c]"),
    ],
)
def test_precedence(text, same):
    assert expr(text) == expr(same)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("1e-5", ("Number", 1e-5)),
        ("10_000", ("Number", 10000)),
        ("3.0e-4", ("Number", 3e-4)),
        (r'"a\"b\\n\n"', ("Text", 'a"b\\n\n')),
        ("true", ("Literal", True)),
        ("none", ("Literal", None)),
        ("F(a) as b", ("Call", "F", (A,), (), "b")),
        ("[a, b,]", ("ListExpr", (A, B))),
        ("[]", ("ListExpr", ())),
        ("a[b]", ("Index", A, B)),
        ("a'", ("Ref", "a'")),
        ("not a", ("Unary", "not", A)),
    ],
)
def test_expressions(text, expected):
    assert expr(text) == expected


def test_lines_run_on_inside_brackets_and_a_brace_may_stand_on_the_next_line():
    assert tree("layer F(\n x,\n y\n)\n{\n x = f(\n\n a, # why\n b\n)\n\n}\n")


def test_numbers_keep_their_kind():
    (number,) = [expr("2")[1]]
    assert isinstance(number, int)
    assert isinstance(expr("2.0")[1], float)


WORDS = (
    "import mesh dims layer model primitive strategy partition param state repeat loss metric first exchange by".split()
)
WORDS += "over stage within zigzag where free of regroup whole".split()


@pytest.mark.parametrize("word", [*WORDS, "data", "stages", "params", "grads", "optimizer"])
def test_words_of_the_language_are_names_too(word):
    assert tree(f"mesh {{ {word} = 2 }}\ndims {{ {word} = 2, b = {word} * 2 }}")
    assert statement(f"{word} = f({word}, {word} = {word})") == statement("q = f(q, q = q)".replace("q", word))
    assert statement(f"param {word}, b: {word} -> {word}")
    assert rule(f"{word} -> {word}, {word}") == claim((word,), (word, word))
    assert rule(f"{word}, {word} -> .., {word} zigzag")
    assert statement(f"x = F(x) as {word}") and statement(f"{word} := {word}[{word}]")
