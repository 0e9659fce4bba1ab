"""Colours only where they can be seen and are wanted."""

import io

import pytest

from meshc.console import show
from meshc.diagnostics.model import Diagnostic


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
    ],
)
def test_colours(monkeypatch, stream: type[io.StringIO], environment: dict[str, str], coloured: bool):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    sink = stream()
    show([Diagnostic("E0130", "no such file")], "full", sink)
    assert ("\x1b[" in sink.getvalue()) == coloured
