"""A job: what to train, where, for how long. Every default is such that a spec alone can run."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from meshc.job.slice_fields import SliceFields, Strict

Dtype = Literal["float64", "float32", "bfloat16", "float16"]
BYTES: dict[Dtype, int] = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2}
"""Of one element."""
Remat = Literal["none", "attention", "dots", "full"]
"""What the backward pass computes again: nothing, attention's scores, all but the products, everything."""
OptimizerName = Literal["adamw", "adam", "sgd", "lion", "adafactor", "lamb"]
Schedule = Literal["constant", "cosine", "linear"]
Backend = Literal["local", "ssh", "slurm", "kubernetes", "tpu-vm"]

Count = Annotated[int, Field(ge=1, le=2**40)]
Amount = Annotated[int, Field(ge=0, le=2**40)]
Port = Annotated[int, Field(ge=1, le=65535)]
Share = Annotated[float, Field(ge=0, lt=1)]
Positive = Annotated[float, Field(gt=0, le=1e30)]
NotNegative = Annotated[float, Field(ge=0, le=1e30)]


def _by_optimizer(default: Any, **others: Any) -> Any:
    """A default that depends on the optimizer's name."""
    return Field(default_factory=lambda data: others.get(str(data.get("name")), default))


class Group(Strict):
    """Weights that are trained otherwise.

    `match` is a path or glob (`*.scale`); of several that match the first holds.
    """

    match: Annotated[str, Field(min_length=1)]
    lr_scale: NotNegative = 1.0
    weight_decay: NotNegative | None = None  # None: the optimizer's
    frozen: bool = False


class Optimizer(Strict):
    """An optax optimizer.

    The learning rate rises linearly over `warmup` steps, then follows `schedule` down to `final * lr`: linear and
    cosine arrive there `decay` steps after the warm-up (None: at the last step). `clip` is the largest global norm of
    the gradient; None does not clip.
    """

    name: OptimizerName = "adamw"
    lr: Positive = _by_optimizer(3e-4, sgd=0.1, lion=1e-4, adafactor=1e-2, lamb=1e-3)
    schedule: Schedule = "cosine"
    warmup: Amount = 0
    final: Annotated[float, Field(ge=0, le=1)] = 0.1
    decay: Count | None = None
    b1: Share = 0.9
    b2: Share = _by_optimizer(0.95, lion=0.99, lamb=0.999, adafactor=0.999)
    eps: Positive = _by_optimizer(1e-8, lamb=1e-6, adafactor=1e-30)
    momentum: Share = 0.0  # sgd
    weight_decay: NotNegative = _by_optimizer(0.0, adamw=0.1, lion=0.1, lamb=0.01)
    clip: Positive | None = 1.0
    groups: tuple[Group, ...] = ()


class Precision(Strict):
    """`params` is how weights and optimizer state lie; they are cast to `compute` where they are used."""

    params: Dtype = "float32"
    compute: Dtype = "float32"


class Train(Strict):
    steps: Count = 200
    microsteps: Count = 1
    optimizer: Optimizer = Optimizer()
    precision: Precision = Precision()
    remat: Remat = "attention"
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0


class Data(Strict):
    """Where tokens come from.

    `python-stdlib` is the sources of this machine's Python standard library, as text; `text` files of `paths` (globs),
    encoded by `tokenizer`: `bytes`, or the path of a `tokenizer.json`; `tokens` files of `paths` with token ids
    (`.npy`, or raw of `token_dtype`); `synthetic` ids drawn from the seed. After each text comes the id 0 (`bytes`), or
    the tokenizer's own end of text. To a model that takes segments each file is a document, and so is what ends with
    the id `separator` in files of tokens. Samples are shuffled by `train.seed`. Paths are relative to this file, those
    of the command line to where `meshc` is started; programs have them as absolute ones.
    """

    source: Literal["python-stdlib", "text", "tokens", "synthetic"] = "python-stdlib"
    paths: tuple[str, ...] = ()
    tokenizer: Annotated[str, Field(min_length=1)] = "bytes"
    token_dtype: Literal["uint8", "uint16", "uint32", "int32"] = "uint16"
    separator: Annotated[int, Field(ge=0)] | None = None


class Checkpoint(Strict):
    """`dir` is relative to the run's directory.

    One is written each `every` steps and at the end; `keep` of them stay. Several hosts write one checkpoint together,
    so all of them must see `dir`: `shared: true` says that they do, of a path of which one cannot tell; a bucket they
    always see, but programs read and write directories alone for now. A run that starts takes its weights, and only
    them, from `init_from`: a run's directory, its checkpoints, or one of them, relative to this file.
    """

    dir: Annotated[str, Field(min_length=1)] = "checkpoints"
    shared: bool | None = None
    every: Count = 100
    keep: Count = 3
    init_from: Annotated[str, Field(min_length=1)] | None = None


class Launch(Strict):
    """How processes are started: `local` ones on this machine, those of the other backends on the slice's hosts.

    `nodes` is how many hosts take part (null: the slice's), `hosts` their names, for `ssh`. On each start
    `processes_per_host` processes, which share its devices: `devices_per_process` each (null: all of them). They meet
    at `coordinator`, a name or address of the first host with or without a port; null leaves it to the backend.
    `name` is the job's, and for `tpu-vm` the TPU's.
    """

    backend: Backend = "local"
    nodes: Count | None = None
    hosts: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    processes_per_host: Count = 1
    devices_per_process: Count | None = None
    coordinator: str | None = None
    port: Port | None = None
    name: Annotated[str, Field(min_length=1)] | None = None
    partition: str | None = None
    account: str | None = None
    time: str | None = None
    image: str | None = None
    namespace: str | None = None
    zone: str | None = None
    project: str | None = None
    python: Annotated[str, Field(min_length=1)] | None = None
    env: dict[str, str] = Field(default_factory=dict)


class Job(Strict):
    """`job.yaml`. `spec` is relative to the job's file; `slice` a name in the catalogue or the same fields inline."""

    spec: Annotated[str, Field(min_length=1)]
    slice: str | SliceFields | None = None
    set: dict[str, int | float | bool | str] = Field(default_factory=dict)
    train: Train = Train()
    data: Data = Data()
    checkpoint: Checkpoint = Checkpoint()
    launch: Launch = Launch()
