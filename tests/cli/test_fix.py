"""`meshc lint --fix`: what it mends and leaves, how it writes, and what it says of that."""

import codecs
import io
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from meshc.diagnostics.edits import edited, together
from meshc.diagnostics.model import Diagnostic, Edit, Label
from meshc.lint.fix import ROUNDS, fix
from meshc.source import SourceFile, Span
from tests.tiny import TINY

MISSPELT = TINY.replace("table[tokens]", "table[tokenz]")
UNSAFE = ("--fix", "--unsafe-fixes")


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "spec.mesh"
    path.write_text(MISSPELT)
    return path


@pytest.mark.parametrize("before", ["", "# What it is for.\n\n", 'import "std/llama.mesh"\n\n'])
def test_an_import_is_added_as_it_would_be_written(meshc, tmp_path: Path, before: str):
    text = before + TINY.replace("table[tokens] @", "LayerNorm(table[tokens]) @")
    (tmp_path / "a.mesh").write_text(text)
    meshc("fmt", "a.mesh", cwd=tmp_path)
    done = meshc("lint", *UNSAFE, "a.mesh", cwd=tmp_path)
    assert 'import "std/gpt.mesh"' in (tmp_path / "a.mesh").read_text(), done.out
    assert meshc("fmt", "--check", "a.mesh", cwd=tmp_path).code == 0


# ---------------------------------------------------------------- a text


def replacing(old: str, new: str, code: str = "E0204", safe: bool = True):
    """A check that asks for `new` wherever `old` stands."""

    def check(source: SourceFile) -> list[Diagnostic]:
        starts = [i for i in range(len(source.text)) if source.text.startswith(old, i)]
        spans = [Span(source, i, i + len(old)) for i in starts]
        return [Diagnostic(code, "m", (Label(span),), ("h",), (Edit(span, new, safe),)) for span in spans]

    return check


def test_until_nothing_changes():
    done = fix(SourceFile("a", "aaaa"), replacing("aa", "a"))
    assert (done.source.text, done.left) == ("a", ())


def test_cures_that_undo_each_other_end():
    def check(source: SourceFile) -> list[Diagnostic]:
        return replacing(source.text, "b" if source.text == "a" else "a")(source)

    assert fix(SourceFile("a", "a"), check).count == 1


def test_a_cure_that_never_ends_is_given_up():
    assert fix(SourceFile("a", "a"), replacing("a", "aa")).count <= 2 ** (ROUNDS + 1)


def test_what_is_not_safe_is_left_unless_asked_for():
    assert fix(SourceFile("a", "x"), replacing("x", "y", safe=False)).source.text == "x"
    assert fix(SourceFile("a", "x"), replacing("x", "y", safe=False), unsafe=True).source.text == "y"


def test_one_unsafe_edit_makes_the_cure_unsafe():
    source = SourceFile("a", "ab")
    edits = (Edit(Span(source, 0, 1), "x", True), Edit(Span(source, 1, 2), "y"))
    assert fix(source, lambda s: [Diagnostic("E0204", "m", (), (), edits)]).source.text == "ab"


def test_while_a_text_does_not_parse_only_that_is_mended():
    def check(source: SourceFile) -> list[Diagnostic]:
        return [*replacing("?", "!", "E0106")(source), *replacing("x", "y")(source)]

    done = fix(SourceFile("a", "x?x"), check)
    assert done.source.text == "y!y"
    stuck = fix(
        SourceFile("a", "x?"), lambda s: [*replacing("?", "!", "E0106", safe=False)(s), *replacing("x", "y")(s)]
    )
    assert stuck.source.text == "x?"


def test_a_cure_that_breaks_the_text_is_taken_back():
    def check(source: SourceFile) -> list[Diagnostic]:
        return [*replacing("x", "?")(source), *replacing("?", "?", "E0106", safe=False)(source)]

    assert fix(SourceFile("a", "x"), check).source.text == "x"


