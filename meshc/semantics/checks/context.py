"""What a check may read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from meshc.diagnostics.model import Diagnostic
from meshc.job.slices import Slice
from meshc.semantics.flat import FlatProgram, flatten
from meshc.semantics.placed import Computed, Layout, Moved, Placed, PlacedProgram, PlacedWeight
from meshc.semantics.program import Dim, Rest, Rule


@dataclass(frozen=True)
class Spot:
    """A dim of some tensor that lies on axes, and the rules that put it there."""

    tensor: str
    dim: Dim
    axes: tuple[str, ...]
    rules: tuple[Rule, ...]


@dataclass(frozen=True)
class Context:
    """A placed program, and the slice it is to run on where one is known."""

    placed: PlacedProgram
    slice: Slice | None = None

    @cached_property
    def flat(self) -> FlatProgram:
        return flatten(self.placed)

    @cached_property
    def spots(self) -> tuple[Spot, ...]:
        """Every (dim, axes) that occurs in the program, once, with the first tensor that has it."""
        found: dict[tuple[str, tuple[str, ...]], Spot] = {}
        for placed in (*self.placed.inputs, *self._results()):
            for dim, axes in zip(placed.value.dims, placed.layout.axes, strict=True):
                if axes and (dim.name, axes) not in found:
                    because = self.placed.because.get(placed.value, {}).get(dim.name, ())
                    rules = because if self._put(because, axes) else self._rules(dim, axes)
                    found[dim.name, axes] = Spot(placed.value.name, dim, axes, rules)
        seen: set[int] = set()  # of weights whose places were found at once (WeightPlaces), the first shows all
        for weight in self.placed.weights:
            if id(weight.rest) in seen:
                continue
            seen.add(id(weight.rest))
            for rest, layout, dims in _places(weight):
                for dim, axes in zip(dims, layout.axes, strict=True):
                    if axes and (dim.name, axes) not in found:
                        rules = weight.because.get((rest, dim.name), ()) or self._rules(dim, axes)
                        found[dim.name, axes] = Spot(weight.weight.dotted, dim, axes, rules)
        return tuple(found.values())

    def shards(self, axes: tuple[str, ...]) -> int:
        return self.placed.shards(axes)

    def _results(self) -> Iterator[Placed]:
        for item in self.flat.statements:
            match item.statement:
                case Moved(result=result) | Computed(result=result):
                    yield result

    def _rules(self, dim: Dim, axes: tuple[str, ...]) -> tuple[Rule, ...]:
        """Rules that put a dim on these axes somewhere: for layouts that belong to an operation, not to a tensor.

        Where one puts it on all of them, that.
        """
        refined = self.placed.refined
        some = tuple(r for r in self._about.get(dim.name, ()) if set(refined.of(r.axes)) & set(axes))
        return tuple(r for r in some if self._put((r,), axes)) or some

    @cached_property
    def _about(self) -> dict[str, list[Rule]]:
        """The rules that name a dim, in the order of the text."""
        found: dict[str, list[Rule]] = {}
        for rule in self.placed.program.rules:
            for dim in dict.fromkeys(rule.dims):
                found.setdefault(dim, []).append(rule)
        return found

    def _put(self, rules: tuple[Rule, ...], axes: tuple[str, ...]) -> bool:
        """Whether these rules together put something on all these axes; those of a tensor's home may not."""
        return set(axes) <= {a for rule in rules for a in self.placed.refined.of(rule.axes)}


def _places(placed: PlacedWeight) -> tuple[tuple[Rest, Layout, tuple[Dim, ...]], ...]:
    weight = placed.weight
    dims = weight.dims
    return (
        (Rest.USE, placed.use, weight.value.dims),
        (Rest.PARAMS, placed.rest, dims),
        (Rest.GRADS, placed.grads, dims),
        (Rest.OPTIMIZER, placed.optimizer, dims),
    )


Check = Callable[[Context], Iterator[Diagnostic]]
