"""The fuzzer finds what it is there to find, and draws the same text for the same number."""

from pathlib import Path

import pytest

from tests.fuzz import examine
from tests.fuzz.__main__ import piece
from tests.fuzz.corpus import Seed
from tests.fuzz.every import of_spec
from tests.fuzz.mutate import KINDS, all_seeds, drawn


def test_a_number_names_one_text():
    assert [drawn(3, n) for n in range(50)] == [drawn(3, n) for n in range(50)]
    assert drawn(3, 1) != drawn(4, 1)


def test_every_kind_of_change_is_drawn_of_specs_and_jobs():
    found = [drawn(0, number) for number in range(300)]
    assert {kind for kind, _ in found} == {kind for kind, _ in KINDS}
    assert {seed.spec is None for _, seed in found} == {True, False}
    texts = {seed.name: seed.text for seed in all_seeds()}
    assert sum(seed.text != texts[seed.name] for _, seed in found) > 250


def test_some_texts_are_taken_as_they_should_be():
    counted, wrong = piece(0, range(150))
    assert wrong == [] and sum(counted.values()) == 150


@pytest.mark.parametrize(
    ("planted", "said"),
    [
        (lambda request: 1 / 0, "ZeroDivisionError"),
        (lambda request: request.__class__.__init__(), "TypeError"),
        (lambda request: _forever(), "took more than"),
        (lambda request: _deep(), "RecursionError"),
    ],
    ids=["a crash", "another", "a hang", "too deep"],
)
def test_what_breaks_is_told(monkeypatch, tmp_path, planted, said):
    monkeypatch.setattr(examine, "check", planted)
    monkeypatch.setattr(examine, "LONGEST", 0.05)
    (complaint,) = examine.complaints(Seed("t", "mesh { a = 2 }\n"), tmp_path)
    assert said in complaint


def test_a_place_outside_of_its_file_is_told(monkeypatch, tmp_path):
    from types import SimpleNamespace

    from meshc.diagnostics.model import Diagnostic, Label
    from meshc.source import SourceFile, Span

    outside = Diagnostic("E0101", "wrong", (Label(Span(SourceFile("t", "abc"), 2, 9)),))
    monkeypatch.setattr(examine, "check", lambda request: SimpleNamespace(diagnostics=(outside,)))
    monkeypatch.setattr(examine, "full", SimpleNamespace(render=len))
    monkeypatch.setattr(examine, "concise", SimpleNamespace(render=len))
    monkeypatch.setattr(examine, "json", SimpleNamespace(render=len))
    assert examine.complaints(Seed("t", ""), tmp_path) == ["E0101 is outside of its file: 2 to 9"]


def test_too_many_errors_of_one_text_are_told(monkeypatch):
    from tests.fuzz import every

    monkeypatch.setattr(every, "_texts", lambda seed, letters: [("whole", "a b\nc d\ne f\ng h\n}\n")])
    monkeypatch.setattr(every, "MOST", 0)
    tried, (said,) = of_spec(Path(every.ROOT, "specs/zoo/02_data.mesh"), False)
    assert tried == 1 and "errors: E0" in said


def _forever() -> None:
    while True:
        pass


def _deep() -> None:
    _deep()
