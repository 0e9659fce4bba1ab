"""What a body is made of: calls, tuples and names as code."""

from __future__ import annotations

from collections.abc import Sequence

from meshc.codegen import names
from meshc.codegen.text import ANY, ATOM, Text, atom, commas, text


def called(callee: Text, arguments: Sequence[Text]) -> Text:
    return text(ATOM, callee, "(", *commas(arguments), ")")


def grouped(items: Sequence[Text]) -> Text:
    return text(ATOM, "(", listed(items), ")") if len(items) > 1 else listed(items)


def singular(name: str) -> str:
    name = names.identifier(name, "turn")
    return name[:-1] if name.endswith("s") and len(name) > 2 else f"{name}_turn"


def listed(results: Sequence[Text]) -> Text:
    if not results:
        return atom("None")
    return results[0] if len(results) == 1 else text(ANY, *commas(results))
