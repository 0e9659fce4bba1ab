"""Slices by name: virtual ones are computed, the others are files of the catalogue."""

from __future__ import annotations

from importlib import resources

from meshc.diagnostics import job as say
from meshc.diagnostics.model import Diagnostic
from meshc.job.slices import Slice, virtual_slice
from meshc.load import decode
from meshc.source import Span


def slice_names() -> list[str]:
    """The catalogue's names, `cpu-8` before `cpu-16`."""
    files = resources.files("meshc.specs").joinpath("slices").iterdir()
    names = [file.name.removesuffix(".yaml") for file in files if file.name.endswith(".yaml")]
    return sorted(names, key=lambda name: (name.rpartition("-")[0], int(name.rpartition("-")[2])))


def find_slice(name: str, asked: Span | None = None) -> tuple[Slice | None, list[Diagnostic]]:
    """The slice called `name`; `asked` is the key or flag that names it."""
    if virtual := virtual_slice(name):
        return virtual, []
    if name not in slice_names():
        return None, [say.unknown_slice(name, asked, slice_names())]
    from meshc.job.read import validate
    from meshc.job.slice_fields import SliceFields
    from meshc.job.yaml import parse

    file = resources.files("meshc.specs").joinpath("slices", f"{name}.yaml")
    source = decode(file.read_bytes(), f"slices/{name}.yaml")
    if isinstance(source, Diagnostic):
        return None, [source]
    tree, problems = parse(source)
    if tree is None or problems:
        return None, problems
    fields, problems = validate(SliceFields, tree)
    return (fields.slice() if fields else None), problems
