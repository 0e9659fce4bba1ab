"""python -m tests.fuzz.guided -runs=20000 [-seed=1]: as `tests.fuzz`, led by which lines of meshc a text reaches.

Takes libFuzzer's options (atheris, https://github.com/google/atheris). A text that breaks something is printed and ends
the run with an exception.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from random import Random

import atheris

with atheris.instrument_imports(include=["meshc"]):
    import meshc
    from tests.fuzz.corpus import LARGEST, Seed
    from tests.fuzz.examine import SLICES, complaints
    from tests.fuzz.mutate import KINDS, all_seeds

    # The driver imports a phase where it is needed; only what is imported here is seen.
    for phase in ("syntax", "semantics", "job", "diagnostics", "cost"):
        for module in pkgutil.walk_packages([f"{meshc.__path__[0]}/{phase}"], f"meshc.{phase}."):
            importlib.import_module(module.name)

DIRECTORY = Path(tempfile.mkdtemp(prefix="meshc-guided-"))


def specs() -> list[Seed]:
    return [seed for seed in all_seeds() if seed.spec is None]


def examined(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    seed = Seed("guided", text)
    wrong = complaints(seed, DIRECTORY, SLICES[len(data) % len(SLICES)])
    if wrong:
        print(text)
        raise AssertionError("\n".join(wrong))


def changed(data: bytes, most: int, number: int) -> bytes:
    """A text of the same kind: with letters, tokens or parts of its tree changed, at times another to begin with."""
    random = Random(number)
    seed = Seed("guided", data.decode("utf-8", "replace"))
    if not seed.text.strip():
        seed = random.choice(specs())
    _, change = random.choice(KINDS)
    text = replace(seed, text=change(random, seed)).text
    return text.encode("utf-8", "replace")[: min(most, 2 * LARGEST)]


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="meshc-corpus-") as corpus:
        for number, seed in enumerate(specs()):
            Path(corpus, str(number)).write_text(seed.text, encoding="utf-8")
        options = [f"-max_len={2 * LARGEST}", "-timeout=60", corpus]
        atheris.Setup([*sys.argv, *options], examined, custom_mutator=changed)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
