"""Random edits of specs, as someone types them, and what two checks of one text must agree in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

from meshc.driver import Checked
from meshc.semantics.walk import everything

ROOT = Path(__file__).resolve().parents[2]
SPECS = sorted([*ROOT.glob("specs/**/*.mesh")])
_TOKEN = re.compile(r"[A-Za-z_]\w*'*|\d[\d_.e]*|\"[^\"\n]*\"|->|\.\.|:=|\S")
_IMPORT = re.compile(r'import "(std/\w+\.mesh)"\n')
_TYPED = (
    "\n",
    "# a comment\n",
    "# meshc: allow(W0310) for a while\n",
    " ",
    "{",
    "}",
    "(",
    ")",
    '"',
    ";",
    "x",
    "3",
    "=",
    "->",
    "é",
    "'",
)


def spec(path: Path, random: Random) -> str:
    """A spec, half of the time with what it imports written out, so that edits reach the standard layers too."""
    text = path.read_text("utf-8")
    if random.random() < 0.5:
        return text
    seen: set[str] = set()

    def written_out(match: re.Match[str]) -> str:
        if match[1] in seen:
            return ""
        seen.add(match[1])
        return _IMPORT.sub(written_out, (ROOT / "specs" / match[1]).read_text("utf-8"))

    return _IMPORT.sub(written_out, text)


def edits(text: str, random: Random, number: int) -> Iterator[str]:
    """The texts after each of so many edits; now and then one goes back to an earlier text, as with `undo`."""
    past = [text]
    for _ in range(number):
        text = (
            random.choice((past[0], past[-1], past[-2:][0]))
            if random.random() < 0.35
            else _edited(text, random, past[0])
        )
        past.append(text)
        yield text


def _edited(text: str, random: Random, original: str) -> str:
    tokens = list(_TOKEN.finditer(text))
    lines = text.splitlines(keepends=True)
    if not tokens:
        return original
    token, other = random.choice(tokens), random.choice(tokens)
    match random.randrange(7):
        case 0:
            at = random.randrange(len(text) + 1)
            return text[:at] + random.choice(_TYPED) + text[at:]
        case 1:
            return text[: token.start()] + text[token.end() :]
        case 2:
            return text[: token.start()] + other[0] + text[token.end() :]
        case 3:
            number = random.choice([t for t in tokens if t[0][0].isdigit()] or tokens)
            return text[: number.start()] + random.choice(("1", "2", "3", "4", "8", "64")) + text[number.end() :]
        case 4:
            at = random.randrange(len(lines))
            return "".join([*lines[:at], lines[at], *lines[at:]])
        case 5:
            at = random.randrange(len(lines))
            return "".join([*lines[:at], *lines[at + 1 :]])
        case _:
            at = random.randrange(len(lines) + 1)
            return "".join([*lines[:at], random.choice(("\n", "# a line above\n", "\n\n\n")), *lines[at:]])


def told(checked: Checked) -> list[object]:
    """All that a check says, with its places."""
    return [
        (
            d.code,
            d.message,
            [(label.span.source.name, label.span.start, label.span.end, label.text) for label in d.labels],
            [(span.source.name, span.start, span.end) for span in d.also],
            d.helps,
            [(edit.span.source.name, edit.span.start, edit.span.end, edit.text, edit.safe) for edit in d.edits],
        )
        for d in checked.diagnostics
    ]


def placed(checked: Checked) -> list[object]:
    """All statements and weights, with their layouts and places in the text; empty where nothing was placed."""
    if checked.placed is None:
        return []
    found: list[object] = []
    for statement in everything(checked.placed.model.body):
        result = getattr(statement, "result", None)
        value = getattr(statement, "value", None)
        op = getattr(statement, "op", None)
        span = getattr(op or statement, "span", None)
        found.append(
            (
                type(op or statement).__name__,
                result and (result.value.name, result.layout, result.value.span.start, result.value.span.end),
                value and (value.value.name, value.layout),
                span and (span.source.name, span.start, span.text),
                getattr(statement, "steps", None),
            )
        )
    for weight in checked.placed.weights:
        because = {key: [rule.place.start for rule in rules] for key, rules in weight.because.items()}
        layouts = (weight.use, weight.rest, weight.grads, weight.optimizer, weight.inside.layout)
        found.append((weight.weight.dotted, weight.weight.value.span.start, layouts, weight.summed, because))
    return [*found, checked.placed.orders, len(checked.placed.spoken_of), len(checked.placed.because)]
