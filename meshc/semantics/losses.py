"""The losses of the language: cross entropy against ids that the model is given."""

from __future__ import annotations

from meshc.diagnostics import spec_tensors
from meshc.semantics.arguments import Arguments
from meshc.semantics.build import Builder, Wish
from meshc.semantics.operands import BROKEN, Broken, Operand, names
from meshc.semantics.program import CrossEntropy, Dim, NextToken, Value


def next_token(b: Builder, args: Arguments, wish: Wish) -> Operand:
    """`next_token(logits, tokens, segments = none)`: predicts each next id along the ids' last dim."""
    found = _logits_and_ids(b, args, "tokens")
    if found is None:
        return BROKEN
    logits, ids, vocab = found
    if len(ids.dims) < 2:
        dims = spec_tensors.bracketed(names(ids.dims))
        b.report(
            spec_tensors.bad_loss(f"`{ids.name}` is {dims}: rows of a batch have next ids", args.span_of("tokens"))
        )
        return BROKEN
    segments = args.ids("segments") if args.gives("segments") else None
    if isinstance(segments, Broken):
        return BROKEN
    if segments is not None and segments not in b.frame.inputs:
        b.report(spec_tensors.bad_loss(f"`{segments.name}` is not an input of the model", args.span_of("segments")))
        return BROKEN
    if segments is not None and segments.dims != ids.dims:
        found, wanted = names(segments.dims), names(ids.dims)
        b.report(spec_tensors.bad_segments(segments.name, found, wanted, args.span_of("segments")))
        return BROKEN
    result = b.value("cross_entropy", (), args.span, wish)
    b.emit(NextToken(logits, ids, vocab, ids.dims[-1], segments, result, args.span))
    return result


def cross_entropy(b: Builder, args: Arguments, wish: Wish) -> Operand:
    found = _logits_and_ids(b, args, "labels")
    if found is None:
        return BROKEN
    logits, ids, vocab = found
    result = b.value("cross_entropy", (), args.span, wish)
    b.emit(CrossEntropy(logits, ids, vocab, result, args.span))
    return result


def _logits_and_ids(b: Builder, args: Arguments, ids_name: str) -> tuple[Value, Value, Dim] | None:
    logits, ids = args.tensor("logits"), args.ids(ids_name)
    if isinstance(logits, Broken) or isinstance(ids, Broken):
        return None
    if not b.frame.is_model or ids not in b.frame.inputs:
        hint = ("write the loss in the model itself, with one of its inputs",)
        b.report(spec_tensors.bad_loss(f"`{ids.name}` is not an input of the model", args.span_of(ids_name), hint))
        return None
    vocab = b.facts.counts[ids]
    if vocab not in logits.dims:
        dims = spec_tensors.bracketed(names(logits.dims))
        b.report(
            spec_tensors.bad_loss(
                f"`{ids.name}` counts `{vocab.name}`, and the logits are {dims}", args.span_of("logits")
            )
        )
        return None
    if not ids.dims or {d for d in logits.dims if d != vocab} != set(ids.dims):
        want = spec_tensors.bracketed([*names(ids.dims), vocab.name])
        got = spec_tensors.bracketed(names(logits.dims))
        b.report(
            spec_tensors.bad_loss(f"the logits are {got}, and `{ids.name}` asks for {want}", args.span_of("logits"))
        )
        return None
    return logits, ids, vocab
