"""One mistake costs one message, and what is right around it is read all the same."""

import pytest

from meshc.syntax import ast
from tests.syntax.spec_texts import ALL, WHOLE, read, shape, tree


def kinds(text):
    return [type(item).__name__ for item in read(text)[0]]


def codes(text):
    return [d.code for d in read(text)[1]]


def test_a_broken_item_leaves_the_others():
    text = WHOLE.replace("model Llama(", "model Llama[")
    assert kinds(text) == ["Import", "Mesh", "Dims", "Partition"]
    assert codes(text) == ["E0101"]


@pytest.mark.parametrize(
    "text, names",
    [
        ("mesh { a = 2; b 3; c = 4 }", ["a", "c"]),
        ("mesh { a = 2, b = = 3, c = 4 }", ["a", "c"]),
        ("dims { a = f(1, , 2), b = 3\n c = }", ["b"]),
        ("dims { a = 1,, b = 2 }", ["a", "b"]),
    ],
)
def test_a_broken_entry_leaves_the_others(text, names):
    (item,), diagnostics = read(text)
    assert isinstance(item, ast.Mesh | ast.Dims)
    assert [entry.name.text for entry in (item.axes if isinstance(item, ast.Mesh) else item.entries)] == names
    assert diagnostics


def test_each_broken_statement_is_reported_once():
    (layer,), diagnostics = read(
        "layer F(x) {\n  a = = 1\n  b = 2\n  repeat 3 { c = d e; f = 4 }\n  g = ) 3\n  return b\n}"
    )
    assert isinstance(layer, ast.Layer)
    assert [type(node).__name__ for node in layer.body] == ["Assign", "Repeat", "Return"]
    assert shape(layer.body[1])[2] == (("Assign", ("f",), ("Number", 4)),)
    assert [d.labels[0].span.line for d in diagnostics] == [2, 4, 5]


def test_a_broken_rule_leaves_the_others():
    (partition,), diagnostics = read("partition { data(dp; params { a => b; c -> d }; within { e -> f }; g -> h }")
    assert isinstance(partition, ast.Partition)
    assert [type(node).__name__ for node in partition.rules] == ["Place", "Claim"]
    assert len(diagnostics) == 3


def test_a_bracket_that_is_not_closed_ends_at_its_line():
    (layer,), diagnostics = read("layer F(x) {\n  a = f(x,\n  b = g(x\n  c = 3\n  return c\n}")
    assert isinstance(layer, ast.Layer)
    assert [d.code for d in diagnostics] == ["E0104"]
    assert [type(node).__name__ for node in layer.body][-1] == "Return"


@pytest.mark.parametrize("brace", ["model Llama(tokens: [batch, seq] of vocab) {", "repeat layers {", "mesh {"])
def test_a_forgotten_closing_brace_is_found_where_it_was_opened(brace):
    text = WHOLE.replace("repeat layers { x = LlamaBlock(x) }", "repeat layers {\n    x = LlamaBlock(x)\n  }")
    opened = text.index(brace) + len(brace) - 1
    missing = text.index("}", text.index("}", opened) + 1 if brace.startswith("model") else opened)
    broken = text[:missing].rstrip(" ") + text[missing + 1 :]
    items, (diagnostic,) = read(broken)
    assert diagnostic.code == "E0102"
    assert diagnostic.labels[0].span.start == opened
    assert [type(item).__name__ for item in items] == ["Import", "Mesh", "Dims", "Model", "Partition"]


def test_a_brace_too_many():
    items, (diagnostic,) = read("mesh { a = 2 } }\ndims { b = 3 }")
    assert len(items) == 2
    assert diagnostic.code == "E0103"
    assert [label.span.start for label in diagnostic.labels] == [15, 13]


def test_text_that_is_no_item_is_one_mistake_until_the_next_item():
    assert codes("foo\nbar = 3\n}\nbaz {\n x\n}\nmesh { a = 2 }") == ["E0108"]
    assert kinds("foo\nbar = 3\n}\nbaz {\n x\n}\nmesh { a = 2 }") == ["Mesh"]


def test_a_forgotten_opening_brace_is_one_mistake():
    assert codes("layer F(x)\n  y = 3\n  return y\n}\nmesh { a = 2 }") == ["E0101"]


def test_a_text_that_is_not_closed_is_one_mistake():
    assert codes('layer F(x) { y = "abc }\nmesh { a = 2 }') == ["E0105"]
    assert kinds('layer F(x) { y = "abc }\nmesh { a = 2 }') == ["Layer", "Mesh"]


def test_braces_in_texts_and_comments_do_not_count():
    assert len(tree('layer F(x, y = "{") { # }\n  z = "}"\n  return z # {\n}\nmesh { a = 2 }')) == 2


def test_after_twenty_mistakes_the_rest_of_an_item_is_left():
    assert len(codes("dims {\n" + "  a = =\n" * 1000 + "}")) == 20


@pytest.mark.parametrize("name", ALL)
def test_the_tree_of_a_broken_spec_is_the_right_tree_without_what_is_broken(name):
    """A stray `?` behind an item breaks only what follows it on its line."""
    right = [shape(item) for item in tree(ALL[name])]
    items, diagnostics = read(ALL[name] + "\n? ?\n")
    assert [shape(item) for item in items] == right
    assert len(diagnostics) == 1


@pytest.mark.parametrize(("gone", "codes"), [("(", ["E0101", "E0101"]), (")", ["E0104"])])
def test_a_missing_bracket_is_one_mistake_though_lines_go_on_behind_it(gone, codes):
    layer = "layer F(x) {\n  a = x\n  b = rope(\n    x,\n    theta = 2,\n    scaling = 3,\n  )\n  c = 1 +\n}\n"
    place = layer.index(gone, 14)
    found = read(layer[:place] + layer[place + 1 :])[1]
    assert [d.code for d in found] == codes  # without `(` the last line has a mistake of its own, with it all is inside
