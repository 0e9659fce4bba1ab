"""What is said about job and slice files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from meshc.diagnostics.model import Diagnostic, Edit, Label
from meshc.diagnostics.suggest import did_you_mean, nearest, quoted
from meshc.source import SourceFile, Span

SHORT_FOR = {"bf16": "bfloat16", "fp16": "float16", "f16": "float16", "fp32": "float32", "f32": "float32"}


def _at(code: str, span: Span, message: str, *helps: str, label: str = "") -> Diagnostic:
    return Diagnostic(code, message, (Label(span, label),), helps)


# ---------------------------------------------------------------- YAML itself


def bad_yaml(source: SourceFile, offset: int, problem: str) -> Diagnostic:
    """`problem` is the YAML parser's own word for it."""
    span = Span(source, offset, min(offset + 1, len(source.text)))
    if span.text == "\t":
        return _at("E0501", span, "a tab cannot indent YAML", "indent with spaces")
    return _at("E0501", span, f"this is not YAML: {problem.replace('<stream end>', 'the end of the file')}")


def bad_character(source: SourceFile, offset: int) -> Diagnostic:
    span = Span(source, offset, min(offset + 1, len(source.text)))
    what = f"character U+{ord(span.text):04X}" if span.text else "text"
    return _at("E0501", span, f"{what} is not allowed in YAML", "delete it, or quote and escape it")


def not_a_mapping(span: Span, name: str) -> Diagnostic:
    return _at("E0504", span, f"`{name}` must hold keys and values", "begin with `spec: NAME.mesh`")


def second_document(span: Span) -> Diagnostic:
    return _at("E0506", span, "a second YAML document begins here", "put each job into a file of its own")


def alias(span: Span, name: str) -> Diagnostic:
    return _at("E0505", span, f"YAML aliases are not used here: `*{name}`", "write the value out")


def anchor(span: Span, name: str) -> Diagnostic:
    return _at("E0505", span, f"YAML anchors are not used here: `&{name}`", "write the value out where it is used")


def merge_key(span: Span) -> Diagnostic:
    return _at("E0505", span, "YAML merge keys are not used here: `<<`", "write the keys out")


def tag(span: Span, name: str) -> Diagnostic:
    return _at("E0505", span, f"YAML tags are not used here: `{name}`", "delete it; quotes make a text")


def too_deep(span: Span, most: int) -> Diagnostic:
    return _at("E0513", span, f"nested more than {most} deep")


def huge_number(span: Span) -> Diagnostic:
    return _at("E0504", span, f"a number of {len(span.text.lstrip('+-'))} digits is too large")


def key_not_text(span: Span) -> Diagnostic:
    return _at("E0504", span, "a key must be a word")


def duplicate_key(key: str, span: Span, first: Span) -> Diagnostic:
    labels = (Label(span, "again here"), Label(first, "first given here"))
    return Diagnostic("E0503", f"`{key}` is given twice", labels, ("keep one of them",))


# ---------------------------------------------------------------- keys and values


def _to(span: Span, near: str | None) -> tuple[Edit, ...]:
    """What is written, in YAML, as what was meant; of a flag there is no text to change."""
    written = span.source.name.endswith((".yaml", ".yml"))
    return (Edit(span, near),) if near and written else ()


def unknown_key(key: str, section: str, span: Span, known: Iterable[str]) -> Diagnostic:
    """`section` is the path of the mapping that holds the key, empty at the top."""
    known = list(known)
    helps = did_you_mean(key, known) or (f"known are {quoted(known)}",)
    where = f" in `{section}`" if section else ""
    near = nearest(key, known)
    return replace(_at("E0502", span, f"unknown key `{key}`{where}", *helps), edits=_to(span, near))


def missing_key(key: str, section: str, span: Span) -> Diagnostic:
    owner = f"`{section}`" if section else "this file"
    return _at("E0507", span, f"{owner} needs the key `{key}`")


def wrong_kind(path: str, wanted: str, got: str, span: Span, *helps: str) -> Diagnostic:
    return _at("E0504", span, f"`{path}` must be {wanted}, not {got}", *helps)


def not_one_of(path: str, got: str, choices: list[str], span: Span) -> Diagnostic:
    message = f"`{path}` must be {quoted(choices, 'or')}, not {got}"
    name = got.strip("`")
    near = nearest(SHORT_FOR.get(name.lower(), name), choices)
    return replace(_at("E0504", span, message, *did_you_mean_only(got, choices)), edits=_to(span, near))


