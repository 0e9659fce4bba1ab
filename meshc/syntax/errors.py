"""The messages of syntax errors. What is special about a place is found in near_misses.py; the prose is here."""

from __future__ import annotations

from meshc.diagnostics.edits import removed
from meshc.diagnostics.model import Diagnostic, Edit, Label
from meshc.diagnostics.suggest import nearest
from meshc.source import SourceFile, Span
from meshc.syntax.ast import Name
from meshc.syntax.context import Context, printable, wanted
from meshc.syntax.cut import ITEMS

PLACES = ("params", "grads", "optimizer")
_SAME_PLACE = {"weights": "params", "parameters": "params", "gradients": "grads", "moments": "optimizer"}
_SAME_ITEM = {
    **dict.fromkeys(("def", "class", "fn", "func", "function", "module", "block"), "layer"),
    **dict.fromkeys(("from", "include", "use", "using"), "import"),
    **dict.fromkeys(("axes", "axis", "devices"), "mesh"),
    **dict.fromkeys(("dimensions", "sizes", "shapes"), "dims"),
    **dict.fromkeys(("network", "net"), "model"),
    **dict.fromkeys(("rules", "sharding", "shard", "parallel", "parallelism", "strategies"), "partition"),
}
STATEMENTS = ("param", "state", "repeat", "loss", "metric", "return")


def _error(code: str, message: str, *labels: tuple[Span, str], cure: str = "", edit: Edit | None = None) -> Diagnostic:
    helps = (cure,) if cure else ()
    edits = (edit,) if edit else ()
    return Diagnostic(code, message, tuple(Label(span, text) for span, text in labels), helps, edits)


# ---------------------------------------------------------------- a token that cannot stand where it stands


def unexpected(at: Context, cure: str = "") -> Diagnostic:
    labels = [(at.place, "")]
    if at.opened is not None and at.opened.text in ("(", "["):
        labels.append((at.opened, f"inside this `{at.opened.text}`"))
    return _error("E0101", f"expected {wanted(at)}, found {at.found}", *labels, cure=cure)


def bracket_not_closed(opened: Span, found: Span) -> Diagnostic:
    message = f"this `{opened.text}` is never closed"
    return _error("E0104", message, (opened, ""), (found, "it is not closed before this"))


def bracket_mismatch(opened: Span, found: Span) -> Diagnostic:
    right = {"(": ")", "[": "]", "{": "}"}[opened.text]
    message = f"`{opened.text}` is closed by `{found.text}`"
    return _error("E0104", message, (found, f"expected `{right}`"), (opened, "opened here"), edit=Edit(found, right))


def bracket_closes_nothing(found: Span) -> Diagnostic:
    return _error("E0104", f"this `{found.text}` closes nothing", (found, ""), edit=Edit(found, ""))


def text_not_closed(found: Span) -> Diagnostic:
    return _error(
        "E0105", "this text is never closed", (found, ""), cure='a text ends with `"` on the line where it begins'
    )


def no_character(found: Span, name: str, instead: str) -> Diagnostic:
    """A character that the language does not have; `instead` is what to write for it, if that is known."""
    cure = f"write `{instead}`" if instead else ""
    edit = Edit(found, instead, safe=True) if instead else None
    return _error("E0106", f"{name} is no character of the language", (found, ""), cure=cure, edit=edit)


def no_number(found: Span) -> Diagnostic:
    return _error(
        "E0107", f"`{printable(found.text)}` is no number", (found, ""), cure="nor can a name begin with a digit"
    )


def number_too_large(found: Span) -> Diagnostic:
    return _error("E0107", f"`{printable(found.text)}` is too large a number", (found, ""))


def reserved(word: Span) -> Diagnostic:
    return _error("E0109", f"`{word.text}` is a word of the language and cannot be a name", (word, ""))


def written_otherwise(found: Span, instead: str, why: str, sure: bool = True) -> Diagnostic:
    """A near miss: another language's way to write it; `sure` when nothing else can have been meant."""
    edit = Edit(found, instead, safe=sure)
    message = f"`{printable(found.text)}` is written `{instead}` here"
    return _error("E0115", message, (found, why), cure=f"write `{instead}`", edit=edit)


def no_sign_before_block(found: Span) -> Diagnostic:
    """`mesh = { … }`, or a colon and lines that stand deeper."""
    text = found.source.text
    brace = len(text) - len(text[found.end :].lstrip())
    edit = Edit(Span(found.source, found.start, brace), "") if text[brace : brace + 1] == "{" else None
    message = f"no `{printable(found.text)}` stands before a block"
    return _error("E0115", message, (found, ""), cure="a block stands in braces: `{ … }`", edit=edit)


