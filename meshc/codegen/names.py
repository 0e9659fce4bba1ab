"""Python names for a spec's names: legal, unique, and never code.

A spec's identifier is only ever printed as an identifier (checked here) or inside `repr`. Variables carry one letter
for each dim of what a device holds (`x_BLE`); the program's docstring is their legend.
"""

from __future__ import annotations

import builtins
import keyword
import re
import string
from collections.abc import Iterable

LONGEST = 40  # characters; longer names are cut and numbered, so that lines can be broken
MODULES = (
    "argparse", "attention", "functools", "gradients", "init", "jax", "jnp", "lax", "moe", "nnx", "ops", "optax",
    "pipeline",
    "remat", "runtime",
)  # fmt: skip
PROGRAM = (
    "CARRIED", "COMPUTE", "GRADS", "GROUPS", "INPUTS", "MESH", "MICROSTEPS", "Mesh", "NamedSharding", "OPTIMIZER",
    "ORDERS", "P", "PARAMS", "PIPELINE", "PLACEMENT", "REAL_SHAPES", "RENAMED", "SEED", "STEPS", "SUMMED", "build",
    "learning_rate",
    "loss_and_grads", "main", "optimizer", "outputs",
)  # fmt: skip
"""What a generated program calls by itself."""
STEP = (
    "batch", "carried", "grads", "grads_so_far", "loss", "losses", "metrics", "microstep", "model", "model_loss", "net",
    "start", "state", "total", "weights", "path", "w", "g", "micro", "turns", "before", "stage", "after", "carry",
)  # fmt: skip
"""Local names of `loss_and_grads`."""
AMBIGUOUS = ("l", "I", "O")  # look like digits
NNX_MODULE = ("eval", "iter_children", "iter_modules", "perturb", "set_attributes", "sow", "train")
METHODS = ("before", "stage", "after")
"""Of a model that is cut into stages."""
USUAL = {"seq": "L", "kv_heads": "K", "head_dim": "D", "mlp": "F", "experts": "X", "capacity": "C", "layers": "N"}
"""Letters that the field uses, where the dim's own name does not say it."""


def identifier(name: str, fallback: str = "x") -> str:
    """`name` with everything that Python does not take in an identifier replaced by `_`."""
    text = re.sub(r"[^0-9A-Za-z_]", "_", name.replace("'", "_p")).strip("_")[:LONGEST].rstrip("_")
    if not text or text[0].isdigit():
        text = f"{fallback}_{text}".rstrip("_")
    return text


def snake(name: str) -> str:
    """`LlamaBlock` as `llama_block`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def is_reserved(name: str) -> bool:
    return keyword.iskeyword(name) or keyword.issoftkeyword(name) or hasattr(builtins, name) or name in AMBIGUOUS


def attribute(name: str) -> str:
    """The attribute of a module that stands for a weight or an instance."""
    text = identifier(name)
    return f"{text}_" if is_reserved(text) or text in (*NNX_MODULE, *METHODS) else text


class Names:
    """Unique names of one scope."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken)

    def unique(self, wanted: str) -> str:
        name, number = wanted, 2
        while name in self.taken or is_reserved(name):
            name, number = f"{wanted}{number}", number + 1
        self.taken.add(name)
        return name


def module_names() -> Names:
    return Names((*MODULES, *PROGRAM))


def constant(name: str) -> str:
    """`kv_heads` as `KV_HEADS`."""
    return identifier(name, "DIM").upper()


def legend(dims: Iterable[str]) -> dict[str, str]:
    """A letter for each dim; where the letters give out, none."""
    names = list(dict.fromkeys(dims))
    letters: dict[str, str] = {}
    free = set(string.ascii_uppercase)

    def give(name: str, letter: str | None) -> None:
        if letter in free and name not in letters:
            letters[name] = letter
            free.discard(letter)

    for name in names:
        give(name, USUAL.get(name))
    for name in names:
        give(name, identifier(name)[0].upper())
    for name in names:
        for letter in (*identifier(name).upper(), *string.ascii_uppercase):
            give(name, letter if letter in string.ascii_uppercase else None)
    return {name: letters[name] for name in names if name in letters}


def suffix(dims: Iterable[str], letters: dict[str, str]) -> str:
    """`_BLE`, or nothing where a dim has no letter."""
    found = [letters.get(d, "") for d in dims]
    return "_" + "".join(found) if found and all(found) else ""
