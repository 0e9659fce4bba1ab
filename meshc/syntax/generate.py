"""Makes `table.py`, the LALR(1) parse table, of `grammar.lark`: `python -m meshc.syntax.generate`.

The table is committed, so that nothing that reads a spec has to import lark or to wait for it (40 ms), and a read-only
installation needs no cache. `load` notices a grammar that is newer than its table and builds it in memory.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

GRAMMAR = Path(__file__).with_name("grammar.lark")
TABLE = Path(__file__).with_name("table.py")
PASS, SPLICE = "pass", "splice"  # hand on the only child; join the children to the list around them


@dataclass(frozen=True, slots=True)
class Rule:
    """One reduction: `size` symbols become an `origin` by `action`, which is given the values at the places `keep`.

    `splices` says that some of these values are lists whose entries are meant.
    """

    origin: str
    size: int
    action: str
    keep: tuple[int, ...]
    splices: bool


@dataclass(frozen=True, slots=True)
class Table:
    """`states[state][symbol]` is the next state, or `~rule` for a reduction.

    A symbol is a literal terminal by its text (`words`), another terminal by its name (`patterns`), or a rule as
    `<rule>`.
    """

    patterns: dict[str, str]
    words: frozenset[str]
    rules: tuple[Rule, ...]
    states: tuple[dict[str, int], ...]
    start: int
    end: int


def load() -> Table:
    """The parse table: the committed one, or one made now where the grammar has changed since."""
    from meshc.syntax import table

    if GRAMMAR.is_file():
        grammar = GRAMMAR.read_text(encoding="utf-8")
        if zlib.crc32(grammar.encode()) != table.GRAMMAR_CRC:
            return build(grammar)
    rules = tuple(Rule(*rule) for rule in table.RULES)
    states = tuple(_state(line.split(" ")) for line in table.STATES.splitlines())
    return Table(table.PATTERNS, frozenset(table.WORDS), rules, states, table.START, table.END)


def _state(line: Sequence[str]) -> dict[str, int]:
    return dict(zip(line[::2], map(int, line[1::2]), strict=True)) if len(line) > 1 else {}


def build(grammar: str) -> Table:
    """Let lark compile the grammar. A conflict in it is an exception."""
    from lark import Lark
    from lark.lexer import PatternStr

    lark = Lark(grammar, parser="lalr", start="item", lexer="contextual", maybe_placeholders=False)
    literal = {t.name: t.pattern.value for t in lark.terminals if isinstance(t.pattern, PatternStr)}
    patterns = {t.name: t.pattern.value for t in lark.terminals if t.name not in literal}
    parser: Any = lark.parser
    parsed = parser.parser._parse_table
    rules: dict[Any, int] = {rule: number for number, rule in enumerate(lark.rules)}
    numbers = _numbering(parsed)
    names = {number: state for state, number in numbers.items()}

    def code(target: Any) -> int:
        return ~rules[target] if target in rules else numbers[target]

    def text(symbol: str) -> str:
        return literal.get(symbol, symbol if symbol in patterns or symbol == "$END" else f"<{symbol}>")

    states = tuple(
        {text(symbol): code(target) for symbol, (_, target) in sorted(parsed.states[names[number]].items())}
        for number in range(len(names))
    )
    return Table(
        patterns,
        frozenset(literal.values()),
        tuple(_rule(rule) for rule in lark.rules),
        states,
        numbers[parsed.start_states["item"]],
        numbers[parsed.end_states["item"]],
    )


def _numbering(parsed: Any) -> dict[int, int]:
    """Numbers for the states in the order in which they are met, so that the same grammar gives the same text."""
    numbers: dict[int, int] = {}
    waiting = [parsed.start_states["item"]]
    while waiting:
        state = waiting.pop()
        if state in numbers:
            continue
        numbers[state] = len(numbers)
        waiting.extend(target for _, (_, target) in sorted(parsed.states[state].items()) if isinstance(target, int))
    return numbers


def _rule(rule: Any) -> Rule:
    origin = str(rule.origin.name)
    keep_all = rule.options.keep_all_tokens
    keep = tuple(i for i, symbol in enumerate(rule.expansion) if keep_all or not getattr(symbol, "filter_out", False))
    if origin.startswith("_"):
        action = SPLICE
    elif rule.options.expand1 and len(keep) == 1 and rule.alias is None:
        action = PASS
    else:
        action = str(rule.alias or origin)
    splices = any(not rule.expansion[i].is_term and rule.expansion[i].name.startswith("_") for i in keep)
    return Rule(f"<{origin}>", len(rule.expansion), action, keep, splices)


def render(grammar: str) -> str:
    """The text of table.py."""
    table = build(grammar)
    lines = [
        '"""The parse table. Made of grammar.lark by `python -m meshc.syntax.generate`; do not edit."""',
        "",
        "# fmt: off",
        "# ruff: noqa: E501",
        f"GRAMMAR_CRC = {zlib.crc32(grammar.encode())}",
        f"PATTERNS: dict[str, str] = {table.patterns!r}",
        f"WORDS: tuple[str, ...] = {tuple(sorted(table.words))!r}",
        f"START, END = {table.start}, {table.end}",
        "RULES: tuple[tuple[str, int, str, tuple[int, ...], bool], ...] = (",
        *(f"    {(r.origin, r.size, r.action, r.keep, r.splices)!r}," for r in table.rules),
        ")",
        'STATES = """\\',
        *(" ".join(f"{symbol} {target}" for symbol, target in state.items()) for state in table.states),
        '"""',
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    TABLE.write_text(render(GRAMMAR.read_text(encoding="utf-8")), encoding="utf-8")
