"""Runs the parse table over the tokens of one item, and goes on after a broken statement.

Four stacks in parallel (state, value, start, end) and a fifth with the depth of each value's tree: what is too deep for
the phases behind, which walk trees by recursion, is a mistake of the text.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from meshc.diagnostics.model import Diagnostic
from meshc.source import Part, SourceFile, Span
from meshc.syntax import errors, near_misses
from meshc.syntax.context import Context
from meshc.syntax.generate import PASS, SPLICE, Rule
from meshc.syntax.lexer import END, SEPARATOR, Tokens, lex, table

MAX_DEPTH = 100
MAX_ERRORS = 20  # of one item; after them the rest of it is left unread

# Items whose elements have parts of their own, and how many symbols more than the first such an element may find read.
_IN_PARTS = {"mesh": (0, 2, 3), "dims": (0, 2, 3), "partition": (0, 2)}

# What can be broken and left out, the rest of its block staying.
_ELEMENTS = ("<statement>", "<rule>", "<axis>", "<entry>")
_GROWS = frozenset("binary unary call named_call index list parens repeat within place place_of condition".split())


class Mistake(Exception):
    """A mistake that an action finds in what the grammar lets pass. Never leaves this room.

    Mistakes within `instead` follow from this one, and are not told; `outermost` says that the statements around are
    broken too.
    """

    def __init__(self, diagnostic: Diagnostic, instead: Span | None = None, outermost: bool = False) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic
        self.instead = instead
        self.outermost = outermost


class Splice(list[Any]):
    """Children that join the list around them."""


Action = Callable[..., Any]


@dataclass(slots=True)
class Machine:
    """One run over one item. Offsets are into the whole text; spans of the tree count from the start of its part.

    `parts` are the whole item, then those of its elements.
    """

    source: SourceFile
    parts: list[Part]
    actions: dict[str, Action]
    tokens: Tokens
    at: int
    states: list[int]
    values: list[Any]
    starts: list[int]
    ends: list[int]
    depths: list[int]
    diagnostics: list[Diagnostic]
    first_element: int = 0

    def run(self) -> Any | None:
        """The value of the item, or None where its frame is broken; what is wrong is in `diagnostics`."""
        rows, rules, end = table().states, table().rules, table().end
        states, beginnings = self.states, _block_states()
        depths = _IN_PARTS.get(self.tokens.kinds[0])
        while True:
            kind = self.tokens.kinds[self.at]
            state = states[-1]
            if state == end and kind == END:
                return self.values[0]
            move = rows[state].get(kind)
            if move is None:
                if not self._recover(near_misses.explain(self._context())):
                    return None
            elif move >= 0:
                start, stop = self.tokens.starts[self.at], self.tokens.ends[self.at]
                if depths and state in beginnings:
                    self.first_element = self.first_element or len(states)
                    if len(states) - self.first_element in depths:
                        self.parts.append(Part(self.source, start))
                self._push(move, self.source.text[start:stop], start, stop, 0)
                self.at += 1
            elif rules[~move].action == PASS:  # most reductions by far: an atom climbs through all the operators
                states[-1] = rows[states[-2]][rules[~move].origin]
            else:
                try:
                    self._reduce(rules[~move])
                except Mistake as mistake:
                    if mistake.instead is not None:
                        self._forget(mistake.instead)
                    if not self._recover(mistake.diagnostic, mistake.outermost):
                        return None

    def _push(self, state: int, value: Any, start: int, end: int, depth: int) -> None:
        self.states.append(state)
        self.values.append(value)
        self.starts.append(start)
        self.ends.append(end)
        self.depths.append(depth)

    def _pop(self, size: int) -> None:
        del self.states[-size:], self.values[-size:], self.starts[-size:], self.ends[-size:], self.depths[-size:]

    def _reduce(self, rule: Rule) -> None:
        size = rule.size
        if size:
            start, depth = self.starts[-size], self.depths[-1] if size == 1 else max(self.depths[-size:])
            values = self.values[-size:]
            children: Any = [values[i] for i in rule.keep]
            if rule.splices or rule.action == SPLICE:
                children = _spliced(children)
        else:
            start, depth, children = self.ends[-1], 0, []
        end = self.ends[-1]
        if rule.action == SPLICE:
            value: Any = children if type(children) is Splice else Splice(children)
        else:
            part = self.parts[-1] if start >= self.parts[-1].start else self.parts[0]
            span = Span(part, start - part.start, end - part.start)
            if rule.action in _GROWS:
                depth += 1
                if depth > MAX_DEPTH:
                    raise Mistake(errors.too_deep(span, MAX_DEPTH), outermost=True)
            value = self.actions[rule.action](span, *children)
        if size:
            self._pop(size)
        self._push(table().states[self.states[-1]][rule.origin], value, start, end, depth)

    # ------------------------------------------------------------ recovery

    def _context(self) -> Context:
        kinds, starts, ends = self.tokens.kinds, self.tokens.starts, self.tokens.ends
        at = self.at
        opened = self._opened()
        return Context(
            source=self.source,
            kind=kinds[at],
            span=Span(self.source, starts[at], ends[at]),
            previous_kind=kinds[at - 1] if at else "",
            previous=Span(self.source, starts[at - 1], ends[at - 1]) if at else None,
            next_kind=kinds[at + 1] if at + 1 < len(kinds) else "",
            expected=self._expected(),
            opened=opened,
            closes=self._closes(1),
            continued=at in self.tokens.continued,
            item=str(self.values[0]) if self.values else "",
        )

    def _opened(self) -> Span | None:
        """The innermost bracket or brace that is open here."""
        closed = 0
        for value, start in zip(reversed(self.values), reversed(self.starts), strict=True):
            if isinstance(value, str):
                if value in (")", "]", "}"):
                    closed += 1
                elif value in ("(", "[", "{"):
                    if not closed:
                        return Span(self.source, start, start + 1)
                    closed -= 1
        return None

    def _closes(self, depth: int) -> bool:
        """So many open brackets are closed further on in their statement."""
        for at in range(self.at, len(self.tokens.kinds)):
            kind = self.tokens.kinds[at]
            if kind in ("(", "["):
                depth += 1
            elif kind in (")", "]"):
                depth -= 1
                if not depth:
                    return True
            elif kind in ("{", "}", END):
                return False
        return False

    def _expected(self) -> frozenset[str]:
        """The terminals that can really stand here: a row of an LALR table promises too many."""
        row = table().states[self.states[-1]]
        terminals = table().words | table().patterns.keys() | {END}
        return frozenset(kind for kind in row if kind in terminals and self._accepts(kind))

    def _accepts(self, kind: str) -> bool:
        states = list(self.states)
        rows = table().states
        while (move := rows[states[-1]].get(kind)) is not None:
            if move >= 0:
                return True
            rule = table().rules[~move]
            if rule.size:
                del states[-rule.size :]
            states.append(rows[states[-1]][rule.origin])
        return False

    def _forget(self, within: Span) -> None:
        spans = [(d, d.span) for d in self.diagnostics]
        self.diagnostics = [d for d, span in spans if span is None or not within.start <= span.start < within.end]

    def _recover(self, diagnostic: Diagnostic, outermost: bool = False) -> bool:
        """Leave out the statement that is broken here, or the outermost around it. False where nothing can be kept."""
        self.diagnostics.append(diagnostic)
        rows = table().states
        braces = brackets = 0  # open here since the statement began; braces < 0 in a block that is closed already
        blocks = [depth for depth, state in enumerate(self.states) if state in _block_states()]
        places = set(blocks[:1] if outermost else blocks)
        start = self.tokens.starts[self.at]
        while self.values and (braces < 0 or len(self.values) not in places):
            value = self.values[-1]
            if isinstance(value, str):
                braces += (value == "{") - (value == "}")
                brackets += (value in ("(", "[")) - (value in (")", "]"))
            start = self.starts[-1]
            self._pop(1)
        if not self.values or len(self.diagnostics) >= MAX_ERRORS:
            return False
        element = next(name for name in _ELEMENTS if name in rows[self.states[-1]])
        self._skip(start, braces, brackets, commas=element in ("<axis>", "<entry>"))
        place = self.ends[-1]
        self._push(rows[self.states[-1]][element], Splice(), place, place, 0)
        return True

    def _skip(self, start: int, braces: int, brackets: int, commas: bool) -> None:
        """To the end of the broken statement: a separator outside its brackets, or the brace that closes its block.

        Lines that stand deeper than the one on which it began are its own: a bracket that is missing cut them off.
        """
        tokens = self.tokens
        closes = self._closes(brackets)
        while (kind := tokens.kinds[self.at]) != END:
            if self.at in tokens.continued and not closes and not braces and not self._deeper(self.at, start):
                # A bracket was never closed and swallowed the ends of lines: read on from here, outside.
                self.tokens, self.at = (
                    lex(self.source.text, tokens.starts[self.at], tokens.ends[-1], tokens.missing_braces),
                    0,
                )
                self.tokens.insert_separator()
                return
            if kind == "{":
                braces, brackets = braces + 1, 0
            elif kind == "}":
                if not braces:
                    return
                braces, brackets = braces - 1, 0
            elif kind in ("(", "["):
                brackets += 1
            elif kind in (")", "]"):
                brackets = max(brackets - 1, 0)
            elif not braces and ((kind == "," and commas and not brackets) or self._ends(kind, start)):
                return
            self.at += 1

    def _ends(self, kind: str, start: int) -> bool:
        """Here ends the statement with this offset."""
        return kind == SEPARATOR and not self._deeper(self.at + 1, start)

    def _deeper(self, at: int, start: int) -> bool:
        """A token begins a line that belongs to the statement with this offset: one that stands deeper than it."""
        kind, here = self.tokens.kinds[at], self.tokens.starts[at]
        line = self.source.position(here)[0]
        closing = kind in (")", "]")
        if kind in ("}", END) or line == self.source.position(start)[0] or _first(self.source, line) != here:
            return False
        return _indent(self.source, line) + closing > _indent(self.source, _first_line(self.source, start))


@functools.cache
def _block_states() -> frozenset[int]:
    """The states in which a statement, rule or entry can begin."""
    return frozenset(n for n, row in enumerate(table().states) if any(name in row for name in _ELEMENTS))


def _first_line(source: SourceFile, start: int) -> int:
    """The line on which a statement begins, as its indentation tells, when this part of it was read as one."""
    line = above = source.position(start)[0]
    while _indent(source, line) and (above := above - 1):
        text = source.line(above).partition("#")[0].rstrip()
        if text and _indent(source, above) < _indent(source, line):
            if text.endswith("{"):
                break
            line = above
    return line


def _indent(source: SourceFile, line: int) -> int:
    text = source.line(line)
    return len(text) - len(text.lstrip())


def _first(source: SourceFile, line: int) -> int:
    """The offset of a line's first letter that is no space."""
    return source.line_starts[line - 1] + _indent(source, line)


def _spliced(values: list[Any]) -> list[Any]:
    """The values, with lists of children spread out; the list that grows from the left is reused, not copied."""
    if not values:
        return values
    first = values[0]
    children = first if isinstance(first, Splice) else Splice([first])
    for value in values[1:]:
        if isinstance(value, Splice):
            children.extend(value)
        else:
            children.append(value)
    return children


def run(
    part: Part, tokens: Tokens, actions: dict[str, Action]
) -> tuple[Any | None, list[Diagnostic], tuple[Part, ...]]:
    """Parse the tokens of one item, which is this part of its file. With its own, the parts of its elements."""
    machine = Machine(part.source, [part], actions, tokens, 0, [table().start], [], [], [], [], [])
    return machine.run(), machine.diagnostics, tuple(machine.parts)
