"""Programs that are compared as text: python -m tests.codegen.golden writes them anew."""

from __future__ import annotations

from pathlib import Path

from meshc.driver import compile_program
from meshc.job.target import Request

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"
SPECS = (
    "specs/zoo/03_zero2.mesh",
    "specs/zoo/04_hsdp.mesh",
    "specs/zoo/06_sequence.mesh",
    "specs/zoo/09_ring_tensor.mesh",
    "specs/zoo/10_gather_kv.mesh",
    "specs/zoo/14_pipeline_outer.mesh",
    "specs/zoo/01_easylm_gptj.mesh",
    "specs/zoo/17_moe_ulysses.mesh",
)


def program(path: str) -> str:
    """The text of the program of a spec; its name in the program is the spec's in the repository."""
    compiled, diagnostics = compile_program(Request(str(ROOT / path), None))
    assert compiled is not None, diagnostics
    return compiled.files["train.py"].replace(str(ROOT / path), path)


def home(path: str) -> Path:
    return GOLDEN / Path(path).stem / "train.py"


def main() -> None:
    for path in SPECS:
        home(path).parent.mkdir(parents=True, exist_ok=True)
        home(path).write_text(program(path), encoding="utf-8")


if __name__ == "__main__":
    main()
