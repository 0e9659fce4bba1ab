"""What is said about names: unknown ones, names given twice, imports, calls. A check states the rule, this says it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from meshc.diagnostics.edits import removed
from meshc.diagnostics.model import Cure, Diagnostic, Edit, Label
from meshc.diagnostics.suggest import did_you_mean, nearest, quoted
from meshc.source import Span


def unknown(
    what: str, code: str, name: str, span: Span, known: Iterable[str], helps: tuple[str, ...] = ()
) -> Diagnostic:
    """`what` is the kind of thing that is missing: dim, axis, function …"""
    known = tuple(known)
    edits = (Edit(span, found),) if (found := nearest(name, known)) else ()
    article = "an" if what[0] in "aeiou" else "a"
    helps = helps or did_you_mean(name, known)
    return Diagnostic(code, f"`{name}` is not {article} {what}", (Label(span, f"no such {what}"),), helps, edits)


def unknown_value(name: str, span: Span, here: Sequence[str], dims: Iterable[str]) -> Diagnostic:
    """`here` are the names that the layer has given so far."""
    found = unknown("tensor, constant or dim", "E0202", name, span, (*here, *dims))
    if name in ("True", "False", "None"):
        return replace(found, helps=(f"write `{name.lower()}`",), edits=(Edit(span, name.lower(), safe=True),))
    owner, _, last = name.rpartition(".")
    if owner and last in here:
        return replace(found, helps=(f"names stand alone: `{last}`",), edits=(Edit(span, last),))
    if found.helps or not here:
        return found
    return replace(found, helps=(f"named before it are {quoted(here[-12:])}",))


def unknown_dim(name: str, span: Span, known: Iterable[str]) -> Diagnostic:
    """A dim that `dims { }` does not declare."""
    known = tuple(known)
    if not known:
        found = unknown("declared dim", "E0203", name, span, known, (f"declare them: dims {{ {name} = … }}",))
        return replace(found, cause="this spec declares no dims")
    helps = did_you_mean(name, known)
    if not nearest(name, known):
        helps = (f"declare it: dims {{ {name} = … }}", *helps)
    return unknown("declared dim", "E0203", name, span, known, helps)


def unknown_axis(name: str, span: Span, known: Iterable[str], after: Span | None) -> Diagnostic:
    """`after` is the mesh's last axis, behind which a missing one can be written."""
    known = tuple(known)
    base = unknown("mesh axis", "E0204", name, span, known)
    if after is None:
        return replace(base, helps=(f"this spec has no mesh: write mesh {{ {name} = 2 }}",), cause="no mesh")
    helps = [f"the mesh has {quoted(known)}"] if known else []
    if found := nearest(name, known):
        helps.insert(0, f"did you mean `{found}`?")
    helps.append(f"or add `{name} = 1` to the mesh: an axis of size 1 claims nothing")
    insertion = Edit(Span(after.source, after.end, after.end), f"\n  {name} = 1")
    return replace(base, helps=tuple(helps), edits=base.edits or (insertion,))


def unknown_function(name: str, span: Span, known: Iterable[str], shipped: str | None = None) -> Diagnostic:
    """`shipped` is the file that defines such a layer and is not imported."""
    known = tuple(known)
    found = unknown("layer or function", "E0205", name, span, known)
    if (meant := _FUNCTIONS.get(name)) in known and not found.edits:
        return replace(found, helps=(f"it is called `{meant}` here",), edits=(Edit(span, str(meant)),))
    if shipped is None:
        return found
    cure = f'import "{shipped}"'
    start = _first_item(span.source.text)
    among = span.source.text.startswith("import ", start)
    edit = Edit(Span(span.source, start, start), f"{cure}\n" if among else f"{cure}\n\n")
    return replace(found, helps=(f"write {cure}, which has it", *found.helps), edits=(edit,), cause=cure)


def _first_item(text: str) -> int:
    """Where an import can be added: behind the comment that a file begins with."""
    header = re.match(r"(?:#[^\n]*\n)+\n*", text)
    return header.end() if header else 0


def misspelt_declaration(found: Diagnostic, name: str, declared: str, where: Span) -> Diagnostic:
    """Of an unknown `name` that is used more than once, while nothing uses the like name that is `declared`."""
    label = Label(where, f"nothing uses `{declared}`")
    cure = f"if `{declared}` is `{name}` misspelt, mend it where it is declared"
    return replace(found, labels=(*found.labels, label), helps=(cure,), edits=(Edit(where, name),))


