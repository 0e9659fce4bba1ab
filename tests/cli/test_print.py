"""Colours only where they can be seen and are wanted."""

import io

import pytest

from meshc.console import show
from meshc.diagnostics.model import Diagnostic, Label
from meshc.source import SourceFile, Span


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "environment", "coloured"),
    [
        (Terminal, {}, True),
        (Terminal, {"NO_COLOR": "1"}, False),
        (Terminal, {"NO_COLOR": ""}, True),  # https://no-color.org: empty does not count
        (Terminal, {"TERM": "dumb"}, False),
        (io.StringIO, {}, False),
        (io.StringIO, {"FORCE_COLOR": "1"}, True),  # https://force-color.org
        (io.StringIO, {"FORCE_COLOR": ""}, False),
        (io.StringIO, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (Terminal, {"FORCE_COLOR": "1", "TERM": "dumb"}, True),
    ],
)
def test_colours(monkeypatch, stream: type[io.StringIO], environment: dict[str, str], coloured: bool):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    sink = stream()
    show([Diagnostic("E0130", "no such file")], "full", sink)
    assert ("\x1b[" in sink.getvalue()) == coloured


@pytest.mark.parametrize(
    ("stream", "columns", "longest"), [(Terminal, 60, 60), (Terminal, 20, 50), (io.StringIO, 60, 130)]
)
def test_a_narrow_terminal_shows_less_of_a_long_line(
    monkeypatch, stream: type[io.StringIO], columns: int, longest: int
):
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("NO_COLOR", "1")
    source = SourceFile("a.mesh", "x" * 45 + " here " + "y" * 50)
    sink = stream()
    show([Diagnostic("E0203", "m", (Label(Span(source, 46, 50)),))], "full", sink)
    lines = sink.getvalue().splitlines()
    assert max(map(len, lines)) <= longest
    shown, marked = lines[3], lines[4]
    assert shown[marked.index("^") :].startswith("here")
    assert ("…" in shown) == (stream is Terminal)