def test_a_cure_in_another_file_is_left():
    other = Span(SourceFile("b", "x"), 0, 1)
    done = fix(
        SourceFile("a", "x"), lambda s: [Diagnostic("E0204", "m", (Label(other),), (), (Edit(other, "y", True),))]
    )
    assert (done.source.text, done.count) == ("x", 0)


def cure(source: SourceFile, start: int, end: int, text: str) -> Diagnostic:
    return Diagnostic("E0204", "m", (), (), (Edit(Span(source, start, end), text),))


def test_cures_that_meet_are_not_carried_out_together():
    source = SourceFile("a", "0123456789")
    first, over, beside = cure(source, 2, 5, "x"), cure(source, 4, 6, "y"), cure(source, 5, 6, "z")
    inserted, again = cure(source, 8, 8, "p"), cure(source, 8, 8, "q")
    chosen, edits = together([first, over, beside, inserted, again])
    assert chosen == [first, beside, inserted]
    assert edited(source.text, edits) == "01xz67p89"


def test_two_problems_with_one_cure_are_both_mended():
    source = SourceFile("a", "0123")
    chosen, edits = together([cure(source, 1, 2, "x"), cure(source, 1, 2, "x")])
    assert (len(chosen), len(edits)) == (2, 1)


def test_edits_of_two_files_do_not_meet():
    one, other = SourceFile("a", "0123"), SourceFile("b", "0123")
    assert len(together([cure(one, 1, 2, "x"), cure(other, 1, 2, "y")])[0]) == 2


def test_ten_thousand_cures_take_no_longer_than_their_number():
    source = SourceFile("a", "x " * 10_000)
    cures = [cure(source, 2 * i, 2 * i + 1, "y") for i in reversed(range(10_000))]
    began = time.perf_counter()
    _, edits = together(cures)
    assert edited(source.text, edits) == "y " * 10_000
    assert time.perf_counter() - began < 5  # pairwise it would be a minute


def test_new_lines_end_as_the_texts_do():
    source = SourceFile("a", "a\r\nb\r\n")
    assert edited(source.text, [Edit(Span(source, 1, 1), "\n  c")]) == "a\r\n  c\r\nb\r\n"


# ---------------------------------------------------------------- a file


def test_it_mends_and_says_how_much(meshc, spec: Path):
    done = meshc("lint", "spec.mesh", *UNSAFE, cwd=spec.parent)
    assert (done.code, done.out) == (0, "fixed 1 problem; no problems in spec.mesh\n")
    assert spec.read_text() == TINY


def test_doing_it_again_changes_nothing(meshc, spec: Path):
    meshc("lint", spec, *UNSAFE)
    before = spec.stat().st_mtime_ns
    assert "fixed" not in meshc("lint", spec, *UNSAFE).out
    assert spec.stat().st_mtime_ns == before


def test_what_is_left_is_reported_of_the_new_text(meshc, spec: Path):
    spec.write_text(MISSPELT.replace("data(dp)", "data(7)"))
    done = meshc("lint", "spec.mesh", *UNSAFE, cwd=spec.parent)
    assert done.code == 1
    assert "| partition { data(7) }" in done.out
    assert done.out.endswith("fixed 1 problem; 1 error in spec.mesh\n")


def test_the_diff_writes_nothing(meshc, spec: Path):
    done = meshc("lint", "spec.mesh", "--diff", "--unsafe-fixes", cwd=spec.parent)
    assert done.code == 1
    assert done.out.startswith("--- spec.mesh\n+++ spec.mesh\n@@ ")
    assert "\n-  logits = table[tokenz] @ table\n+  logits = table[tokens] @ table\n" in done.out
    assert done.err == "would fix 1 problem\n"
    assert spec.read_text() == MISSPELT


def test_the_diff_of_what_is_right_is_empty(meshc, spec: Path):
    spec.write_text(TINY)
    done = meshc("lint", spec, "--diff")
    assert (done.code, done.out, done.err) == (0, "", "would fix 0 problems\n")


