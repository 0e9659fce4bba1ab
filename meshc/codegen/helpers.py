"""The named collectives of a program: one small function for each kind of movement and its axes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from meshc.codegen.expressions import axes_literal
from meshc.codegen.names import Names, identifier
from meshc.codegen.text import WIDTH, Text, call
from meshc.semantics.placed import Step, StepKind

PREFIX: dict[StepKind, str] = {
    "all_gather": "gather", "all_gather_invariant": "gather_equal", "reduce_scatter": "scatter", "all_reduce": "sum",
    "all_reduce_max": "max", "all_to_all": "exchange", "slice": "part", "slice_varying": "own_part", "cast": "to",
}  # fmt: skip
DEFINITION: dict[StepKind, str] = {
    "all_gather": 'functools.partial(lax.all_gather, axis_name={axes}, tiled=True)',
    "all_gather_invariant": 'functools.partial(lax.all_gather, axis_name={axes}, tiled=True, to="invarying")',
    "reduce_scatter": "functools.partial(lax.psum_scatter, axis_name={axes}, tiled=True)",
    "all_reduce": "functools.partial(lax.psum, axis_name={axes})",
    "all_reduce_max": "functools.partial(lax.pmax, axis_name={axes})",
    "all_to_all": "functools.partial(lax.all_to_all, axis_name={axes}, tiled=True)",
    "slice": "functools.partial(ops.shard, axes={axes})",
    "slice_varying": "functools.partial(ops.own_part, axes={axes})",
    "cast": 'functools.partial(lax.pcast, axis_name={axes}, to="varying")',
}  # fmt: skip
COMMENT: dict[StepKind, str] = {
    "all_gather": "backward: reduce-scatter",
    "all_gather_invariant": "used alike on all; backward: each takes its part",
    "reduce_scatter": "partial sums, each its part",
    "all_reduce": "partial sums",
    "all_reduce_max": "",
    "all_to_all": "all-to-all; backward: the reverse",
    "slice": "each device its part; backward: all-gather",
    "slice_varying": "each device its part; backward: zeros elsewhere",
    "cast": "each uses it its own way; backward: all-reduce",
}
Kept = Literal["weight", "activation"]


@dataclass(frozen=True)
class Helper:
    """`name = partial` with a comment, or with `kept` a function that names its result for remat."""

    name: str
    code: str
    comment: str
    axes: str
    kept: Kept | None = None


@dataclass
class Helpers:
    """Those that a program uses, in order of first use. `names` are the program's module-level names."""

    names: Names
    kept: Kept | None  # whose gathers the remat policy must tell from the others
    made: dict[tuple[StepKind, tuple[str, ...], Kept | None], Helper] = field(default_factory=dict)

    def step(self, tensor: Text, step: Step, *, weight: bool) -> Text:
        """The tensor after one movement."""
        name = self._helper(step, "weight" if weight else "activation").name
        match step.kind:
            case "all_gather" | "all_gather_invariant" | "slice" | "slice_varying":
                return call(name, tensor, axis=str(step.dim))
            case "reduce_scatter":
                return call(name, tensor, scatter_dimension=str(step.dim))
            case "all_to_all":
                return call(name, tensor, split_axis=str(step.dim), concat_axis=str(step.source))
            case "all_reduce" | "all_reduce_max" | "cast":
                return call(name, tensor)

    def _helper(self, step: Step, moved: Kept) -> Helper:
        kept = moved if moved == self.kept and step.kind in ("all_gather", "all_gather_invariant") else None
        key = (step.kind, step.axes, kept)
        if key not in self.made:
            prefix = PREFIX[step.kind].replace("gather", "collect" if kept == "activation" else "gather")
            name = self.names.unique("_".join((prefix, *(identifier(a) for a in step.axes))))
            axes = axes_literal(step.axes)
            code = DEFINITION[step.kind].format(axes=axes)
            words = COMMENT[step.kind]
            shorter = words.rpartition("; ")[2]
            fitting = (w for w in (words, shorter) if len(f"{name} = {code}  # {w}") <= WIDTH)
            self.made[key] = Helper(name, code, next(fitting, ""), axes, kept)
        return self.made[key]
