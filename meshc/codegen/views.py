"""What the templates print: frozen, decided, nothing left to compute.

Strings are finished code unless said otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

from meshc.codegen.helpers import Helper


@dataclass(frozen=True)
class MethodView:
    """Lines with their indentation."""

    signature: tuple[str, ...]
    body: tuple[str, ...]


@dataclass(frozen=True)
class ClassView:
    """A module class. `init` are lines with their indentation; `doc` is words."""

    name: str
    doc: str
    init: tuple[str, ...]
    methods: tuple[MethodView, ...]


@dataclass(frozen=True)
class Constant:
    name: str
    code: str
    comment: str = ""


@dataclass(frozen=True)
class Argument:
    """What `loss_and_grads` takes beside weights: how it is made of state and batch, and where it lies.

    micro: has a leading dim of microsteps
    cut: is another one in each microbatch, of which there may be one
    """

    variable: str
    value: str
    spec: str
    micro: bool
    cut: bool = True
    scanned: str = ""  # over what microsteps scan where it is not the variable


@dataclass(frozen=True)
class PipelineView:
    """A model cut into stages: `PIPELINE`, and the functions of one microbatch. Lines without indentation."""

    table: tuple[str, ...]
    parts: tuple[tuple[str, ...], ...]
    batch: str
    microbatches: int
    accumulated: int  # microsteps, each with all microbatches
    predict: tuple[tuple[str, ...], ...]  # the functions for what the model returns, where it does
    predicted: str  # the batch of which, None for what it does not read


@dataclass(frozen=True)
class StepView:
    """`loss_and_grads` and what stands around it. Tuples of strings are lines without indentation."""

    signature: tuple[str, ...]
    model_call: str
    has_metrics: bool
    has_carried: bool
    before: tuple[str, ...]  # weights cast to varying
    each: tuple[str, ...]  # gradients of one microstep into GRADS
    once: tuple[str, ...]  # gradients into OPTIMIZER
    accumulator: tuple[str, ...]  # the table SUMMED
    microsteps: int
    micro_names: str
    micro_values: str
    values: str
    in_specs: str
    out_specs: str
    results: str
    results_of_grads: str
    moves_weights: bool  # the optimizer's place is not the weights'
    pipeline: PipelineView | None = None


@dataclass(frozen=True)
class PredictView:
    """`outputs`, what a model returns, and the function on global arrays around it; as in `StepView`.

    whole: statements that undo padding and order of dims of what was `made`
    """

    signature: tuple[str, ...]
    names: str  # of the inputs that it reads
    values: str
    in_specs: str
    out_specs: str
    whole: tuple[str, ...]


@dataclass(frozen=True)
class OptimizerView:
    """The optax chain: definitions before it, and its lines."""

    schedule: tuple[str, ...]
    chain: tuple[str, ...]
    groups: tuple[str, ...]


@dataclass(frozen=True)
class ProgramView:
    """One program, top to bottom. `title`, `legend` and `summary` are words, a line each."""

    title: str
    source: str
    name: str
    model: str
    spec_hash: str
    legend: tuple[str, ...]
    summary: tuple[str, ...]
    imports: tuple[str, ...]
    constants: tuple[Constant, ...]
    mesh: tuple[str, ...]
    renamed: str
    inputs: tuple[str, ...]
    placement: tuple[str, ...]
    grads: tuple[str, ...]
    optimizer_place: tuple[str, ...]
    carried: tuple[str, ...]
    real_shapes: tuple[str, ...]
    orders: tuple[str, ...]  # entries of the table ORDERS
    helpers: tuple[Helper, ...]
    inside: tuple[str, ...]  # collectives that run inside of the runtime's functions, in words
    classes: tuple[ClassView, ...]
    step: StepView
    predict: PredictView | None
    optimizer: OptimizerView
    data: str
    checkpoint: str
    out: str
    init_from: str
    float64: bool
