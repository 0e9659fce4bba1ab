"""From a tree of YAML to a job or a slice: pydantic says what is wrong, this says where and what to do."""

from __future__ import annotations

import re
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from meshc.diagnostics import job as say
from meshc.diagnostics.model import Diagnostic
from meshc.diagnostics.suggest import quoted
from meshc.job.yaml import Mapping, Node, Scalar, Sequence, plain
from meshc.source import Span

Model = TypeVar("Model", bound=BaseModel)
Loc = tuple[int | str, ...]

_KINDS = {
    "int": "an integer",
    "float": "a number",
    "string": "text",
    "bool": "`true` or `false`",
    "tuple": "a list",
    "dict": "a mapping",
    "model": "a mapping",
}


@dataclass(frozen=True, slots=True)
class Place:
    """A value of the tree that an error speaks of: its path as a user writes it, itself, the key that it stands at."""

    path: str
    node: Node
    key_span: Span | None
    depth: int  # steps of the path that were found


def validate(model: type[Model], tree: Mapping) -> tuple[Model | None, list[Diagnostic]]:
    """The tree as a `model`, or None and all that is wrong with it."""
    try:
        return model.model_validate(plain(tree)), []
    except ValidationError as error:
        problems = {(p.span.start, p.span.source.name): p for p in reversed(_problems(model, tree, error)) if p.span}
        return None, list(problems.values())


def place(tree: Mapping, loc: Loc) -> Place:
    """Where a path of keys and indices leads in the tree, as far as it goes.

    What names no entry (a branch of a union) is passed over.
    """
    found = Place("", tree, None, 0)
    for step in loc:
        match found.node:
            case Mapping() as mapping if isinstance(step, str) and (entry := mapping.get(step)):
                found = Place(f"{found.path}.{step}".lstrip("."), entry.value, entry.key_span, found.depth + 1)
            case Sequence(items=items) if isinstance(step, int) and step < len(items):
                found = Place(f"{found.path}[{step}]", items[step], None, found.depth + 1)
    return found


def _problems(model: type[BaseModel], tree: Mapping, error: ValidationError) -> list[Diagnostic]:
    problems = []
    for item in error.errors(include_url=False):
        loc = tuple(item["loc"])
        # A default that depends on another key is not there when that key is wrong, which is reported by itself.
        if item["type"] != "default_factory_not_called" and not _other_branch(tree, loc):
            problems.append(_problem(model, tree, loc, item))
    return problems


def _other_branch(tree: Mapping, loc: Loc) -> bool:
    """Whether an error is of a union's branch that the value was not meant for: a slice is a name or a mapping."""
    if loc[:1] != ("slice",) or len(loc) < 2:
        return False
    inline = isinstance(place(tree, loc[:1]).node, Mapping)
    return inline == (loc[1] == "str")


def _problem(model: type[BaseModel], tree: Mapping, loc: Loc, item: Any) -> Diagnostic:
    at = place(tree, loc)
    path, span, got = at.path or "job", at.node.span, _shown(at.node)
    context = item.get("ctx", {})
    match item["type"]:
        case "extra_forbidden":
            owner = place(tree, loc[:-1])
            known = _fields(model, loc[:-1])
            return say.unknown_key(str(loc[-1]), owner.path, at.key_span or span, known)
        case "missing":
            return say.missing_key(str(loc[-1]), at.path, at.key_span or _begin(span))
        case "literal_error":
            return say.not_one_of(path, got, re.findall(r"'([^']*)'", context["expected"]), span)
        case "value_error":
            return say.contradiction(str(context["error"]), at.key_span or _begin(span))
        case "greater_than_equal" | "greater_than" | "less_than_equal" | "less_than" as bound:
            return say.wrong_kind(path, _bound(bound, context), got, span)
        case "finite_number":
            return say.wrong_kind(path, "a finite number", got, span)
        case "string_too_short" | "too_short":
            return say.wrong_kind(path, "given", "empty", span)
        case kind if wanted := _KINDS.get(kind.split("_")[0]):
            cure = _keys(model, loc, at.node) if wanted == "a mapping" else _cure(wanted, at.node)
            return say.wrong_kind(path, wanted, got, span, *cure)
        case _:
            return say.contradiction(f"`{path}`: {item['msg'].lower()}", span)


def _bound(kind: str, context: dict[str, Any]) -> str:
    word = {
        "greater_than_equal": "at least",
        "greater_than": "above",
        "less_than_equal": "at most",
        "less_than": "below",
    }
    return f"{word[kind]} {next(iter(context.values())):g}"


def _shown(node: Node) -> str:
    match node:
        case Scalar(value=None):
            return "empty"
        case Scalar(value=str() as value):
            return f"`{value[:40]}`"
        case Scalar(text=text):
            return f"`{text[:40]}`"
        case Mapping():
            return "a mapping"
        case Sequence():
            return "a list"


def _keys(model: type[BaseModel], loc: Loc, node: Node) -> tuple[str, ...]:
    """What to write where a section's keys must be, and one value stands."""
    keys = _fields(model, loc)
    if "name" in keys and loc and isinstance(node, Scalar) and isinstance(node.value, str):
        return (f"write `{loc[-1]}: {{name: {node.text}}}`; its keys are {quoted(keys)}",)
    return (f"its keys are {quoted(keys)}",)


def _cure(wanted: str, node: Node) -> tuple[str, ...]:
    if not isinstance(node, Scalar):
        return ()
    digits = str(node.value).replace("_", "").replace(",", "")
    if wanted in ("an integer", "a number") and isinstance(node.value, str) and digits.isdecimal():
        return (f"write `{digits}`",)
    if wanted == "an integer" and isinstance(node.value, float) and node.value.is_integer():
        return (f"write `{int(node.value)}`",)
    if wanted == "text":
        return (f"put it in quotes: `'{node.text}'`",) if node.value is not None else ()
    return (f"write `[{node.text}]`",) if wanted == "a list" and node.value is not None else ()


def _begin(span: Span) -> Span:
    """The first line of a mapping, to point at."""
    first = span.text.split("\n", 1)[0].rstrip()
    return Span(span.source, span.start, span.start + len(first))


def _fields(model: type[BaseModel], loc: Loc) -> list[str]:
    """The keys that the mapping at `loc` may have."""
    for step in loc:
        if isinstance(step, str) and step in model.model_fields:
            model = next(_models(model.model_fields[step].annotation), model)
    return list(model.model_fields)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The model inside an annotation such as `tuple[Group, ...]` or `str | SliceFields | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif get_origin(annotation) in (tuple, Union, types.UnionType):
        for part in get_args(annotation):
            yield from _models(part)
