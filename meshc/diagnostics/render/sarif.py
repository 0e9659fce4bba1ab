"""SARIF 2.1.0 (OASIS, with errata 01), as code scanning and editors' viewers read it.

A rule is a code, its help the page that `meshc explain CODE` prints. Paths are relative to the root of the repository,
columns in UTF-16 code units, the end exclusive. What is only a flag, or a file of the compiler's, is no location.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from importlib import resources
from typing import Any

from meshc import __version__
from meshc.diagnostics.codes import TITLES
from meshc.diagnostics.model import Diagnostic, Edit, Label
from meshc.diagnostics.render.places import is_file, main_label, uri, utf16
from meshc.source import SourceFile, Span

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "%SRCROOT%"
_LINK = re.compile(r"\[(?=[^\[\]]*\]\()")

Json = dict[str, Any]


def render(diagnostics: Iterable[Diagnostic]) -> str:
    diagnostics = list(diagnostics)
    codes = sorted({d.code for d in diagnostics})
    driver = {"name": "meshc", "version": __version__, "rules": [_rule(code) for code in codes]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "utf16CodeUnits",
        "originalUriBaseIds": {ROOT: {"description": {"text": "The root of the repository."}}},
        "results": [_result(d, codes.index(d.code)) for d in diagnostics],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


# ---------------------------------------------------------------- rules


def _rule(code: str) -> Json:
    page = resources.files("meshc.diagnostics").joinpath("explain", f"{code}.md").read_text(encoding="utf-8")
    _, _, body = page.partition("\n")
    return {
        "id": code,
        "shortDescription": {"text": TITLES[code]},
        "fullDescription": {"text": " ".join(body.partition("\n## ")[0].split()) or TITLES[code]},
        "help": {"text": page, "markdown": page},
        "defaultConfiguration": {"level": "error" if code.startswith("E") else "warning"},
    }


# ---------------------------------------------------------------- results


def _result(diagnostic: Diagnostic, index: int) -> Json:
    main = main_label(diagnostic)
    others = [label for label in diagnostic.labels if label is not main and is_file(label.span.source)]
    others += [Label(span, "here, too") for span in diagnostic.also if is_file(span.source)]
    result: Json = {
        "ruleId": diagnostic.code,
        "ruleIndex": index,
        "level": diagnostic.severity,
        "message": _message(_said(diagnostic, main)),
        "locations": [_location(main)] if main else [],
    }
    if others:
        result["relatedLocations"] = [{"id": i, **_location(label)} for i, label in enumerate(others, 1)]
    if fix := _fix(diagnostic):
        result["fixes"] = [fix]
    return result


def _said(diagnostic: Diagnostic, main: Label | None) -> str:
    """The headline, what is said of places that cannot be opened, and the cures."""
    lines = [diagnostic.message]
    lines += [f"{d.span}: {d.text}".removesuffix(": ") for d in diagnostic.labels if not is_file(d.span.source)]
    if main and main.text:
        lines.insert(1, main.text)
    return "\n".join([*lines, *(f"help: {cure}" for cure in diagnostic.helps)])


def _message(text: str) -> Json:
    """Braces would be placeholders (SARIF 3.11.5), and `[a](b)` a link (3.11.6)."""
    return {"text": _LINK.sub(r"\\[", text).replace("{", "{{").replace("}", "}}")}


def _location(label: Label) -> Json:
    location: Json = {"physicalLocation": {**_file(label.span.source), "region": _region(label.span)}}
    return {**location, "message": _message(label.text)} if label.text else location


def _file(source: SourceFile) -> Json:
    path, relative = uri(source.name)
    return {"artifactLocation": {"uri": path, "uriBaseId": ROOT} if relative else {"uri": path}}


def _region(span: Span) -> Json:
    (line, column), (last, end) = utf16(span.source, span.start), utf16(span.source, span.end)
    return {"startLine": line, "startColumn": column, "endLine": last, "endColumn": end}


# ---------------------------------------------------------------- fixes


def _fix(diagnostic: Diagnostic) -> Json | None:
    """The edits, if all of them lie in files."""
    edits = diagnostic.edits
    if not edits or not all(is_file(edit.span.source) for edit in edits):
        return None
    files = {edit.span.source.name: edit.span.source for edit in edits}
    changes = [
        {**_file(source), "replacements": _replacements([e for e in edits if e.span.source.name == name])}
        for name, source in files.items()
    ]
    title = diagnostic.helps[0] if diagnostic.helps else diagnostic.message
    return {"description": _message(title), "artifactChanges": changes}


def _replacements(edits: Sequence[Edit]) -> list[Json]:
    ordered = sorted(edits, key=lambda edit: edit.span.start)
    return [{"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}} for edit in ordered]
