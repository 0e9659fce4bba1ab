"""Writes what is generated in the documentation; `make docs` runs it.

The index of diagnostics, the tables of job.md, what shown commands print, and excerpts of the quickstart's program.
`--check` writes nothing and ends with 1 where a page is out of date; the tests do that.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from docs.pages import PAGES, ROOT, with_code, with_output
from meshc.diagnostics.codes import TITLES
from meshc.driver import compile_program
from meshc.job.model import Job, Optimizer
from meshc.job.slice_fields import SliceFields
from meshc.job.target import Request

EXPLAIN = "../meshc/diagnostics/explain"
RANGES = {
    "01": "Syntax and files",
    "02": "Names, types and claims",
    "03": "Sizes and waste",
    "04": "Mesh and axes",
    "05": "Job and slice",
    "06": "Building and running",
}


def diagnostics() -> str:
    """One line for each code, with a link to the page that `meshc explain CODE` prints."""
    lines = [
        "# Diagnostics",
        "",
        "What meshc reports, by code. `E` stops a build; `W` does not unless `--strict`, and a comment",
        "`# meshc: allow(CODE) reason` on the line silences it. `meshc explain CODE` prints a code's page: what is",
        "wrong, a bad and a good example.",
        "This page is generated from `meshc/diagnostics/codes.py` by `make docs`.",
    ]
    for digits, heading in RANGES.items():
        lines += ["", f"## {heading}", "", "| code | what it says |", "|---|---|"]
        codes = sorted(code for code in TITLES if code[1:3] == digits)
        lines += [f"| [{code}]({EXPLAIN}/{code}.md) | {TITLES[code]} |" for code in codes]
    return "\n".join(lines) + "\n"


def with_tables(text: str) -> str:
    """A page's text with its tables written anew: each stands between `<!-- table: NAME -->` and `<!-- end -->`."""
    tables = {"job": Job, "slice": SliceFields}
    for name, model in tables.items():
        between = re.compile(rf"(<!-- table: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text = between.sub(lambda found, model=model: found[1] + "\n".join(sections(model)) + "\n" + found[2], text)
    return text


def sections(model: type[BaseModel]) -> Iterator[str]:
    """A table of the model's keys; then, under its own heading, each key that holds keys."""
    schema = model.model_json_schema()
    yield from _section("", schema, schema["$defs"], model)


def _section(key: str, schema: dict[str, Any], models: dict[str, Any], model: type[BaseModel]) -> Iterator[str]:
    if key:
        yield f"\n### `{key}`"
    if key and model.__doc__:
        yield "\n" + inspect.cleandoc(model.__doc__).replace("\n\n", "\n")
    yield "\n| key | value | default |\n|---|---|---|"
    for name, field in schema["properties"].items():
        yield f"| `{name}` | {_kind(field, models)} | {_default(name, field, model)} |"
    for name, field in schema["properties"].items():
        inner = _model_of(field)
        if inner and inner != SliceFields.__name__:  # a job's slice has its own table
            yield from _section(f"{key}.{name}".lstrip("."), models[inner], models, _class_of(model, inner))


def _alternatives(field: dict[str, Any]) -> list[dict[str, Any]]:
    return field.get("anyOf") or field.get("allOf") or [field]


def _model_of(field: dict[str, Any]) -> str | None:
    """The name of the model that a key holds, itself or in a list."""
    for one in _alternatives(field):
        reference = one.get("$ref") or one.get("items", {}).get("$ref")
        if reference:
            return reference.rsplit("/", 1)[1]
    return None


def _class_of(model: type[BaseModel], name: str) -> type[BaseModel]:
    return getattr(sys.modules[model.__module__], name)


def _kind(field: dict[str, Any], models: dict[str, Any]) -> str:
    return " or ".join(_one_kind(one, models) for one in _alternatives(field))


def _one_kind(one: dict[str, Any], models: dict[str, Any]) -> str:
    match one:
        case {"$ref": _}:
            return "keys, below"
        case {"enum": values}:
            return ", ".join(f"`{value}`" for value in values)
        case {"type": "array", "prefixItems": _} | {"type": "array", "items": {"$ref": _}}:
            return "list, below"
        case {"type": "array", "items": items}:
            return f"list of {_one_kind(items, models)}"
        case {"type": "object"}:
            return "keys and values"
        case {"type": "null"}:
            return "`null`"
        case {"type": kind}:
            return kind + _range(one)
        case _:
            return "any"


def _range(one: dict[str, Any]) -> str:
    low = one.get("minimum", one.get("exclusiveMinimum"))
    if low is None:
        return ""
    return f" > {low:g}" if "exclusiveMinimum" in one else f" >= {low:g}"


def _default(name: str, field: dict[str, Any], model: type[BaseModel]) -> str:
    info = model.model_fields[name]
    if info.default_factory and model is Optimizer:
        return _default_by_optimizer(name)
    if info.is_required():
        return "required"
    if _model_of(field):
        return ""
    return f"`{_yaml(info.get_default(call_default_factory=True))}`"


def _default_by_optimizer(name: str) -> str:
    values = {
        kind: getattr(Optimizer(name=kind), name) for kind in ("adamw", "adam", "sgd", "lion", "adafactor", "lamb")
    }
    usual = max(set(values.values()), key=list(values.values()).count)
    others = "".join(f", {kind} `{_yaml(value)}`" for kind, value in values.items() if value != usual)
    return f"`{_yaml(usual)}`{others}"


def _yaml(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case tuple():
            return "[]" if not value else str(list(value))
        case dict():
            return "{}"
        case float():
            return f"{value:g}"
        case _:
            return str(value)


def quickstart() -> str:
    """The program that meshc generates from the quickstart."""
    compiled, problems = compile_program(Request("specs/quickstart/job.yaml"))
    if compiled is None:
        raise SystemExit("\n".join(problem.message for problem in problems))
    return compiled.files["train.py"]


def written(page: Path, program: str) -> str:
    """What the page should say."""
    if page.name == "diagnostics.md":
        return diagnostics()
    return with_output(with_code(with_tables(page.read_text()), "quickstart/train.py", program))


def main(check: bool) -> int:
    os.chdir(ROOT)
    program = quickstart()
    stale = [(page, text) for page in PAGES if (text := written(page, program)) != page.read_text()]
    for page, text in stale:
        print(f"{'out of date' if check else 'written'}: {page.relative_to(ROOT)}")
        if not check:
            page.write_text(text)
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