# What others call them. Only words: the strategies themselves are in specs/std/strategies.mesh.
_FUNCTIONS = {
    "swish": "silu",
    "concatenate": "concat",
    **dict.fromkeys(("attention", "sdpa", "flash_attention", "scaled_dot_product_attention"), "attend"),
}
_ARGUMENTS: dict[str, str] = dict.fromkeys(("dim", "dims", "axis", "axes"), "over")
_CALLED = {
    **dict.fromkeys(("ddp", "dp", "replicate", "data_parallel"), "data"),
    **dict.fromkeys(("zero3", "zero", "hsdp", "fully_shard"), "fsdp"),
    **dict.fromkeys(("tp", "tensor_parallel", "megatron", "model_parallel"), "tensor"),
    **dict.fromkeys(("cp", "context", "context_parallel", "ring_attention"), "ring"),
    **dict.fromkeys(("sp", "sequence", "sequence_parallel"), "ulysses"),
    **dict.fromkeys(("ep", "experts", "moe", "expert_parallel"), "expert"),
    **dict.fromkeys(("pp", "gpipe", "pipeline_parallel"), "pipeline"),
}


def unknown_strategy(name: str, span: Span, known: Iterable[str]) -> Diagnostic:
    known = tuple(known)
    meant = _CALLED.get(name.lower())
    if meant not in known:
        return unknown("strategy", "E0206", name, span, known)
    found = unknown("strategy", "E0206", name, span, ())
    return replace(found, helps=(f"it is called `{meant}` here",), edits=(Edit(span, str(meant)),))


def unknown_place(name: str, span: Span, known: Iterable[str]) -> Diagnostic:
    """Places are layers and what the language has; `known` are both, too many to be listed."""
    known = tuple(known)
    kinds = () if nearest(name, known) else ("name a layer (not an instance of one), a primitive, or `experts`",)
    return unknown("layer or primitive to be within", "E0207", name, span, known, kinds)


def star_for_a_dim(dim: str, span: Span) -> Diagnostic:
    return Diagnostic("E0116", f"`*` is no size of the dim `{dim}`", (Label(span),), ("only a mesh axis can be `*`",))


def unknown_override(name: str, span: Span, known: Iterable[str]) -> Diagnostic:
    """`--set` of something that the spec does not declare."""
    known = tuple(known)
    axis = f"mesh.{name}"
    helps = (f"did you mean `{axis}`?",) if axis in known else ()
    return unknown("dim or mesh axis of this spec", "E0208", name, span, known, helps)


def unknown_argument(name: str, callee: str, span: Span, known: Sequence[str]) -> Diagnostic:
    found = _ARGUMENTS.get(name) if _ARGUMENTS.get(name) in known else nearest(name, known)
    edits = (Edit(span, found),) if found else ()
    takes = f"`{callee}` takes {quoted(known)}" if known else f"`{callee}` takes no arguments"
    helps = (f"did you mean `{found}`?", takes) if edits else (takes,)
    return Diagnostic("E0209", f"`{callee}` has no argument `{name}`", (Label(span),), helps, edits)


def defined_twice(name: str, span: Span, first: Span) -> Diagnostic:
    return Diagnostic(
        "E0210", f"`{name}` is defined twice", (Label(span, "again here"), Label(first, f"`{name}` is defined here"))
    )


def shadows_primitive(name: str, span: Span) -> Diagnostic:
    return Diagnostic("E0210", f"`{name}` is a function of the language", (Label(span, "cannot be defined anew"),))


def shipped_as(found: Diagnostic, shipped: str, span: Span) -> Diagnostic:
    """Of a file that is not there, while one of its name ships with the compiler."""
    return replace(found, helps=(f"did you mean `{shipped}`?",), edits=(Edit(span, f'"{shipped}"', safe=True),))


def import_cycle(paths: Sequence[str], span: Span) -> Diagnostic:
    """`paths` begin and end with the same file."""
    return Diagnostic("E0212", "imports form a cycle", (Label(span, " -> ".join(paths)),))


def no_model(whole: Span) -> Diagnostic:
    return Diagnostic(
        "E0213", "this spec has no model", (Label(whole),), ("write model Name(tokens: [batch, seq] of vocab) { … }",)
    )


def two_models(name: str, span: Span, other: str, first: Span) -> Diagnostic:
    return Diagnostic(
        "E0214",
        f"this spec has two models, `{other}` and `{name}`",
        (Label(span), Label(first, "the first")),
        ("make one of them a layer, or put it in a file of its own",),
    )


