"""How a tensor gets from one layout to another: few collectives, in an order that keeps tensors small."""

from __future__ import annotations

import functools

from meshc.semantics.placed import Layout, Step, StepKind

Axes = tuple[str, ...]


@functools.lru_cache(maxsize=4096)  # a program asks for the same few moves again and again
def plan(source: Layout, target: tuple[Axes, ...], varying: frozenset[str]) -> tuple[Step, ...]:
    """Steps from `source` to the axes `target`, for a use that varies over `varying`.

    A gather over an axis that the use varies over yields a varying tensor (its transpose sums); over another, an
    invariant one.
    """
    return _Planner(source, target, varying).steps()


class _Planner:
    def __init__(self, source: Layout, target: tuple[Axes, ...], varying: frozenset[str]) -> None:
        self.current = list(source.axes)
        self.partial = list(source.partial)
        self.spread = set(source.spread)
        self.target = target
        self.varying = varying
        self.done: list[Step] = []

    def steps(self) -> tuple[Step, ...]:
        for dim in range(len(self.target)):
            self._reduce_scatter(dim)
        if self.partial:
            self._emit("all_reduce", tuple(self.partial))
        for dim in range(len(self.target)):
            self._slice(dim)
        for dim in range(len(self.target)):
            self._leave(dim)
        for dim in range(len(self.target)):
            self._slice(dim)
        assert tuple(self.current) == self.target, (self.current, self.target)
        sharded = {a for axes in self.target for a in axes}
        if missing := self.varying - sharded - self.spread:
            self._emit("cast", tuple(sorted(missing)))
        return tuple(self.done)

    def _emit(self, kind: StepKind, axes: Axes, dim: int | None = None, origin: int | None = None) -> None:
        self.done.append(Step(kind, axes, dim, origin))

    def _reduce_scatter(self, dim: int) -> None:
        """Partial sums that the target splits go straight to their part."""
        held, wanted = self.current[dim], self.target[dim]
        if wanted[: len(held)] != held:
            return
        axes: Axes = ()
        for axis in wanted[len(held) :]:
            if axis not in self.partial:
                break
            axes += (axis,)
        if axes:
            self._emit("reduce_scatter", axes, dim)
            self.current[dim] = held + axes
            self.partial = [a for a in self.partial if a not in axes]

    def _slice(self, dim: int) -> None:
        """Axes that are still free join a dim as its minor ones, without any traffic."""
        held, wanted = self.current[dim], self.target[dim]
        if wanted[: len(held)] != held:
            return
        taken = {a for axes in self.current for a in axes}
        for axis in wanted[len(held) :]:
            if axis in taken:
                return
            self._emit("slice_varying" if axis in self.spread else "slice", (axis,), dim)
            self.current[dim] += (axis,)
            self.spread.discard(axis)

    def _leave(self, dim: int) -> None:
        """Axes that the target does not have at this dim leave it: to a dim where they are next, else by a gather."""
        kept = _common_prefix(self.current[dim], self.target[dim])
        while len(self.current[dim]) > kept:
            leaving = self.current[dim][kept:]
            for start in range(len(leaving)):
                axes = leaving[start:]
                other = self._next_home(dim, axes)
                if other is not None:
                    self._emit("all_to_all", axes, other, dim)
                    self.current[other] += axes
                    break
            else:
                axes = self._like_minor(self._in_the_way(dim, leaving))
                self._gather(dim, axes)
            self.current[dim] = self.current[dim][: -len(axes)]

    def _in_the_way(self, dim: int, leaving: Axes) -> Axes:
        """The minor ones of the leaving axes without which others could move to another dim; else all of them."""
        for end in range(len(leaving) - 1, 0, -1):
            if any(self._next_home(dim, leaving[start:end]) is not None for start in range(end)):
                return leaving[end:]
        return leaving

    def _next_home(self, dim: int, axes: Axes) -> int | None:
        for other in range(len(self.target)):
            held = self.current[other]
            if other != dim and self.target[other][: len(held)] == held:
                following = self.target[other][len(held) : len(held) + len(axes)]
                if following == axes:
                    return other
        return None

    def _like_minor(self, axes: Axes) -> Axes:
        """The longest run of minor axes that one kind of gather serves."""
        alike = axes[-1] in self.varying
        run: Axes = ()
        for axis in reversed(axes):
            if (axis in self.varying) != alike:
                break
            run = (axis, *run)
        return run

    def _gather(self, dim: int, axes: Axes) -> None:
        if axes[0] in self.varying:
            self._emit("all_gather", axes, dim)
            self.spread.update(axes)
        else:
            self._emit("all_gather_invariant", axes, dim)


def _common_prefix(left: Axes, right: Axes) -> int:
    length = 0
    for a, b in zip(left, right, strict=False):
        if a != b:
            break
        length += 1
    return length
