"""What a pipeline's schedule costs, in figures and in words."""

from __future__ import annotations

from dataclasses import dataclass

from meshc.semantics.placed import PlacedProgram


@dataclass(frozen=True, slots=True)
class Stages:
    """A pipeline over `axes`.

    turns        of each repeat that is cut, by name of its dim, those of each virtual stage, in order
    idle_share   of a step, counted from the schedule: ticks in which a device has nothing to do or waits for one that
                 has more layers; (stages - 1) / (rounds * microbatches + stages - 1) of even stages
    live         inputs of stages that a device keeps at once, at most: one for each microbatch between its forward and
                 its backward slot there
    """

    axes: tuple[str, ...]
    schedule: str
    stages: int
    rounds: int
    microbatches: int
    turns: tuple[tuple[str, tuple[int, ...]], ...]
    idle_share: float
    live: int

    @property
    def words(self) -> str:
        cut = f"{self.stages} stages" + (f" of {self.rounds} rounds" if self.rounds > 1 else "")
        layers = "; ".join(f"{dim} {' '.join(map(str, turns))}" for dim, turns in self.turns)
        return (
            f"pipeline over {', '.join(self.axes)}: {cut} ({layers}), {self.schedule}, "
            f"{self.microbatches} microbatches: {self.idle_share:.1%} of a step idle, "
            f"up to {self.live} inputs of a stage wait on a device"
        )


def stages(placed: PlacedProgram) -> Stages | None:
    """Of a program without a pipeline none."""
    pipeline = placed.pipeline
    if pipeline is None:
        return None
    cut, schedule = pipeline.cut, pipeline.schedule
    turns = tuple((r.count.name, own) for r, own in zip(cut.repeats, cut.turns, strict=True))
    return Stages(
        pipeline.axes, cut.rule.schedule, cut.stages, cut.rule.rounds, pipeline.microbatches, turns,
        schedule.idle_share(cut.layers), schedule.live,
    )  # fmt: skip
