"""Diagnostics for programs; docs/lint.schema.json is the schema. The object, whose keys only ever become more:

    {"diagnostics": [{
        "code": "E0201", "severity": "error" | "warning", "title": what the code means, "message": str,
        "file": str | null, "range": RANGE | null,
        "labels": [{"file": str, "range": RANGE, "text": str}],    the first is the primary place: `file` and `range`
        "also": [{"file": str, "range": RANGE}],    more places of the same mistake
        "helps": [str],
        "edits": [{"file": str, "range": RANGE, "text": str, "safe": bool}]}],
     "errors": int, "warnings": int}

RANGE is {"start": {"line": int, "column": int}, "end": {...}}: lines and columns from 1, columns in Unicode code
points, the end exclusive.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from meshc.diagnostics.codes import TITLES
from meshc.diagnostics.model import Diagnostic
from meshc.source import Span


def render(diagnostics: Iterable[Diagnostic]) -> str:
    diagnostics = list(diagnostics)
    report = {
        "diagnostics": [_diagnostic(d) for d in diagnostics],
        "errors": sum(d.severity == "error" for d in diagnostics),
        "warnings": sum(d.severity == "warning" for d in diagnostics),
    }
    return json.dumps(report, indent=2) + "\n"


def _diagnostic(diagnostic: Diagnostic) -> dict[str, Any]:
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "title": TITLES.get(diagnostic.code, ""),
        "message": diagnostic.message,
        **(_place(diagnostic.span) if diagnostic.span else {"file": None, "range": None}),
        "labels": [{**_place(label.span), "text": label.text} for label in diagnostic.labels],
        "also": [_place(span) for span in diagnostic.also],
        "helps": list(diagnostic.helps),
        "edits": [{**_place(edit.span), "text": edit.text, "safe": edit.safe} for edit in diagnostic.edits],
    }


def _place(span: Span) -> dict[str, Any]:
    start, end = span.source.position(span.start), span.source.position(span.end)
    return {"file": span.source.name, "range": {"start": _position(*start), "end": _position(*end)}}


def _position(line: int, column: int) -> dict[str, int]:
    return {"line": line, "column": column}
