"""What generated programs run on: mesh, data, optimizer, checkpoints, metrics, loop. Imports nothing of the compiler.

A program's `main()` needs no more than

    runtime.train(
        build(runtime.make_mesh(MESH)),                # Program; an error where the devices are not exactly the mesh's
        steps=args.steps,                              # updates in all, those before a resume included
        data=runtime.PythonStdlib(),                   # or Text(paths, tokenizer), Tokens(paths), Synthetic()
        out=args.out,                                  # metrics.jsonl, tensorboard/, checkpoints/
        checkpoint=runtime.Checkpoint(every=500, keep=3),
        seed=SEED,
        resume=args.resume,
        init_from=args.init_from,
    )

where `args = runtime.arguments(__doc__, steps=…, out=…)` has `steps`, `out`, `resume` and `init_from`. A user's mistake
is a `UserError`, a SystemExit with a message: nothing has to catch it.

Names are imported when they are first used: `meshc.runtime.env` is read by launchers, which do without jax.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .checkpoint import Checkpoint
    from .command import arguments
    from .data.batches import put
    from .data.sources import PythonStdlib, Synthetic, Text, Tokens
    from .errors import UserError
    from .loop import Result, train
    from .mesh import make_mesh
    from .optimizer import label_paths, schedule, state_shardings
    from .order import natural, zigzag
    from .program import Input, Program, State

_HOMES = {
    "Checkpoint": "checkpoint",
    "Input": "program",
    "Program": "program",
    "PythonStdlib": "data.sources",
    "Result": "loop",
    "State": "program",
    "Synthetic": "data.sources",
    "Text": "data.sources",
    "Tokens": "data.sources",
    "UserError": "errors",
    "arguments": "command",
    "label_paths": "optimizer",
    "make_mesh": "mesh",
    "put": "data.batches",
    "natural": "order",
    "schedule": "optimizer",
    "state_shardings": "optimizer",
    "train": "loop",
    "zigzag": "order",
}
__all__ = [
    "Checkpoint",
    "Input",
    "Program",
    "PythonStdlib",
    "Result",
    "State",
    "Synthetic",
    "Text",
    "Tokens",
    "UserError",
    "arguments",
    "label_paths",
    "make_mesh",
    "natural",
    "put",
    "schedule",
    "state_shardings",
    "train",
    "zigzag",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
