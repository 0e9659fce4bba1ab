"""`meshc` as a function: runs the command line in a directory of its own and gives back what a shell would see."""

import io
import os
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from meshc.cli import _main
from tests.tiny import SPLIT


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


@pytest.fixture
def meshc() -> Callable[..., Done]:
    def run(*arguments: object, cwd: Path | None = None) -> Done:
        out, err, before = io.StringIO(), io.StringIO(), Path.cwd()
        try:
            os.chdir(cwd or before)
            with redirect_stdout(out), redirect_stderr(err):
                code = _main([str(argument) for argument in arguments])
        finally:
            os.chdir(before)
        return Done(code, out.getvalue(), err.getvalue())

    return run


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A directory with a spec."""
    (tmp_path / "spec.mesh").write_text(SPLIT)
    return tmp_path
