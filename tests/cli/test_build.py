"""Building into directories: whole or not at all, and never over what meshc did not make."""

import errno
import json
import os
from pathlib import Path

import pytest

from meshc.launch import program_dir
from meshc.launch.program_dir import Built, read_program, write_program

FILES = {"train.py": "print(1)\n", "spec/spec.mesh": "# spec\n"}


def codes(directory: Path, files: dict[str, str] = FILES) -> list[str]:
    return [d.code for d in write_program(directory, files, {"meshc": "0"})]


def tree(directory: Path) -> dict[str, str]:
    return {str(p.relative_to(directory)): p.read_text() for p in sorted(directory.rglob("*")) if p.is_file()}


def test_a_new_directory_holds_the_files_and_the_manifest(tmp_path: Path):
    assert codes(tmp_path / "a" / "b") == []
    written = tree(tmp_path / "a" / "b")
    manifest = json.loads(written.pop("program.json"))
    assert written == FILES
    assert manifest["meshc"] == "0"
    assert set(manifest["files"]) == set(FILES)
    assert [p.name for p in (tmp_path / "a").iterdir()] == ["b"]  # nothing beside it


def test_it_can_be_entered_by_others_as_any_new_directory(tmp_path: Path):
    codes(tmp_path / "build")
    (tmp_path / "plain").mkdir()
    assert (tmp_path / "build").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_an_empty_directory_is_filled(tmp_path: Path):
    (tmp_path / "b").mkdir()
    assert codes(tmp_path / "b") == []


def test_an_earlier_build_is_replaced_and_what_else_lies_there_stays(tmp_path: Path):
    codes(tmp_path, FILES | {"old.txt": "old"})
    (tmp_path / "notes.txt").write_text("mine")
    assert codes(tmp_path, FILES | {"train.py": "print(2)\n"}) == []
    written = tree(tmp_path)
    assert written["train.py"] == "print(2)\n"
    assert written["notes.txt"] == "mine"
    assert "old.txt" not in written


def test_a_directory_of_someone_else_is_refused_and_untouched(tmp_path: Path):
    (tmp_path / "thesis.tex").write_text("x")
    assert codes(tmp_path) == ["E0601"]
    assert tree(tmp_path) == {"thesis.tex": "x"}


@pytest.mark.parametrize("manifest", ["", "[]", "{}", '{"files": 3}', "\xff", "[" * 100_000])
def test_a_directory_with_a_program_json_of_someone_else_is_refused(tmp_path: Path, manifest: str):
    (tmp_path / "program.json").write_bytes(manifest.encode("latin-1"))
    assert codes(tmp_path) == ["E0601"]


def test_an_edited_program_is_not_overwritten(tmp_path: Path):
    codes(tmp_path)
    (tmp_path / "train.py").write_text("print('mine')\n")
    assert codes(tmp_path) == ["E0601"]
    assert tree(tmp_path)["train.py"] == "print('mine')\n"


def test_a_file_in_place_of_the_directory_is_refused(tmp_path: Path):
    (tmp_path / "f").write_text("x")
    assert codes(tmp_path / "f") == ["E0601"]
    assert codes(tmp_path / "f" / "g") == ["E0602"]
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    assert codes(tmp_path / "link") == ["E0601"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EIO])
@pytest.mark.parametrize("earlier", [False, True])
def test_a_disk_that_fails_leaves_nothing_half_written(tmp_path: Path, monkeypatch, number: int, earlier: bool):
    target = tmp_path / "x" / "y"
    if earlier:
        codes(target, {"train.py": "old"})
    before = tree(tmp_path), sorted(tmp_path.rglob("*"))
    write = program_dir._write

    def failing(file: Path, content: bytes) -> None:
        write(file, content[:3])
        if file.name == "spec.mesh":
            raise OSError(number, os.strerror(number), str(file))

    monkeypatch.setattr(program_dir, "_write", failing)
    (problem,) = write_program(target, FILES, {})
    assert problem.code == "E0602"
    assert f"cannot write `{target}`: " in problem.message
    assert (tree(tmp_path), sorted(tmp_path.rglob("*"))) == before


def test_a_path_below_a_device():
    problems = write_program(Path("/dev/full/x"), FILES, {})
    assert [d.code for d in problems] == ["E0602"]


def test_reading_a_build_back(tmp_path: Path):
    codes(tmp_path)
    built = read_program(tmp_path)
    assert isinstance(built, Built)
    assert set(built.files) == set(FILES)
    (tmp_path / "program.json").write_text("{")
    assert getattr(read_program(tmp_path), "code", None) == "E0603"
    (tmp_path / "program.json").unlink()
    assert getattr(read_program(tmp_path), "code", None) == "E0603"
