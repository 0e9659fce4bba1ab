"""Names of a spec become identifiers, never anything else."""

import keyword

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshc.codegen.names import LONGEST, Names, attribute, constant, identifier, legend, snake, suffix


@given(st.text(max_size=60))
def test_any_text_becomes_an_identifier(name: str):
    made = identifier(name)
    assert made.isidentifier() and made.isascii()
    assert not made.startswith("_")
    assert len(made) <= LONGEST + 2


@given(st.text(max_size=20))
def test_an_attribute_is_neither_a_keyword_nor_a_builtin(name: str):
    made = attribute(name)
    assert made.isidentifier()
    assert not keyword.iskeyword(made)
    assert made not in ("print", "eval", "train", "sow")


@pytest.mark.parametrize(
    ("name", "made"),
    [("lambda", "lambda_"), ("eval", "eval_"), ("train", "train_"), ("wq", "wq"), ("embed'", "embed_p")],
)
def test_attributes(name: str, made: str):
    assert attribute(name) == made


def test_a_name_that_is_taken_gets_a_number():
    names = Names(["Block"])
    assert [names.unique("Block"), names.unique("Block"), names.unique("if")] == ["Block2", "Block3", "if2"]


def test_constants_are_capitals():
    assert constant("kv_heads") == "KV_HEADS"
    assert constant("__import__") == "IMPORT"


def test_instances_in_snake_case():
    assert [snake(n) for n in ("LlamaBlock", "RMSNorm", "wq")] == ["llama_block", "rms_norm", "wq"]


def test_the_usual_letters():
    letters = legend(["batch", "seq", "embed", "heads", "kv_heads", "head_dim", "mlp", "vocab"])
    assert "".join(letters.values()) == "BLEHKDFV"


@given(st.lists(st.text(min_size=1, max_size=8), max_size=40, unique=True))
def test_no_letter_stands_for_two_dims(dims: list[str]):
    letters = legend(dims)
    assert len(set(letters.values())) == len(letters)
    assert len(letters) == min(len(dims), 26)


def test_a_dim_without_a_letter_leaves_the_suffix_out():
    assert suffix(["batch", "seq"], {"batch": "B", "seq": "L"}) == "_BL"
    assert suffix(["batch", "odd"], {"batch": "B"}) == ""
    assert suffix([], {}) == ""
