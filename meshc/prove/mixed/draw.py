"""One spec for each number: a model, a mesh, a partition, and settings of a job."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from meshc.prove.mixed.models import draw_model
from meshc.prove.mixed.partitions import draw_partition


@dataclass(frozen=True)
class Draw:
    """text: a whole spec, which names nothing but `std/`; sets: `--set` flags that belong to it"""

    number: int
    text: str
    sets: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"mixed-{self.number}"


def draw(number: int) -> Draw:
    """The spec of a number: always the same one, and most that are drawn are refused by the checker."""
    r = Random(number)
    model = draw_model(r)
    partition = draw_partition(r, model)
    sets = _settings(r)
    dims = ", ".join(f"{name} = {size}" for name, size in {**model.dims, **partition.dims}.items())
    imports = "".join(f'import "{path}"\n' for path in model.imports)
    flags = "".join(f" --set {one}" for one in sets)
    parts = (f"# meshc prove mixed-{number}.mesh{flags}", imports.strip(), partition.mesh, f"dims {{ {dims} }}")
    text = "\n\n".join(part for part in (*parts, model.text, partition.text) if part)
    return Draw(number, text + "\n", sets)


def _settings(r: Random) -> tuple[str, ...]:
    microsteps = r.choices((1, 2, 4), (6, 3, 1))[0]
    remat = r.choices(("attention", "none", "dots", "full"), (4, 1, 1, 2))[0]
    sets = (
        f"train.microsteps={microsteps}" if microsteps > 1 else "",
        f"train.remat={remat}" if remat != "attention" else "",
    )
    return tuple(one for one in sets if one)
