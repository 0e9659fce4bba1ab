"""The shape of the project: one direction of imports, small files, few top-level names, no jax where none is needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LARGEST = 400

TOP_LEVEL = {"meshc", "specs", "templates", "runtime", "tests", "setup.cfg", "docs"}
BESIDE = {"LICENSE", "Makefile", "README.md", "benchmarks", "editors", "pyproject.toml", "requirements"}


def tracked() -> list[Path]:
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    return [Path(name) for name in listing.split("\0") if name and (ROOT / name).exists()]


def python_files() -> list[Path]:
    """Those that people write: no golden programs, no tables that say of themselves that they are made."""
    python = [path for path in tracked() if path.suffix == ".py" and "golden" not in path.parts]
    return [path for path in python if "do not edit" not in (ROOT / path).read_text()[:300]]


def test_each_phase_imports_only_what_lies_below_it():
    lint = subprocess.run([Path(sys.executable).with_name("lint-imports"), "--no-cache"], cwd=ROOT, capture_output=True)
    assert lint.returncode == 0, lint.stdout.decode()


def test_the_top_of_the_tree_stays_small():
    names = {path.parts[0] for path in tracked() if not path.parts[0].startswith(".")}
    assert names >= TOP_LEVEL
    assert names <= TOP_LEVEL | BESIDE


@pytest.mark.parametrize("path", python_files(), ids=str)
def test_a_file_fits_in_the_head(path: Path):
    assert len((ROOT / path).read_text().splitlines()) <= LARGEST


def test_the_usual_file_is_short():
    lengths = sorted(len((ROOT / path).read_text().splitlines()) for path in python_files() if path.parts[0] == "meshc")
    assert lengths[len(lengths) // 2] < 180


@pytest.mark.parametrize("link", ["runtime", "templates", "specs"])
def test_the_source_tree_is_importable_through_links(link: str):
    path = ROOT / "meshc" / link
    assert path.is_symlink()
    assert path.resolve() == ROOT / link


def modules_after(command: str) -> set[str]:
    """Names of the modules that a fresh interpreter has loaded after `command`, run as `meshc` would be."""
    code = f"import sys; sys.argv = {command.split()!r}\ntry:\n    from meshc.cli import main; main()\n"
    code += "except SystemExit as end:\n    assert not end.code, end.code\nprint(*sys.modules, file=sys.stderr)"
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True, text=True)
    return set(ran.stderr.split())


HEAVY = {"jax", "jaxlib", "flax", "optax", "orbax", "grain", "numpy", "tokenizers", "tensorboardX"}


@pytest.mark.parametrize("command", ["lint specs/models/llama3_8b.mesh", "fmt --check specs/models/llama3_8b.mesh"])
def test_checking_and_formatting_load_no_jax(command: str):
    assert not HEAVY & modules_after(f"meshc {command}")


def test_linting_loads_nothing_it_does_not_use():
    """What the command line offers besides costs `meshc lint` nothing."""
    unused = {"meshc.codegen", "meshc.prove", "meshc.launch", "jinja2", "pydantic", "asyncio"}
    assert not unused & modules_after("meshc lint specs/models/llama3_8b.mesh")


def test_the_package_itself_imports_nothing():
    code = "import sys; before = set(sys.modules); import meshc; print(*set(sys.modules) - before)"
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True, text=True)
    assert ran.stdout.split() == ["meshc"]
