"""Reading files: text, or a diagnostic that says why not and where."""

import errno
from pathlib import Path

import pytest

from meshc.diagnostics.model import Diagnostic
from meshc.load import MAX_BYTES, load, reason
from meshc.source import SourceFile, Span


def text(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    found = load(path)
    assert isinstance(found, SourceFile), found
    return found.text


def problem(path: Path, asked: Span | None = None) -> Diagnostic:
    found = load(path, "a.mesh", asked)
    assert isinstance(found, Diagnostic)
    return found


def test_a_byte_order_mark_is_dropped_and_line_ends_stay(tmp_path: Path):
    assert text(tmp_path / "a", b"\xef\xbb\xbfmesh\r\n") == "mesh\r\n"


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_the_byte_that_is_no_utf_8_is_pointed_at(tmp_path: Path, bom: bytes):
    (tmp_path / "a").write_bytes(bom + "é\n汉".encode() + b"\xff")
    found = problem(tmp_path / "a")
    assert (found.code, str(found.span)) == ("E0133", "a.mesh:2:2")
    assert "0xff" in found.message


def test_a_nul_byte_is_pointed_at(tmp_path: Path):
    (tmp_path / "a").write_bytes(b"ab\n\0")
    assert str(problem(tmp_path / "a").span) == "a.mesh:2:1"


def test_the_largest_file(tmp_path: Path):
    with (tmp_path / "a").open("wb") as sink:
        sink.truncate(MAX_BYTES + 1)
    assert problem(tmp_path / "a").code == "E0135"


def test_a_missing_file_names_its_neighbour_and_who_asked(tmp_path: Path):
    (tmp_path / "spec.mesh").touch()
    asked = Span(SourceFile("b.mesh", 'import "spek.mesh"'), 7, 18)
    found = problem(tmp_path / "spek.mesh", asked)
    assert (found.code, found.span) == ("E0130", asked)
    assert found.helps == ("did you mean `spec.mesh`?",)
    assert [edit.text for edit in found.edits] == ['"spec.mesh"']


@pytest.mark.parametrize("target", ["a.mesh", "nowhere"])
def test_a_link_that_leads_to_no_file(tmp_path: Path, target: str):
    (tmp_path / "a.mesh").symlink_to(tmp_path / target)
    found = problem(tmp_path / "a.mesh")
    assert (found.code, found.message, found.helps) == ("E0130", "`a.mesh` is a link that leads to no file", ())


@pytest.mark.parametrize("name", ["a\0b", "x" * 300, "f/g"])
def test_names_that_no_file_can_have(tmp_path: Path, name: str):
    (tmp_path / "f").touch()
    assert problem(tmp_path / name).code in ("E0130", "E0132")


def test_reasons_are_plain_words():
    assert reason(OSError(errno.EACCES, "Permission denied")) == "permission denied"
    assert reason(OSError(errno.EDQUOT, "Disk quota exceeded")) == "disk quota exceeded (the disk is full)"
