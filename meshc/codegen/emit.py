"""A placed program as files: views into templates, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from meshc.codegen.program import program_view
from meshc.codegen.text import WIDTH, broken, quoted
from meshc.codegen.views import ProgramView
from meshc.job.model import Job
from meshc.semantics.collectives import Collective
from meshc.semantics.links import Network
from meshc.semantics.placed import PlacedProgram

IMPORTS = {
    "functools": "import functools",
    "jax": "import jax",
    "jnp": "import jax.numpy as jnp",
    "optax": "import optax",
    "nnx": "from flax import nnx",
    "lax": "from jax import lax",
}
RUNTIME = ("attention", "gradients", "init", "moe", "ops", "pipeline", "remat")
PARTS = ("tables", "helpers", "classes", "step", "main")
STEP_IN_STAGES = "pipeline"
"""The template that takes the place of `step` where layers are cut into stages."""


def emit(
    placed: PlacedProgram, job: Job, collectives: Sequence[Collective], network: Network | None = None
) -> dict[str, str]:
    """The generated program: path in its directory -> text. With a network its head says what links are crossed."""
    view = program_view(placed, job, collectives, network)
    return {"train.py": render(view), "ruff.toml": _ruff(view)}


def render(view: ProgramView) -> str:
    templates = _environment()
    parts = [STEP_IN_STAGES if part == "step" and view.step.pipeline else part for part in PARTS]
    body = "".join(templates.get_template(f"{part}.py.j2").render(p=view) for part in parts)
    header = templates.get_template("header.py.j2").render(p=view, imports=list(_imports(body, view)))
    lines = [line for long in f"{header}{body}".splitlines() for line in _fitted(long)]
    return "\n".join(lines) + "\n"


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("meshc.templates", "program"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


def _imports(body: str, view: ProgramView) -> Iterator[str]:
    """Imports of the modules that the body reads, sorted as `ruff` sorts them."""
    used = {name for name in (*IMPORTS, *RUNTIME) if re.search(rf"(?<![\w.]){name}\.", body)}
    if "functools" in used:
        yield IMPORTS["functools"]
        yield ""
    yield from (IMPORTS[name] for name in ("jax", "jnp", "optax") if name in used)
    from_imports = [IMPORTS[name] for name in ("nnx", "lax") if name in used]
    from_imports += ["from jax.sharding import Mesh, NamedSharding", "from jax.sharding import PartitionSpec as P"]
    own = ["from meshc import runtime"]
    if runtime := [name for name in RUNTIME if name in used]:
        own.append(f"from meshc.runtime import {', '.join(runtime)}")
    yield from sorted((*from_imports, *own), key=_module)
    if view.imports:
        yield ""
        yield from sorted(view.imports, key=_module)


def _ruff(view: ProgramView) -> str:
    """How the program is laid out; what it imports of the user's comes last."""
    own = sorted({_module(line)[0].partition(".")[0] for line in view.imports})
    return (
        "# How train.py is laid out: `ruff check` and `ruff format --check` pass with this wherever it lies.\n"
        f"line-length = {WIDTH}\n\n"
        "[lint.isort]\n"
        'known-third-party = ["meshc"]\n'
        f"known-first-party = [{', '.join(quoted(name) for name in own)}]\n"
    )


def _module(line: str) -> tuple[str, str]:
    return line.split()[1], line


def _fitted(line: str) -> Iterator[str]:
    """A line of a template whose names have made it too long, broken."""
    code = line.strip()
    if len(line) <= WIDTH or code.startswith("#"):
        yield line
        return
    tail = "," if code.endswith(",") else ""
    yield from broken(code.removesuffix(","), len(line) - len(line.lstrip()), tail=tail)
