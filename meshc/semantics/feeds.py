"""The model's inputs against what the job's source of data yields: rows of token ids, and of which document each is."""

from __future__ import annotations

from collections.abc import Iterator

from meshc.diagnostics import job as say
from meshc.diagnostics.model import Diagnostic
from meshc.job.idle import READ_BY_SOURCE
from meshc.job.job_file import JobFile
from meshc.job.tokenizers import tokenizer_ids
from meshc.semantics.program import Dim, Kind, Program, Value
from meshc.semantics.segments import segment_inputs

WITH_TOKENIZER = frozenset(source for source, read in READ_BY_SOURCE.items() if "tokenizer" in read)
BYTE_IDS = 256
RANK = 2
"""A batch of rows."""


def source_feeds(job: JobFile, program: Program) -> Iterator[Diagnostic]:
    """E0515, of a job that a file holds: for a spec alone the source is nobody's choice."""
    source = job.job.data.source
    if source == "synthetic" or not job.written:
        return
    span = job.span("data", "source") or job.tree.span
    segments = segment_inputs(program)
    values = [value for value in program.model.inputs if value not in segments]
    if len(values) > 1:
        yield say.one_input_only(source, [(v.name, v.span) for v in values], span)
        return
    for value in values:
        if len(value.dims) != RANK or value.kind is not Kind.INT:
            yield say.cannot_feed(source, value.name, _described(value), value.span, span)
        else:
            yield from _ids_fit(job, value, program.counts[value.name])


def _ids_fit(job: JobFile, value: Value, counted: Dim) -> Iterator[Diagnostic]:
    """W0520, of a tokenizer with more ids than the model has rows: a text need not have all of them."""
    data = job.job.data
    span = job.span("data", "tokenizer") or job.span("data", "source")
    if span is None or data.source not in WITH_TOKENIZER:
        return
    ids = BYTE_IDS if data.tokenizer == "bytes" else tokenizer_ids(data.tokenizer)
    if ids is not None and ids > counted.real:
        yield say.more_ids(data.tokenizer, ids, value.name, counted.name, counted.real, span, counted.span)


def _described(value: Value) -> str:
    dims = ", ".join(dim.name for dim in value.dims)
    return f"[{dims}] of {'ids' if value.kind is Kind.INT else 'floats'}"
