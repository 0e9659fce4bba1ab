"""The hooks for pre-commit: what it would run, on the files that it would give."""

import re
import shlex
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from meshc.cli import cli

ROOT = Path(__file__).parents[2]
HOOKS = {hook["id"]: hook for hook in YAML(typ="safe").load((ROOT / ".pre-commit-hooks.yaml").read_text())}
GOOD = "layer Twice(x) {\n  return x + x\n}\n"


def test_the_hooks():
    assert set(HOOKS) == {"meshc-lint", "meshc-fmt"}
    assert all(hook["language"] == "python" for hook in HOOKS.values())


@pytest.mark.parametrize("name", HOOKS)
def test_a_hook_takes_specs_and_fails_on_what_is_wrong(meshc, tmp_path: Path, name: str):
    hook = HOOKS[name]
    assert re.search(hook["files"], "specs/a.mesh")
    assert not re.search(hook["files"], "specs/a.mesh.py")
    program, command, *flags = shlex.split(hook["entry"])
    assert program == "meshc" and command in cli.commands
    for file in ("a.mesh", "b.mesh"):
        (tmp_path / file).write_text(GOOD)
    meshc(command, *flags, "a.mesh", "b.mesh", cwd=tmp_path)  # fmt may write them anew
    assert meshc(command, *flags, "a.mesh", "b.mesh", cwd=tmp_path).code == 0
    (tmp_path / "b.mesh").write_text(GOOD.replace("{", "("))
    assert meshc(command, *flags, "a.mesh", "b.mesh", cwd=tmp_path).code == 1