def no_operator(found: Span, cure: str) -> Diagnostic:
    return _error("E0115", f"there is no `{printable(found.text)}`", (found, ""), cure=cure)


def no_rest_here(found: Span) -> Diagnostic:
    message = "`*` stands alone, and only for the size of a `mesh` axis"
    return _error("E0116", message, (found, ""), cure="`axis = *` takes whatever the slice leaves")


def appends_first(found: Span) -> Diagnostic:
    message = "`..` stands before the axes that it appends"
    return _error("E0115", message, (found, ""), cure="write `dim -> .., axis`: what others claim, then `axis`")


def no_else(found: Span) -> Diagnostic:
    return _error("E0118", "there is no `else`", (found, ""), cure="write a second `if` with `not`")


def wrong_block(word: Span, home: str) -> Diagnostic:
    return _error("E0118", f"`{printable(word.text)}` cannot stand here", (word, f"it stands in {home}"))


def item_in_item(word: Span) -> Diagnostic:
    return _error(
        "E0118", f"`{word.text}` cannot stand inside another item", (word, "it stands at the top of the file")
    )


def comparisons_do_not_chain(found: Span) -> Diagnostic:
    return _error("E0117", "comparisons do not chain", (found, ""), cure="join two of them with `and`")


# ---------------------------------------------------------------- mistakes that the grammar lets pass


def unknown_escape(found: Span) -> Diagnostic:
    cure = r"there are `\"`, `\\`, `\n` and `\t`; write `\\` for a backslash"
    return _error("E0119", f"`{printable(found.text)}` means nothing in a text", (found, ""), cure=cure)


def positional_after_keyword(argument: Span, keyword: Span) -> Diagnostic:
    message = "an argument without a name stands after one with a name"
    return _error(
        "E0114", message, (argument, ""), (keyword, "this one has a name"), cure="write those without names first"
    )


def said_twice(again: Span, first: Span) -> Diagnostic:
    message = f"`{printable(again.text)}` is said twice"
    return _error("E0113", message, (again, ""), (first, "first here"), edit=removed(again, safe=True))


def flag_without_axes(flag: Span) -> Diagnostic:
    message = f"`{printable(flag.text)}` says how axes are used, but there are none"
    return _error("E0113", message, (flag, ""), cure="`dim -> none` takes no more words")


def too_deep(found: Span, limit: int) -> Diagnostic:
    head = Span(found.source, found.start, min(found.end, found.start + 40))
    return _error(
        "E0110", f"this is nested more than {limit} levels deep", (head, ""), cure="give a part of it a name of its own"
    )


def unknown_place(kind: Name) -> Diagnostic:
    if kind.text in ITEMS:
        return item_in_item(kind.span)
    message = f"`{printable(kind.text)}` is no place for rules"
    if kind.text == "within":
        message = "`within` needs the name of a layer or primitive"
        return _error("E0112", message, (kind.span, ""), cure="for example `within attend { … }`")
    near = _SAME_PLACE.get(kind.text) or nearest(kind.text, PLACES)
    if near:
        return _error("E0112", message, (kind.span, ""), cure=f"did you mean `{near}`?", edit=Edit(kind.span, near))
    cure = f"places are `params`, `grads`, `optimizer` and, for a layer or primitive, `within {printable(kind.text)}`"
    return _error("E0112", message, (kind.span, ""), cure=cure)


# ---------------------------------------------------------------- items and files


def brace_not_closed(opened: Span, end: Span) -> Diagnostic:
    return _error("E0102", "this `{` is never closed", (opened, ""), (end, "`}` is missing here at the latest"))


def stray_brace(found: Span, closed: Span | None) -> Diagnostic:
    labels = [(found, "")] + ([(closed, "this one has closed the item already")] if closed else [])
    return _error("E0103", "this `}` closes nothing", *labels)


def no_item(found: Span) -> Diagnostic:
    word = found.text
    message = f"`{printable(word)}` begins no item"
    if word in STATEMENTS:
        return _error("E0108", message, (found, "it stands in a `layer` or `model`"))
    near = _SAME_ITEM.get(word) or nearest(word, ITEMS)
    if near:
        return _error("E0108", message, (found, ""), cure=f"did you mean `{near}`?", edit=Edit(found, near))
    return _error("E0108", message, (found, ""), cure="items are " + ", ".join(f"`{item}`" for item in ITEMS))


def file_too_large(source: SourceFile, limit: int) -> Diagnostic:
    message = f"the text has {len(source.text):,} characters, more than the {limit:,} that a spec may have"
    return _error("E0111", message, (Span(source, 0, 0), ""))
