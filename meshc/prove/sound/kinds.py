"""Kinds of what is wrong with a spec: the words in which the checker and the oracle are compared.

The oracle is written from `docs/language.md` and `docs/job.md` alone, without a look at the checker. It reads the
text of a spec by itself and is brute force: it goes over all tensors and all rules where the checker derives. It is

    oracle.decide(text: str, devices: int | None, job: Mapping[str, Any] | None) -> frozenset[Kind]

text      a whole spec; imports name only `std/…`
devices   of the slice that it is checked for; None: no slice is given, so that a `*` cannot be filled
job       what a job.yaml says beside `spec` and `slice`, as plain values: {"train": {"microsteps": 2}, "set": {…}, …};
          None for a spec that is checked alone (microsteps are 1 then)
returns   the kinds of what is wrong, empty where the spec is legal. Of a spec with something of the kinds `syntax`,
          `name`, `call`, `tensor` or `size`, kinds further down need not be told: they would be guesses.

and `oracle.COMPLETE: frozenset[Kind]` says which kinds it decides in full: for these, a spec that the checker refuses
and the oracle does not is a false reject, and one that the oracle refuses and the checker does not a false accept.
"""

from __future__ import annotations

from typing import Literal, get_args

Kind = Literal[
    "syntax",  # the text is not of the language
    "name",  # a name that is not declared: of a value, dim, axis, layer, strategy, place, override
    "call",  # a definition or call that does not fit: twice, unknown or missing arguments, an option's value
    "tensor",  # an operation on tensors with other dims than it takes
    "size",  # the size of a dim or axis is no positive integer, or depends on itself
    "world",  # the mesh against the slice: two `*`, one that cannot be filled, too many or too few devices
    "view",  # a view of another number of devices, without a common refinement, or an axis used outside of it
    "claim",  # a dim claimed twice: by two strategies, two direct rules, two exchanges, two cuts into stages
    "twice",  # an axis on two dims of one tensor, or twice in a rule
    "divide",  # a size that its shards, stages, microsteps or microbatches do not divide; zigzag's chunks, too
    "exchange",  # attention: keys split along the sequence without an exchange, heads that are not with their kv heads
    "stage",  # stages of what is not repeated; a dim of the layers on the stages' own axis
    "order",  # zigzag of what is no sequence
    "copy",  # `repeat` of what is no kv heads
    "whole",  # a split of what an operation or a program takes whole: a primitive's dim, a stack of layers, routed rows
    "silent",  # a strategy that matches nothing, a rule where it says nothing
    "idle",  # fewer microbatches than the stages of 1F1B or of turns: it trains right, refused for what it wastes
    "room",  # state at rest that the slice's chips have no memory for
    "launch",  # the job: unknown keys, values that cannot be, what the data cannot feed, how and where it is started
    "unbuilt",  # legal in the language, and not built yet
]
KINDS: tuple[Kind, ...] = get_args(Kind)

FIRST: frozenset[Kind] = frozenset({"syntax", "name", "call", "tensor", "size"})
"""With one of these, nothing that follows can be known."""

CODES: dict[Kind, tuple[str, ...]] = {
    "name": ("E0202", "E0203", "E0204", "E0205", "E0206", "E0207", "E0208"),
    "call": (
        "E0209", "E0210", "E0212", "E0213", "E0214", "E0222", "E0223", "E0231", "E0233", "E0234", "E0238", "E0239",
        "E0242", "E0246",
    ),
    "tensor": (
        "E0224", "E0225", "E0226", "E0227", "E0228", "E0229", "E0230", "E0232", "E0235", "E0236", "E0237", "E0240",
        "E0243", "E0244", "E0262",
    ),
    "size": ("E0216", "E0217"),
    "world": ("E0218", "E0219", "E0303", "E0304"),
    "view": ("E0220", "E0221", "E0245"),
    "claim": ("E0201",),
    "twice": ("E0247", "E0250"),
    "divide": ("E0301", "E0512"),
    "exchange": ("E0252", "E0253", "E0254"),
    "stage": ("E0255", "E0261"),
    "order": ("E0260",),
    "copy": ("E0257",),
    "whole": ("E0256", "E0258", "E0259"),
    "silent": ("E0241", "E0251"),
    "idle": ("E0330",),
    "room": ("E0401",),
    "unbuilt": ("E0299",),
}  # fmt: skip

SECTIONS: dict[str, Kind] = {
    "E01": "syntax", "E02": "claim", "E03": "divide", "E04": "world", "E05": "launch", "E06": "launch",
}  # fmt: skip
"""Of a code that is not named above."""

_KIND_OF: dict[str, Kind] = {code: kind for kind, codes in CODES.items() for code in codes}


def kind_of(code: str) -> Kind:
    """The kind of an error's code."""
    return _KIND_OF.get(code) or SECTIONS[code[:3]]