def did_you_mean_only(got: str, choices: list[str]) -> tuple[str, ...]:
    """A suggestion, but not the list of choices, which the message has."""
    name = got.strip("`")
    helps = did_you_mean(SHORT_FOR.get(name.lower(), name), choices)
    return tuple(text for text in helps if text.startswith("did you mean"))


def contradiction(message: str, span: Span) -> Diagnostic:
    return _at("E0509", span, message)


# ---------------------------------------------------------------- slices and overrides


def unknown_slice(name: str, span: Span | None, known: Sequence[str]) -> Diagnostic:
    helps = (
        *did_you_mean_only(name, list(known)),
        f"the catalogue has {quoted(known)}, and `cpu-N` for any N up to 4096",
    )
    edits = _to(span, nearest(name, known)) if span else ()
    return Diagnostic("E0508", f"there is no slice `{name}`", (Label(span),) if span else (), helps, edits)


def bad_override(text: str, span: Span) -> Diagnostic:
    help_line = "write `--set batch=64`, `--set mesh.tp=4` or `--set train.steps=10`"
    return _at("E0510", span, f"`{text}` is not of the form `name=value`", help_line)


def unknown_section(key: str, section: str, span: Span, known: Iterable[str]) -> Diagnostic:
    return _at(
        "E0502", span, f"`{key}` is neither a dim, nor `mesh.AXIS`, nor a job's key", *did_you_mean(section, known)
    )


def override_twice(key: str, span: Span, first: Span) -> Diagnostic:
    labels = (Label(span, "again here"), Label(first, "first given here"))
    return Diagnostic("E0503", f"`{key}` is set twice", labels, ("keep one of them",))


def group_matches_nothing(match: str, span: Span | None, paths: Iterable[str]) -> Diagnostic:
    labels = (Label(span),) if span else ()
    paths = list(paths)
    edits = _to(span, nearest(match, paths)) if span else ()
    return Diagnostic("E0511", f"no weight matches `{match}`", labels, did_you_mean(match, paths), edits)


# ---------------------------------------------------------------- data for the model


def cannot_feed(source: str, name: str, what: str, declared: Span, span: Span) -> Diagnostic:
    """`what` are the input's dims and what it counts: `[batch, seq, head_dim] of floats`."""
    labels = (Label(span, "yields [batch, seq] of ids"), Label(declared, f"`{name}` is {what}"))
    return Diagnostic(
        "E0515",
        f"the source `{source}` cannot feed `{name}`, which is {what}",
        labels,
        ("declare it so: `tokens: [batch, seq] of vocab`", "or data: {source: synthetic}"),
    )


def one_input_only(source: str, inputs: list[tuple[str, Span]], span: Span) -> Diagnostic:
    labels = (Label(span, "yields one tensor"), *(Label(declared, f"`{name}`") for name, declared in inputs))
    names = quoted(name for name, _ in inputs)
    return Diagnostic("E0515", f"the source `{source}` cannot feed {names}", labels, ("data: {source: synthetic}",))


def more_ids(tokenizer: str, ids: int, name: str, dim: str, size: int, span: Span, declared: Span | None) -> Diagnostic:
    """A tokenizer whose last ids are no rows of the model's table."""
    labels = (Label(span), *([Label(declared, f"{dim} is {size}")] if declared else []))
    message = f"the tokenizer `{tokenizer}` has {ids} ids, and `{name}` takes {size}: a run ends at the first other one"
    return Diagnostic("W0520", message, labels, (f"make {dim} {ids}, or use the tokenizer that the model is for",))


# ---------------------------------------------------------------- settings without effect


def unread_setting(name: str, by: str, span: Span, readers: Sequence[str] = ()) -> Diagnostic:
    """`by` is what decides that nobody reads it: an optimizer, a source, a backend; `readers` are those that would."""
    others = [f"{quoted(readers)} {'reads' if len(readers) == 1 else 'read'} it"] if readers else []
    return _at("W0514", span, f"{by} does not read `{name}`", "remove it", *others)


def group_taken(match: str, span: Span) -> Diagnostic:
    return _at("W0514", span, f"earlier groups have every weight that `{match}` matches", "put this one before them")


def source_without_paths(source: str, span: Span) -> Diagnostic:
    return _at("E0507", span, f"the source `{source}` needs `paths`", 'give it some: paths: ["corpus/*.txt"]')
