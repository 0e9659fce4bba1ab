"""Generated programs are what they were; `python -m tests.codegen.golden` takes a change over, for review as a diff."""

import pytest

from tests.codegen import golden


@pytest.mark.parametrize("path", golden.SPECS)
def test_the_program_is_what_it_was(path: str):
    assert golden.program(path) == golden.home(path).read_text(encoding="utf-8")