def two_blocks(what: str, span: Span, first: Span) -> Diagnostic:
    """A second `mesh` or `partition`."""
    return Diagnostic("E0210", f"this spec has two {what} blocks", (Label(span), Label(first, "the first")))


def too_many_arguments(callee: str, given: int, names: Sequence[str], span: Span) -> Diagnostic:
    takes = f"`{callee}({', '.join(names)})`"
    return Diagnostic(
        "E0222", f"`{callee}` takes {len(names)} arguments, {given} are given", (Label(span),), (f"it is {takes}",)
    )


def missing_argument(callee: str, name: str, span: Span, names: Sequence[str]) -> Diagnostic:
    return Diagnostic(
        "E0222",
        f"`{callee}` is called without `{name}`",
        (Label(span),),
        (f"it is `{callee}({', '.join(names)})`",),
    )


def argument_twice(callee: str, name: str, span: Span) -> Diagnostic:
    return Diagnostic("E0222", f"`{callee}` is given `{name}` twice", (Label(span),))


def wrong_type(expected: str, got: str, span: Span, helps: tuple[str, ...] = ()) -> Diagnostic:
    """Both as prose with an article: `a tensor`, `the number 3`."""
    return Diagnostic("E0223", f"expected {expected}, got {got}", (Label(span),), helps)


def recursion(names: Sequence[str], span: Span) -> Diagnostic:
    """`names` begin and end with the same layer or strategy."""
    return Diagnostic("E0231", f"`{names[-1]}` uses itself", (Label(span, " -> ".join(names)),))


def too_deep(most: int, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0246", f"calls are nested more than {most} deep", (Label(span),), ("call fewer from each other",)
    )


def too_many_calls(most: int, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0246",
        f"this spec comes to more than {most} calls",
        (Label(span, "the first beyond that"),),
        ("a `repeat` calls a layer any number of times and counts once",),
    )


def after_return(span: Span, returned: Span) -> Diagnostic:
    return Diagnostic(
        "E0233",
        "this never runs",
        (Label(span, "after the return"), Label(returned, "returns here")),
        ("remove it",),
        (removed(span),),
    )


def return_in_repeat(span: Span) -> Diagnostic:
    return Diagnostic("E0233", "a repeat cannot return", (Label(span),), ("return after the repeat",))


def wrong_count(targets: int, values: int, what: str, span: Span) -> Diagnostic:
    """A call that yields `values` tensors where `targets` are named."""
    many = {0: "nothing", 1: "one tensor"}.get(values, f"{values} tensors")
    want = {1: "one is"}.get(targets, f"{targets} are")
    helps = (f"end {what} with `return` and what it yields",) if values == 0 else ()
    return Diagnostic("E0234", f"{what} yields {many} where {want} expected", (Label(span),), helps)


def no_loss(name: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0238",
        f"model `{name}` has no loss",
        (Label(span),),
        ("a model says what it is trained for: loss next_token(logits, tokens)",),
    )


def bad_target(target: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0239", f'"{target}" does not name a function', (Label(span),), ('write "package.module:function"',)
    )


def unused_weight(name: str, span: Span, cures: tuple[Cure, ...] = ()) -> Diagnostic:
    return _unused("W0310", f"`{name}` is never used", span, "remove it, or use it", cures)


def unused_dim(name: str, span: Span, cures: tuple[Cure, ...] = ()) -> Diagnostic:
    return _unused("W0311", f"no tensor has the dim `{name}`", span, "remove it", cures)


def unused_input(name: str, span: Span, cures: tuple[Cure, ...] = ()) -> Diagnostic:
    return _unused("W0312", f"the input `{name}` is never used", span, "remove it, or use it", cures)


def unused_definition(what: str, name: str, span: Span, cures: tuple[Cure, ...] = ()) -> Diagnostic:
    """`what` is layer, primitive or strategy."""
    message = f"the {what} `{name}` is never used, so its body is not checked"
    return _unused("W0313", message, span, "remove it, or use it", cures)


def unused_import(path: str, span: Span, cures: tuple[Cure, ...] = ()) -> Diagnostic:
    message = f'nothing that "{path}" brings is used'
    return Diagnostic("W0314", message, (Label(span),), ("remove it",), cures=cures)


def _unused(code: str, message: str, span: Span, cure: str, cures: tuple[Cure, ...]) -> Diagnostic:
    return Diagnostic(code, message, (Label(span, "declared here"),), (cure,), cures=cures)