@pytest.mark.parametrize(("flags", "code"), [([], 0), (["--strict"], 1)])
def test_a_warning_that_stays_counts_for_the_strict_alone(meshc, spec: Path, flags: list[str], code: int):
    spec.write_text(TINY.replace("dp = 2", "dp = 2; idle = 2"))
    done = meshc("lint", spec, "--diff", *flags)
    assert (done.code, done.err) == (code, "would fix 0 problems and leave 1 warning\n")


def test_a_file_that_ends_without_a_newline_diffs_like_diff(meshc, spec: Path):
    spec.write_text(MISSPELT.replace("data(dp) }\n", "data(pd) }"))
    out = meshc("lint", spec, "--diff", "--unsafe-fixes").out
    assert out.count("\\ No newline at end of file\n") == 2


def test_mode_line_ends_and_byte_order_mark_stay(meshc, spec: Path):
    spec.write_bytes(codecs.BOM_UTF8 + MISSPELT.replace("\n", "\r\n").encode())
    spec.chmod(0o640)
    meshc("lint", spec, *UNSAFE)
    assert spec.read_bytes() == codecs.BOM_UTF8 + TINY.replace("\n", "\r\n").encode()
    assert spec.stat().st_mode & 0o777 == 0o640


def test_of_a_link_the_file_is_mended(meshc, spec: Path):
    link = spec.with_name("link.mesh")
    link.symlink_to(spec)
    meshc("lint", link, *UNSAFE)
    assert link.is_symlink()
    assert spec.read_text() == TINY


def test_an_imported_file_is_mended_only_if_it_is_named(meshc, spec: Path):
    layers = spec.with_name("layers.mesh")
    layers.write_text("layer Twice(x) {\n  return x + xx\n}\n")
    spec.write_text('import "layers.mesh"\n' + TINY.replace("  logits =", "  y = Twice(table[tokens])\n  logits ="))
    done = meshc("lint", "spec.mesh", *UNSAFE, cwd=spec.parent)
    assert "layers.mesh:2:14" in done.out
    assert "xx" in layers.read_text()


def test_a_read_only_file_is_left(meshc, spec: Path):
    spec.chmod(0o444)
    done = meshc("lint", "spec.mesh", *UNSAFE, cwd=spec.parent)
    assert done.code == 1
    assert "it is read-only" in done.out
    assert "error[E0202]" in done.out
    assert not done.out.startswith("fixed")
    assert spec.read_text() == MISSPELT


def test_on_a_full_disk_nothing_is_lost(meshc, spec: Path, monkeypatch):
    def full(path: Path, data: bytes) -> None:
        path.touch()
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(Path, "write_bytes", full)
    done = meshc("lint", spec, *UNSAFE)
    assert done.code == 1
    assert "error[E0602]" in done.out
    assert os.listdir(spec.parent) == ["spec.mesh"]  # noqa: PTH208
    assert spec.read_text() == MISSPELT


def test_the_standard_input_is_mended_to_the_standard_output(meshc, spec: Path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(MISSPELT.encode())))
    done = meshc("lint", "-", *UNSAFE, cwd=spec.parent)
    assert (done.code, done.out, done.err) == (0, TINY, "fixed 1 problem; no problems in <stdin>\n")


@pytest.mark.parametrize("streams", [">&-", "> /dev/full", ">&- 2>&-", "| true"])
def test_what_is_mended_is_written_though_nobody_can_be_told(spec: Path, streams: str):
    shell = f"{sys.executable} -m meshc.cli lint {spec} --fix --unsafe-fixes {streams}"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=False)
    assert "bug" not in done.stderr and "Traceback" not in done.stderr
    assert spec.read_text() == TINY


def test_usage(meshc, spec: Path):
    assert meshc("lint", spec, "--unsafe-fixes").code == 2
