"""A spec that is still being drawn: its parts, which mistakes are planted in, and the text that they make."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from meshc.prove.mixed.models import Drawn
from meshc.prove.mixed.partitions import Partition
from meshc.prove.sound.kinds import Kind


@dataclass(frozen=True)
class Planted:
    """A mistake that was put in on purpose.

    sure: the rules of the language leave no doubt that a spec with it is wrong, whatever else it says
    """

    kind: Kind
    what: str
    sure: bool = True


@dataclass(frozen=True)
class Draw:
    """A drawn spec, which names nothing but `std/`, and how it is to be checked.

    devices: of the slice, None for no slice; job: what its job says beside `spec` and `slice`, None for a spec alone
    """

    number: int
    text: str
    devices: int | None
    job: Mapping[str, Any] | None
    planted: tuple[Planted, ...] = ()
    uses: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"sound-{self.number}"

    @property
    def job_text(self) -> str:
        """The job's file: each key a line, values as JSON, which is YAML."""
        lines = [f"spec: {self.name}.mesh", *([f"slice: cpu-{self.devices}"] if self.devices else [])]
        lines += [f"{key}: {json.dumps(value)}" for key, value in (self.job or {}).items()]
        return "\n".join(lines) + "\n"


@dataclass
class Sketch:
    """written: sizes of axes as text where that is not their number (`*`); items: strategies and what else stands
    beside the model; statements and inputs: of the model, lines: of the partition
    """

    r: Random
    model: Drawn
    partition: Partition
    devices: int | None = None
    job: dict[str, Any] | None = None
    written: dict[str, str] = field(default_factory=dict)
    dims: dict[str, str] = field(default_factory=dict)
    items: list[str] = field(default_factory=list)
    statements: list[str] = field(default_factory=list)
    inputs: str = ""
    planted: list[Planted] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lines = self.partition.lines
        self.dims = {**self.model.dims, **self.partition.dims}
        self.statements = list(self.model.lines)
        self.inputs = self.model.inputs

    @property
    def axes(self) -> dict[str, int]:
        return self.partition.axes

    @property
    def large(self) -> list[str]:
        """Axes that split something."""
        return [name for name, size in self.axes.items() if size > 1]

    @property
    def has_sequence(self) -> bool:
        """All models but one of rows look ids up; their `x` is [batch, seq, embed] from then on."""
        return "seq" in self.dims

    @property
    def has_heads(self) -> bool:
        return "heads" in self.dims

    @property
    def stages(self) -> str | None:
        """The axis that cuts the layers."""
        return next((m[1] for line in self.lines if (m := re.match(r"pipeline\((\w+)", line))), None)

    @property
    def regrouped(self) -> set[str]:
        """Axes that the experts' view takes together."""
        found = re.search(r"regroup\(([^)]*)\)", self.partition.view)
        return {name.strip() for name in found[1].split(",")} if found else set()

    def speaks_of(self, dim: str) -> bool:
        """Whether a rule written in the partition itself names a dim."""
        return any(re.search(rf"\b{dim}\b", line) for line in self.lines if not re.match(r"\w+\(", line))

    def train(self, key: str, value: Any) -> None:
        self.job = {**(self.job or {}), "train": {**(self.job or {}).get("train", {}), key: value}}

    def text(self, number: int) -> str:
        body = "\n".join(f"  {line}" for line in self.statements)
        model = f"{self.model.items}model {self.model.name}({self.inputs}) {{\n{body}\n}}"
        mesh = "\n".join(f"  {name} = {self.written.get(name, size)}" for name, size in self.axes.items())
        dims = ", ".join(f"{name} = {size}" for name, size in self.dims.items())
        parts = (
            f"# meshc prove --sound 1 --seed {number}",
            "\n".join(f'import "{path}"' for path in self.model.imports),
            f"mesh {{\n{mesh}\n}}",
            self.partition.view,
            f"dims {{ {dims} }}",
            *self.items,
            model,
            self.partition.text,
        )
        return "\n\n".join(part for part in parts if part) + "\n"

    def drawn(self, number: int) -> Draw:
        uses = {m[1] for line in self.lines if (m := re.match(r"(\w+)\(", line))}
        uses |= {"rules"} if any(not re.match(r"\w+\(", line) for line in self.lines) else set()
        uses |= {"view"} if self.partition.view else set()
        return Draw(number, self.text(number), self.devices, self.job, tuple(self.planted), tuple(sorted(uses)))
