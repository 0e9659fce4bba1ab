"""The grammar is LALR(1) without conflicts, and the committed table is its table."""

import logging
import subprocess
import sys

from lark import Lark, logger

from meshc.syntax import generate, table

GRAMMAR = generate.GRAMMAR.read_text(encoding="utf-8")


def test_the_committed_table_is_made_of_the_grammar():
    assert generate.TABLE.read_text(encoding="utf-8") == generate.render(GRAMMAR)


def test_the_grammar_has_no_conflicts(caplog):
    level = logger.level
    logger.setLevel(logging.DEBUG)
    try:
        with caplog.at_level(logging.DEBUG, logger.name):
            logger.addHandler(caplog.handler)
            Lark(GRAMMAR, parser="lalr", start="item", debug=True)  # raises on reduce/reduce, reports shift/reduce
    finally:
        logger.removeHandler(caplog.handler)
        logger.setLevel(level)
    assert [record.getMessage() for record in caplog.records if "onflict" in record.getMessage()] == []


def test_a_newer_grammar_is_built_in_memory(tmp_path, monkeypatch):
    newer = tmp_path / "grammar.lark"
    newer.write_text(GRAMMAR.replace('"zigzag"', '"striped"'), encoding="utf-8")
    monkeypatch.setattr(generate, "GRAMMAR", newer)
    assert "striped" in generate.load().words
    assert "striped" not in table.WORDS


def test_an_installation_without_the_grammar_works(tmp_path, monkeypatch):
    built = generate.build(GRAMMAR)
    monkeypatch.setattr(generate, "GRAMMAR", tmp_path / "nowhere")
    assert generate.load() == built


def test_reading_a_spec_imports_neither_lark_nor_jax():
    code = (
        "import sys; from meshc.source import SourceFile; from meshc.syntax.format import format_source;"
        "print(format_source(SourceFile('t', 'mesh {a=1}')));"
        "print(sorted({'lark', 'jax', 'rich', 'pydantic', 'click'} & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[-1] == "[]"
