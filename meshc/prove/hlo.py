"""Optimised HLO text (`compiled.as_text()`) as data: computations, instructions, how often each runs. No jax.

The grammar is XLA's (openxla/xla, hlo_parser.cc). Only what proofs need is read: names, opcodes, shapes, operands, the
computations that an instruction calls, trip counts, and attributes as text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

DTYPE_BITS = {
    "token": 0, "pred": 8, "c64": 64, "c128": 128,
    **{f"{sign}{bits}": bits for sign in "su" for bits in (1, 2, 4, 8, 16, 32, 64)},
    "f16": 16, "bf16": 16, "f32": 32, "f64": 64, "f4e2m1fn": 4,
}  # fmt: skip


class MalformedHlo(ValueError):
    """Text that is not HLO as this XLA prints it: a new form that the reader must learn."""


@dataclass(frozen=True, slots=True)
class Shape:
    """An array's element type and dims."""

    dtype: str
    dims: tuple[int, ...]

    @property
    def elements(self) -> int:
        return math.prod(self.dims)

    @property
    def num_bytes(self) -> int:
        bits = 8 if self.dtype.startswith("f8") else DTYPE_BITS[self.dtype]
        return -(-self.elements * bits // 8)


@dataclass(frozen=True, slots=True)
class Instruction:
    """`name = shapes opcode(operands), attributes`. Shapes of tuples are flattened, `arguments` are text."""

    name: str
    opcode: str
    shapes: tuple[Shape, ...]
    operands: tuple[str, ...]
    arguments: str
    attributes: str
    root: bool

    @property
    def op_name(self) -> str:
        """Where in the traced program it comes from, as JAX names it; may be empty."""
        found = re.search(r'op_name="([^"]*)"', self.attributes)
        return found[1] if found else ""

    def attribute(self, pattern: str) -> str | None:
        found = re.search(pattern, self.attributes)
        return found[1] if found else None

    @property
    def called(self) -> tuple[str, ...]:
        """Computations that it runs as a whole, once or more; not the scalar reducers of reductions."""
        match self.opcode:
            case "while":
                return names_in(self.attribute(r"body=(%?[\w.\-]+)"))
            case "call":
                return names_in(self.attribute(r"to_apply=(%?[\w.\-]+)"))
            case "fusion" | "async-start":
                return names_in(self.attribute(r"calls=(%?[\w.\-]+)"))
            case "conditional":
                branches = self.attribute(r"branch_computations=\{([^}]*)\}")
                if branches is not None:
                    return names_in(branches)
                return tuple(re.findall(r"(?:true|false)_computation=%?([\w.\-]+)", self.attributes))
            case _:
                return ()


@dataclass(frozen=True)
class Computation:
    """Instructions in the order printed (scheduled, where the module is)."""

    name: str
    instructions: tuple[Instruction, ...]

    @cached_property
    def by_name(self) -> dict[str, Instruction]:
        return {i.name: i for i in self.instructions}

    def operand_shapes(self, instruction: Instruction) -> tuple[Shape, ...]:
        return tuple(s for name in instruction.operands for s in self.by_name[name].shapes)


@dataclass(frozen=True)
class Executed:
    """An instruction with the computation that it stands in and how often it runs a step.

    `counted` is false inside a loop whose trip count is not in the text; `times` then counts one turn of it.
    """

    instruction: Instruction
    computation: Computation
    times: int
    counted: bool


@dataclass(frozen=True)
class HloModule:
    computations: dict[str, Computation] = field(repr=False)
    entry: str
    num_partitions: int

    def executed(self) -> Iterator[Executed]:
        """Every instruction that runs, bodies times their trip counts.

        Of a conditional's branches, each is counted as if it ran: an upper bound.
        """
        yield from self._run(self.computations[self.entry], 1, True)

    def _run(self, computation: Computation, times: int, counted: bool) -> Iterator[Executed]:
        for instruction in computation.instructions:
            yield Executed(instruction, computation, times, counted)
            turns = self.trip_count(instruction, computation) if instruction.opcode == "while" else 1
            for name in instruction.called:
                yield from self._run(self.computations[name], times * (turns or 1), counted and turns is not None)

    def trip_count(self, loop: Instruction, caller: Computation) -> int | None:
        """How often a while loop turns: as XLA found it, else read off its condition; None where it depends on data."""
        known = loop.attribute(r'"known_trip_count":\{"n":"(\d+)"\}') or loop.attribute(r"known_trip_count=\{n=(\d+)\}")
        if known:
            return int(known)
        condition = self.computations[names_in(loop.attribute(r"condition=(%?[\w.\-]+)"))[0]]
        return self._turns_of(condition, loop, caller)

    def _turns_of(self, condition: Computation, loop: Instruction, caller: Computation) -> int | None:
        """Turns of `while (counter < constant)`, the counter from a constant by ones, as scans do."""
        compare = next((i for i in self._within(condition) if i.opcode == "compare"), None)
        limits = [i for i in self._within(condition) if i.opcode == "constant" and i.shapes[0].dims == ()]
        counters = [i for i in condition.instructions if i.opcode == "get-tuple-element"]
        if compare is None or len(limits) != 1 or len(counters) != 1:
            return None
        start = self._start(caller, loop, int(counters[0].attribute(r"index=(\d+)") or 0))
        if start is None:
            return None
        inclusive = {"LT": 0, "NE": 0, "LE": 1}.get(compare.attribute(r"direction=(\w+)") or "")
        return None if inclusive is None else max(int(limits[0].arguments) - start + inclusive, 0)

    def _within(self, computation: Computation) -> Iterator[Instruction]:
        for instruction in computation.instructions:
            yield instruction
            for name in instruction.called:
                yield from self._within(self.computations[name])

    @staticmethod
    def _start(caller: Computation, loop: Instruction, index: int) -> int | None:
        before = caller.by_name[loop.operands[0]]
        if before.opcode != "tuple":
            return None
        first = caller.by_name[before.operands[index]]
        while first.opcode in ("copy", "bitcast"):
            first = caller.by_name[first.operands[0]]
        return int(first.arguments) if first.opcode == "constant" else None


def parse(text: str) -> HloModule:
    """Reads a module. Raises MalformedHlo where it has no entry or an instruction is not in the known form."""
    computations: dict[str, Computation] = {}
    entry, name, lines = None, None, []
    for line in text.splitlines():
        if name is None:
            header = HEADER.match(line)
            if header:
                name, lines = header[2], []
                entry = name if header[1] else entry
        elif line.startswith("}"):
            computations[name] = Computation(name, tuple(instruction(text) for text in lines))
            name = None
        elif " = " in line:
            lines.append(line)
    if entry is None:
        raise MalformedHlo("no entry computation")
    partitions = re.search(r"num_partitions=(\d+)", text)
    return HloModule(computations, entry, int(partitions[1]) if partitions else 1)


HEADER = re.compile(r"(ENTRY )?%?([\w.\-]+) \(.*\{$")
DEFINITION = re.compile(r"\s*(ROOT )?%?([\w.\-]+) = ")
OPCODE = re.compile(r"\s*([a-z][\w\-]*)\(")
ARRAY = re.compile(r"\b([a-z]\w*)\[([\d,<=]*)\]")


def instruction(line: str) -> Instruction:
    """Reads one line of a computation."""
    head = DEFINITION.match(line)
    if not head:
        raise MalformedHlo(line.strip()[:200])
    shape_end = closing(line, head.end()) if line[head.end()] == "(" else line.index(" ", head.end())
    opcode = OPCODE.match(line, shape_end)
    if not opcode:
        raise MalformedHlo(line.strip()[:200])
    end = closing(line, opcode.end() - 1)
    arguments = line[opcode.end() : end - 1]
    operands = () if opcode[1] == "constant" else tuple(re.findall(r"%([\w.\-]+)", arguments))
    shapes = shapes_in(line[head.end() : shape_end])
    return Instruction(head[2], opcode[1], shapes, operands, arguments, line[end:], bool(head[1]))


def closing(text: str, opening: int) -> int:
    """Offset behind the parenthesis that closes the one at `opening`."""
    depth = 0
    for found in re.compile(r"[()]").finditer(text, opening):
        depth += 1 if found[0] == "(" else -1
        if depth == 0:
            return found.end()
    raise MalformedHlo(text.strip()[:200])


def shapes_in(text: str) -> tuple[Shape, ...]:
    """All array shapes in a type, tuples flattened, layouts and the bounds of dynamic dims (`<=8`) dropped."""
    return tuple(
        Shape(dtype, tuple(int(d.removeprefix("<=")) for d in dims.split(",") if d))
        for dtype, dims in ARRAY.findall(text)
    )


def names_in(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip().removeprefix("%") for name in text.split(",")) if text else ()
