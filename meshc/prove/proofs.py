"""The three proofs of a spec, run from its generated programs: parity, placement, traffic."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from meshc.cost.of_job import settings_of
from meshc.prove import equivalences, parity, process, traffic
from meshc.prove.model import Proof, ProofName
from meshc.prove.process import Outcome, Task
from meshc.prove.variants import ADAMW, EXACT, SGD, SINGLE, Builder, CannotBuild, Pair, write_pair
from meshc.semantics.collectives import derive
from meshc.semantics.placed import Layout

ALL: tuple[ProofName, ...] = ("parity", "placement", "traffic")
STEPS = 5


def run(spec: str, build: Builder, proofs: Sequence[ProofName] = ALL) -> Iterator[Proof]:
    """Proves one spec, a row a proof. `spec` is the name to print; `build` takes it through the compiler.

    Programs run in child processes on virtual devices of this machine, as many as the mesh has.
    """
    with tempfile.TemporaryDirectory(prefix="meshc-prove-") as temporary:
        try:
            yield from _run(spec, build, proofs, Path(temporary))
        except CannotBuild as error:
            yield from (Proof(spec, name, problem=f"no program: {error}") for name in proofs)


def _run(spec: str, build: Builder, proofs: Sequence[ProofName], directory: Path) -> Iterator[Proof]:
    single = write_pair(build, SINGLE, directory / "single")
    own_is_adamw = single.built.job.train.optimizer.name == "adamw"
    adamw = single if own_is_adamw else write_pair(build, (*SINGLE, *ADAMW), directory / "adamw")
    text = directory / "step.hlo"
    tasks = [_adamw_run(adamw), Task("traffic", "traffic", {"mesh": str(single.mesh), "text": str(text)})]
    in_float32 = process.run([t for t in tasks if t.proof in proofs], single.num_devices, False, directory)
    if "traffic" in proofs:
        yield _traffic(spec, single, text, in_float32)
    if "parity" in proofs or "placement" in proofs:
        tasks = [t for t in _exact_tasks(build, directory) if t.proof in proofs]
        in_float64 = process.run(tasks, single.num_devices, True, directory)
        for name in proofs:
            if name != "traffic":
                yield _measured(spec, name, in_float64, in_float32)


def _adamw_run(pair: Pair) -> Task:
    arguments = {"steps": STEPS, "claim": "loss in float32 under AdamW", "bound": parity.SINGLE_LOSS}
    return Task("parity", "training", {**pair.paths, **arguments})


def _exact_tasks(build: Builder, directory: Path) -> list[Task]:
    """What is proven in float64: with SGD, whose steps do not magnify rounding, and with the spec's own optimizer."""
    sgd = write_pair(build, (*EXACT, *SGD), directory / "sgd")
    own = write_pair(build, EXACT, directory / "own")
    claim = {"steps": STEPS, "claim": "loss under the spec's optimizer", "bound": parity.OPTIMIZER_LOSS}
    return [
        Task("parity", "gradients", sgd.paths),
        Task("parity", "descent", {**sgd.paths, "steps": STEPS}),
        Task("parity", "training", {**own.paths, **claim}),
        Task("placement", "weight_shards", {**sgd.paths, "derived": derived_axes(sgd)}),
        Task("placement", "optimizer_shards", {**own.paths, "derived": derived_axes(own)}),
        Task("placement", "gradient_shards", {**sgd.paths, "derived": derived_axes(sgd)}),
    ]


def derived_axes(pair: Pair) -> dict[str, dict[str, list[list[str]]]]:
    """Place -> path -> for each dim the axes that split it."""
    weights = pair.built.placed.weights
    return {
        "rest": {w.weight.dotted: _axes(w.rest) for w in weights},
        "optimizer": {w.weight.dotted: _axes(w.optimizer) for w in weights},
    }


def _axes(layout: Layout) -> list[list[str]]:
    return [list(axes) for axes in layout.axes]


def _measured(spec: str, name: ProofName, *outcomes: Outcome) -> Proof:
    measures = [m for outcome in outcomes for m in outcome.measures.get(name, [])]
    problems = [outcome.problems[name] for outcome in outcomes if name in outcome.problems]
    return Proof(spec, name, tuple(measures), problem=problems[0] if problems else None)


def _traffic(spec: str, pair: Pair, text: Path, outcome: Outcome) -> Proof:
    if problem := outcome.problems.get("traffic"):
        return Proof(spec, "traffic", problem=problem)
    built = pair.built
    hlo = text.read_text(encoding="utf-8")
    settings = settings_of(built.job)  # as on the CPU, whatever the user's slice
    stated, saved = derive(built.placed, settings), equivalences.saved(built.placed, settings)
    measures, notes = traffic.compare(hlo, stated, built.placed.sizes, outcome.stderr, saved)
    return Proof(spec, "traffic", tuple(measures), tuple(notes))
