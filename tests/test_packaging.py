"""The wheel holds every module and data file of the tree, and works away from it."""

from __future__ import annotations

import configparser
import os
import re
import shutil
import site
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LINKS = ("runtime", "templates", "specs")
DATA = {".lark", ".md", ".mesh", ".yaml", ".j2", ".txt"}


def setup_cfg() -> configparser.ConfigParser:
    config = configparser.ConfigParser(interpolation=None)
    config.read(ROOT / "setup.cfg")
    return config


def tree() -> set[str]:
    """All files under `meshc/`, links followed, that an installed meshc needs; paths as in the wheel."""
    found = set()
    for folder, inside, names in os.walk(ROOT / "meshc", followlinks=True):
        inside[:] = [name for name in inside if name != "__pycache__"]
        paths = (Path(folder, name) for name in names)
        found |= {path.relative_to(ROOT).as_posix() for path in paths if path.suffix in DATA | {".py"}}
    return found


def test_the_listed_packages_are_those_of_the_tree():
    listed = setup_cfg()["options"]["packages"].split()
    present = sorted(Path(file).parent.as_posix().replace("/", ".") for file in tree() if file.endswith("/__init__.py"))
    assert listed == present


def test_packages_that_lie_elsewhere_are_mapped_there():
    mapped = dict(line.split(" = ") for line in setup_cfg()["options"]["package_dir"].split("\n") if line)
    assert mapped == {f"meshc.{name}": name for name in LINKS}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, so that what another build left behind cannot slip in."""
    copy = tmp_path_factory.mktemp("source")
    for name in ("meshc", *LINKS):
        shutil.copytree(ROOT / name, copy / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    out = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", out, copy]
    subprocess.run(build, check=True, capture_output=True)
    return next(out.glob("meshc-*.whl"))


def test_the_wheel_holds_every_file_of_the_tree(wheel: Path):
    held = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("meshc/")}
    assert held == tree()


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel in it, and the libraries of the environment that runs the tests."""
    home = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    packages = next(home.glob("lib/python3.*/site-packages"))
    # Its own packages come first, so the wheel's meshc hides the one that is installed editable.
    (packages / "libraries.pth").write_text("\n".join(site.getsitepackages()) + "\n")
    pip = [sys.executable, "-m", "pip", "--python", home / "bin" / "python", "install", "--quiet", "--no-deps", wheel]
    subprocess.run(pip, check=True, capture_output=True)
    return home / "bin"


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True)


def test_the_installed_package_is_the_wheels(installed: Path, tmp_path: Path):
    where = run(installed / "python", "-c", "import meshc.runtime.env as m; print(m.__file__)", cwd=tmp_path)
    assert Path(where.stdout.strip()).is_relative_to(installed.parent), where.stderr


def test_the_installed_command_says_what_it_can(installed: Path, tmp_path: Path):
    shown = run(installed / "meshc", "--help", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    for command in ("lint", "fmt", "build", "run", "explain", "prove", "schema"):
        assert re.search(rf"^  {command}\b", shown.stdout, re.MULTILINE), command


def test_the_installed_command_finds_the_standard_layers(installed: Path, tmp_path: Path):
    shutil.copy(ROOT / "specs" / "models" / "llama3_8b.mesh", tmp_path)
    linted = run(installed / "meshc", "lint", "llama3_8b.mesh", cwd=tmp_path)
    assert linted.returncode == 0, linted.stdout + linted.stderr


def test_locks_pin_versions_and_hashes_and_name_no_source():
    for name in ("run.lock", "test.lock", "aot.lock"):
        text = (ROOT / "requirements" / name).read_text().replace("\\\n", " ")
        for line in text.splitlines():
            assert re.match(r"[a-z0-9-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", line), line
        assert "://" not in text


def test_the_ranges_admit_the_locked_versions():
    from packaging.requirements import Requirement

    pins = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", (ROOT / "requirements" / "test.lock").read_text(), re.MULTILINE))
    config = setup_cfg()
    wanted = config["options"]["install_requires"] + config["options.extras_require"]["test"]
    for requirement in map(Requirement, filter(None, wanted.splitlines())):
        pin = pins[requirement.name.lower().replace(".", "-").replace("_", "-")]
        assert requirement.specifier.contains(pin), f"{requirement} does not admit {pin}"


def test_the_compilers_beside_the_environment_are_those_of_the_extras():
    extras = setup_cfg()["options.extras_require"]
    wanted = {line for name in ("tpu-aot", "cuda-aot") for line in extras[name].split()}
    listed = (ROOT / "requirements" / "aot.in").read_text().splitlines()
    assert {line for line in listed if not line.startswith("#")} == wanted


def test_what_runs_is_what_is_tested():
    """The two locks never disagree about a version."""
    pins = [
        set(re.findall(r"^[a-z0-9-]+==\S+", (ROOT / "requirements" / n).read_text(), re.MULTILINE))
        for n in ("run.lock", "test.lock")
    ]
    assert pins[0] <= pins[1]
