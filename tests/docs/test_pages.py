"""The documentation is true: specs in it parse, commands print what it shows, generated pages are up to date."""

from __future__ import annotations

import doctest
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from docs.pages import PAGES, ROOT, Block, blocks, excerpt, with_output


def all_blocks(language: str) -> list[Block]:
    return [block for page in PAGES for block in blocks(page, language)]


def pages_with(language: str) -> list[Path]:
    return [page for page in PAGES if blocks(page, language)]


@pytest.mark.parametrize("block", all_blocks("mesh"), ids=str)
def test_specs_parse(block: Block):
    from meshc.source import SourceFile
    from meshc.syntax.parser import parse

    _, problems = parse(SourceFile(str(block), block.text))
    assert not problems


@pytest.mark.parametrize("page", pages_with("pycon"), ids=lambda p: p.name)
def test_sessions_print_what_is_shown(page: Path, monkeypatch: pytest.MonkeyPatch):
    """The sessions of a page are one: what an early block defines, a later one uses."""
    monkeypatch.chdir(ROOT)
    session = "\n".join(block.text for block in blocks(page) if block.language == "pycon")
    lines = io.StringIO()
    examples = doctest.DocTestParser().get_doctest(session, {}, page.name, str(page), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE, verbose=False)
    runner.run(examples, out=lines.write)
    assert runner.tries > 0
    assert runner.failures == 0, lines.getvalue()


def test_every_function_and_strategy_is_in_the_reference():
    from meshc.semantics.functions import FUNCTIONS

    text = (ROOT / "docs" / "language.md").read_text()
    strategies = re.findall(r"^strategy (\w+)", (ROOT / "specs" / "std" / "strategies.mesh").read_text(), re.MULTILINE)
    assert [name for name in FUNCTIONS if not re.search(rf"`{name}\b", text)] == []
    assert [name for name in strategies if f"strategy {name}(" not in text] == []


def test_specs_of_each_parallelism_build(tmp_path: Path):
    """Without a warning, too."""
    from meshc.driver import compile_program
    from meshc.job.target import Request

    shown = [*blocks(ROOT / "docs" / "parallelism.md", "mesh"), *blocks(ROOT / "docs" / "language.md", "mesh")]
    named = [block for block in shown if block.name and block.name != "hsdp_tp.mesh"]  # that one asks for a slice
    for block in named:
        (tmp_path / str(block.name)).write_text(block.text)
        compiled, problems = compile_program(Request(str(tmp_path / str(block.name)), None))
        assert compiled is not None and not problems, str(block)
    assert len(named) > 3


def test_yaml_in_the_reference_is_valid():
    from ruamel.yaml import YAML

    from meshc.job.model import Job
    from meshc.job.slice_fields import SliceFields

    named = {"job.yaml": Job, "slice": SliceFields}
    shown = [block for block in all_blocks("yaml") if block.name in named]
    assert len(shown) >= len(named)
    for block in shown:
        data = YAML(typ="safe").load(block.text)
        named[block.name or ""].model_validate_json(json.dumps(data))


def test_the_first_screen_shows_the_clash():
    first, *_ = blocks(ROOT / "README.md", "console")
    assert "error[E0201]: `heads` is claimed by two strategies inside `attend`" in first.text
    assert "ring(sp)" in first.text


def test_the_cure_on_the_first_screen_cures(tmp_path: Path):
    spec = next(block for block in blocks(ROOT / "README.md") if block.name == "long.mesh").text
    shared = "ulysses(sp)\n  within attend { heads, kv_heads -> tp, sp }"
    (tmp_path / "long.mesh").write_text(spec.replace("sp = 4", "sp = 2").replace("ulysses(sp)", shared))
    meshc = Path(sys.executable).with_name("meshc")
    ran = subprocess.run([meshc, "lint", "long.mesh", "--strict"], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout


def test_generated_pages_are_up_to_date():
    ran = subprocess.run([sys.executable, "-m", "docs.generate", "--check"], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + "run `make docs`"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path):
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_files_that_are_named_exist(page: Path):
    """Paths in backticks below the tree's own folders."""
    for name in re.findall(
        r"`((?:meshc|runtime|templates|specs|tests|docs|requirements)/[\w./]+\.\w+)`", page.read_text()
    ):
        assert (ROOT / name).exists(), f"{page.name} names {name}"


PROGRAM = """
A = {
    1: 2,
}

# What b is.
# And why.
def b():
    return 1


class C:
    def m(self):
        return 2

    def n(self):
        return 3
"""


def test_an_excerpt_is_cut_by_name_with_its_comment():
    assert excerpt(PROGRAM, ["b", "A"]) == "# What b is.\n# And why.\ndef b():\n    return 1\n\nA = {\n    1: 2,\n}\n"
    assert excerpt(PROGRAM, ["C.n"]) == "    def n(self):\n        return 3\n"


def test_output_is_written_below_its_command():
    shown = "```mesh a.mesh\ntext\n```\n\n```console\n$ cat a.mesh\nother\n$ echo two  \n```\n"
    assert with_output(shown) == "```mesh a.mesh\ntext\n```\n\n```console\n$ cat a.mesh\ntext\n$ echo two  \ntwo\n```\n"
