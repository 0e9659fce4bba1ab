"""What is told as a cure has been tried: the options of each that remove the problem and bring no new error."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from meshc.diagnostics.fold import folded
from meshc.diagnostics.model import Cure, Diagnostic, Edit, Option
from meshc.diagnostics.suggest import prose

MOST_TOLD = 8
"""Options of one cure that a help line lists: the nearest ones."""

Attempt = Callable[[Option, bool], "Sequence[Diagnostic] | None"]
"""What is wrong with the spec changed so, with warnings or without; None where no more may be tried."""
Written = Callable[[Option], "tuple[Edit, ...] | None"]
"""The edits of the files that an option comes to; None where there is no text to change (a `--set`)."""

Key = tuple[str, str, int]
"""Of a problem: its code, file and place in the text as it was."""


def cured(found: Sequence[Diagnostic], attempt: Attempt | None, written: Written) -> list[Diagnostic]:
    """Each problem with its cures as help lines and the first of them as edits.

    Without an `attempt`, for a spec that is too large to be checked again and again, all options are told.
    """
    told = folded(found)  # what is left of one cause after a cure is new to who reads of one of them
    return [_cured(problem, told, attempt, written) if problem.cures else problem for problem in found]


def untried(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The problems with all that could do, as a phase by itself finds them."""
    return cured(found, None, lambda option: option.edits)


def _cured(problem: Diagnostic, found: Sequence[Diagnostic], attempt: Attempt | None, written: Written) -> Diagnostic:
    lines, edits = list(problem.helps), problem.edits
    first, meshes = len(lines), False
    for cure in problem.cures:
        if (cure.unless == "mesh" and meshes) or (cure.unless == "any" and len(lines) > first):
            continue
        options = list(_that_do(cure, problem, found, attempt))
        meshes |= any(key.startswith("mesh.") for option in options for key, _ in option.sizes)
        if not options:
            continue
        if cure.says:
            says = cure.says.removeprefix("or ")
            either = len(lines) > first or (lines and cure.says.startswith("or "))
            lines.append(f"{'or ' if either else ''}{says.replace('{}', _listed(options))}")
        if not edits and cure.usable:
            edits = next((e for option in options if (e := _usable(option, written))), ())
            edits = edits if attempt else _unsure(edits)
    return replace(problem, helps=tuple(lines), edits=edits, cures=())


def _that_do(cure: Cure, problem: Diagnostic, found: Sequence[Diagnostic], attempt: Attempt | None) -> Iterator[Option]:
    told = 0
    for option in cure.options:
        if attempt is not None:
            left = attempt(option, problem.severity == "warning")
            if left is None:
                return
            if not does(problem, found, left, option.edits):
                continue
        yield option
        told += 1
        if told == MOST_TOLD:
            return


def does(problem: Diagnostic, before: Iterable[Diagnostic], after: Iterable[Diagnostic], edits: Sequence[Edit]) -> bool:
    """Whether a change took the problem away, with all of its code at its place, and brought no error."""
    was, now = Counter(map(_key, before)), Counter(_key(d, edits) for d in after)
    return not now[_key(problem)] and not any(
        number > was[key] for key, number in now.items() if key[0].startswith("E")
    )


def _key(problem: Diagnostic, edits: Sequence[Edit] = ()) -> Key:
    if (span := problem.span) is None:
        return (problem.code, "", 0)
    own = [edit for edit in edits if edit.span.source.name == span.source.name]
    return (problem.code, span.source.name, place_before(span.start, own))


def place_before(offset: int, edits: Sequence[Edit]) -> int:
    """Where in a text that these edits changed a place was; of what they put in, where that begins."""
    grown = 0
    for edit in sorted(edits, key=lambda edit: edit.span.start):
        begin = edit.span.start + grown
        if offset < begin:
            break
        if offset < begin + len(edit.text):
            return edit.span.start
        grown += len(edit.text) - (edit.span.end - edit.span.start)
    return offset - grown


def _usable(option: Option, written: Written) -> tuple[Edit, ...]:
    """The edits of an option that leaves what it changes at work: an axis of size 1 would undo what was asked for."""
    return () if any(size == 1 for _, size in option.sizes) else written(option) or ()


def _unsure(edits: Sequence[Edit]) -> tuple[Edit, ...]:
    return tuple(replace(edit, safe=False) for edit in edits)


def _listed(options: Sequence[Option]) -> str:
    """The texts in the order of their sizes, as prose: `1, 2 or 4`."""
    return prose([option.text for option in sorted(options, key=_order)], "or")


def _order(option: Option) -> list[int]:
    if option.sizes:
        return [size for _, size in option.sizes]
    return [int(option.text)] if option.text.isdecimal() else []
