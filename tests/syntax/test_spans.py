"""Every node knows its exact place in the text."""

import dataclasses
from typing import Any

import pytest

from meshc.source import Span
from meshc.syntax import ast
from tests.syntax.spec_texts import ALL, REST, spans, tree


@pytest.mark.parametrize("name", ALL)
def test_spans_hold_no_blanks_at_their_ends(name):
    for span in spans(tree(ALL[name])):
        assert 0 <= span.start < span.end <= len(ALL[name])
        assert span.text == span.text.strip()


@pytest.mark.parametrize("name", ALL)
def test_a_node_holds_its_children(name):
    def check(node: Any, outer: Span | None) -> None:
        if isinstance(node, tuple):
            for child in node:
                check(child, outer)
        elif dataclasses.is_dataclass(node) and not isinstance(node, Span):
            own = getattr(node, "span", None) or outer
            if outer is not None and own is not None:
                assert outer.start <= own.start and own.end <= outer.end
            for field in dataclasses.fields(node):
                if field.name != "span":
                    check(getattr(node, field.name), own)

    check(tree(ALL[name]), None)


def test_a_name_spans_its_text():
    def names(node: Any) -> list[ast.Name]:
        if isinstance(node, ast.Name):
            return [node]
        if isinstance(node, tuple):
            return [name for child in node for name in names(child)]
        if dataclasses.is_dataclass(node) and not isinstance(node, Span):
            return [name for f in dataclasses.fields(node) for name in names(getattr(node, f.name))]
        return []

    found = names(tree(REST))
    assert len(found) > 60
    assert all(name.span.text == name.text for name in found)


def test_statements_and_rules_span_their_text():
    _, _, _, _, model, partition = tree(REST)
    assert isinstance(model, ast.Model) and isinstance(partition, ast.Partition)
    assert [node.span.text for node in model.body[:3]] == [
        "state bias: [experts] = zeros",
        "param square: embed -> embed'",
        "x = m.Block(tokens, [1, 2, 3]) as first",
    ]
    assert partition.rules[1].span.text == "kv_heads -> tp repeat"
    assert partition.rules[-1].span.text == "if not (a == 2 or b > 1) and c { embed' -> tp }"
    assert model.span.text.startswith("model Big(") and model.span.text.endswith("return x, a\n}")


def test_places_do_not_depend_on_what_stands_before():
    moved = tree("# a comment\r\n\t \n" + ALL["layers"])
    shift = len("# a comment\r\n\t \n")
    assert [(s.start - shift, s.end - shift) for s in spans(moved)] == [
        (s.start, s.end) for s in spans(tree(ALL["layers"]))
    ]


def test_lines_and_columns():
    (mesh,) = tree("mesh {\r\n\ta = 2\r\n}\r\n")
    assert isinstance(mesh, ast.Mesh)
    assert str(mesh.axes[0].name.span) == "t.mesh:2:2"
