"""Expressions keep their meaning when one moves into another; long lines break as `ruff format` breaks them."""

import subprocess
import sys

import pytest

from meshc.codegen.text import (
    ATOM,
    PRODUCT,
    SUM,
    UNARY,
    WIDTH,
    Var,
    broken,
    broken_signature,
    call,
    comment,
    quoted,
    ref,
    text,
)

a, b, c = Var("a"), Var("b"), Var("c")


def said(expression) -> str:
    return expression.render(lambda v: v.name)


def product(left, right):
    return text(PRODUCT, (ref(left), PRODUCT), " * ", (ref(right), UNARY))


def test_a_sum_inside_a_product_gets_parentheses():
    both = text(SUM, (ref(a), SUM), " + ", (ref(b), PRODUCT))
    assert said(product(c, b).replace(c, both)) == "(a + b) * b"


def test_a_product_on_the_left_of_a_product_needs_none_and_on_the_right_does():
    assert said(product(c, a).replace(c, product(a, b))) == "a * b * a"
    assert said(product(a, c).replace(c, product(a, b))) == "a * (a * b)"


def test_an_argument_needs_no_parentheses():
    both = text(SUM, (ref(a), SUM), " + ", (ref(b), PRODUCT))
    assert said(call("f", ref(c), axis="1").replace(c, both)) == "f(a + b, axis=1)"


def test_a_subscript_binds_tightest():
    indexed = text(ATOM, (ref(c), ATOM), "[0]")
    assert said(indexed.replace(c, product(a, b))) == "(a * b)[0]"
    assert said(indexed.replace(c, call("f", ref(a)))) == "f(a)[0]"


LONG = [
    f"x = f({', '.join(f'argument_{i}' for i in range(9))})",
    f"x = f({', '.join(f'argument_{i}' for i in range(20))})",
    f"x = f(g({', '.join(f'argument_{i}' for i in range(16))}), axis=1)",
    f"x = ({', '.join(f'argument_{i}' for i in range(9))})",
    f"x = [{', '.join(f'argument_{i}' for i in range(9))}]",
    f"x = {{{', '.join(f'{chr(34)}key_{i}{chr(34)}: value_{i}' for i in range(9))}}}",
]


@pytest.mark.parametrize("code", LONG)
def test_lines_are_broken_as_ruff_breaks_them(code: str):
    lines = "\n".join(broken(code)) + "\n"
    assert max(map(len, lines.splitlines())) <= WIDTH
    command = [sys.executable, "-m", "ruff", "format", "--isolated", f"--line-length={WIDTH}", "-"]
    found = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    assert found.stdout == lines


def test_a_short_line_stays():
    assert broken("x = f(1)", 4) == ["    x = f(1)"]
    assert broken_signature("f", ["self"], "None", 4) == ["    def f(self) -> None:"]


@pytest.mark.parametrize("value", ["plain", "it's", 'say "x"', "back\\slash", "new\nline", '"; import os #', "ünï"])
def test_a_string_is_read_back_as_it_was(value: str):
    assert eval(quoted(value)) == value


def test_a_comment_is_one_line_and_ends_no_string():
    assert comment('a\nb """ \\ c') == "a b c"
