"""Which inputs of the model say of each token which document it is of."""

from __future__ import annotations

from meshc.codegen.context import statements
from meshc.semantics.placed import Computed, PlacedInvoke, PlacedProgram
from meshc.semantics.program import Attend, NextToken, Value


def segment_inputs(placed: PlacedProgram) -> dict[Value, int]:
    """Those inputs, and the most segments that one row can have: as many as tokens."""
    outer: dict[Value, Value] = {}
    found: dict[Value, int] = {}
    for statement in statements(placed.model.body):
        match statement:
            case PlacedInvoke(module=module, inputs=inputs):
                outer |= {own.value: given.value for own, given in zip(module.inputs, inputs, strict=True)}
            case Computed(op=Attend(segments=Value() as segments, seq=seq) | NextToken(segments=segments, seq=seq)):
                if segments is not None:
                    found[_origin(segments, outer)] = seq.real
    return found


def _origin(value: Value, outer: dict[Value, Value]) -> Value:
    while value in outer:
        value = outer[value]
    return value
