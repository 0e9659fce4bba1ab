"""Checkpoints: orbax arrays in canonical form, complete or absent, on any mesh again.

    DIR/500/weights    path -> array
    DIR/500/state      the rest of the state: step, carried state, optimizer
    DIR/500/meta       step, samples, seed, and what the spec and the data were
    DIR/500/arrays     name -> shape and dtype of all that is in weights and state: what `meshc lint` reads

A directory appears under its number when all of it is written; until then it has another name, and resume ignores it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import jax

from .canonical import WEIGHTS, Layout
from .disk import clear_unfinished, complete_steps, disk_reason, local_path, quiet_orbax, reading, writing
from .distributed import is_first
from .errors import UserError
from .program import State

FOLDER = "checkpoints"
LISTED = 8  # names in one message


@dataclass(frozen=True)
class Checkpoint:
    """When to save, and how many to keep.

    every: steps between two; None saves at the end only
    keep: how many of the newest stay
    dir: where; a relative path lies in the run directory
    """

    every: int | None = None
    keep: int = 3
    dir: str = FOLDER


@dataclass(frozen=True)
class Position:
    """How far a run is: updates made, samples read, and the seed that both follow from."""

    step: int = 0
    samples: int = 0  # the next global sample index
    seed: int = 0
    spec_hash: str = ""
    data: str = ""


class Store:
    """The checkpoints of one run."""

    def __init__(self, directory: Path, keep: int) -> None:
        self.directory, self.keep = directory.absolute(), keep
        self._manager: Any = None

    def latest(self) -> int | None:
        """Step of the newest complete checkpoint."""
        return max(complete_steps(self.directory), default=None)

    def save(self, layout: Layout, state: State, position: Position) -> None:
        """Starts to write; returns when the arrays may be donated. Waits for the one before. No-op where it exists."""
        self.finish()
        if self.latest() == position.step:
            return
        import orbax.checkpoint as ocp

        with writing(self.directory):
            self._room(layout.num_bytes)
            arrays = layout.stored(state)
            weights = {name.removeprefix(WEIGHTS): array for name, array in arrays.items() if name.startswith(WEIGHTS)}
            rest = {name: array for name, array in arrays.items() if not name.startswith(WEIGHTS)}
            items = ocp.args.Composite(
                weights=ocp.args.StandardSave(weights),
                state=ocp.args.StandardSave(rest),
                meta=ocp.args.JsonSave(asdict(position)),
                arrays=ocp.args.JsonSave(layout.described()),
            )
            self._opened().save(position.step, args=items, force=True)

    def finish(self) -> None:
        """Waits until what was saved is on disk."""
        if self._manager is not None:
            with writing(self.directory):
                self._manager.wait_until_finished()

    def close(self) -> None:
        """Lets go without a word, also of a save that failed: `finish` has said what there was to say."""
        if self._manager is None:
            return
        manager, self._manager = self._manager, None
        try:
            manager.close()
        except Exception as problem:
            if disk_reason(problem) is None:
                raise
        finally:
            if is_first():
                clear_unfinished(self.directory)

    def restore(self, layout: Layout, step: int) -> tuple[State, Position]:
        """The state, in this program's places, and the position. `UserError` where names, shapes or dtypes differ."""
        folder = self.directory / str(step)
        with reading(folder):
            position = Position(**json.loads((folder / "meta" / "metadata").read_text()))
            weights = {path: leaf.stored for path, leaf in layout.weights().items()}
            rest = {name: leaf.stored for name, leaf in layout.leaves.items() if not name.startswith(WEIGHTS)}
            arrays = {
                WEIGHTS + path: array for path, array in _read(folder / "weights", weights, same_dtype=True).items()
            }
            arrays |= _read(folder / "state", rest, same_dtype=True)
        return layout.state(layout.placed(arrays)), position

    def _room(self, num_bytes: int) -> None:
        """Refuses before anything is written, where the disk cannot hold it."""
        self.directory.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(self.directory).free
        if free < num_bytes:
            raise UserError(
                f"a checkpoint takes {num_bytes / 1e6:.1f} MB, and `{self.directory}` has {free / 1e6:.1f} MB free",
                "make room, keep fewer checkpoints, or save them elsewhere",
            )

    def _opened(self) -> Any:
        if self._manager is None:
            import orbax.checkpoint as ocp

            quiet_orbax()
            if is_first():
                clear_unfinished(self.directory)
            options = ocp.CheckpointManagerOptions(max_to_keep=self.keep)
            self._manager = ocp.CheckpointManager(self.directory, options=options)
        return self._manager


def load_weights(source: str, layout: Layout) -> dict[str, jax.Array]:
    """Path -> weight, in this program's dtypes, from another run: its directory, its checkpoints, or one of them."""
    folder = _weights_folder(local_path(source).absolute())
    with reading(folder):
        wanted = {path: leaf.stored for path, leaf in layout.weights().items()}
        found = _read(folder, wanted, same_dtype=False)
    padded = layout.placed({WEIGHTS + path: array for path, array in found.items()})
    return {name.removeprefix(WEIGHTS): array for name, array in padded.items()}


def _weights_folder(source: Path) -> Path:
    if (source / "weights").is_dir():
        return source / "weights"
    for parent in (source, source / FOLDER):
        if steps := complete_steps(parent):
            return parent / str(max(steps)) / "weights"
    raise UserError(f"no checkpoint in `{source}`", "name a run directory, its checkpoints, or one of them")


def _read(folder: Path, wanted: Mapping[str, jax.ShapeDtypeStruct], *, same_dtype: bool) -> dict[str, jax.Array]:
    """The arrays of one item, each in the place that `wanted` says. All names and shapes must be the same."""
    import orbax.checkpoint as ocp

    quiet_orbax()
    with ocp.StandardCheckpointer() as reader:
        found = reader.metadata(folder).item_metadata.tree
        if problems := _differences(found, wanted, same_dtype):
            raise UserError(f"`{folder}` is not of this model:\n    " + "\n    ".join(problems), _CURE)
        return reader.restore(folder, wanted)


_CURE = "resume with the spec that the run was made with; --init-from takes the weights alone, and they must all fit"


def _differences(found: Mapping[str, Any], wanted: Mapping[str, Any], same_dtype: bool) -> list[str]:
    """One line for each name that is missing, left over, or of another shape or dtype."""
    lines = [f"missing: `{name}` {list(wanted[name].shape)}" for name in wanted if name not in found]
    lines += [f"not in the model: `{name}` {list(found[name].shape)}" for name in found if name not in wanted]
    for name in wanted.keys() & found.keys():
        here, there = wanted[name], found[name]
        if here.shape != tuple(there.shape):
            lines.append(f"`{name}` is {list(there.shape)} in the checkpoint, {list(here.shape)} in the model")
        elif same_dtype and here.dtype != there.dtype:
            lines.append(f"`{name}` is {there.dtype} in the checkpoint, {here.dtype} in the model")
    lines.sort()
    return lines[:LISTED] + [f"… and {len(lines) - LISTED} more"] * (len(lines) > LISTED)
