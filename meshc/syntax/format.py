"""The one way to write a spec: two spaces of indentation, a statement a line, aligned `=` in `mesh`, rows in `dims`.

A block with a single plain statement stands on one line where it fits (`if sequence { seq -> .., a where free }`), but
for `mesh`, `dims`, `model` and `partition`. Comments stay where they are; one in the middle of an expression moves
before its statement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from meshc.diagnostics.model import Diagnostic
from meshc.source import SourceFile, Span
from meshc.syntax import ast
from meshc.syntax.comments import Comments
from meshc.syntax.docs import Block, Docs, Simple, SimpleRule
from meshc.syntax.layout import INDENT, WIDTH, Doc, flat, lay_out
from meshc.syntax.parser import parse


@dataclass(frozen=True, slots=True)
class _Rows:
    """A line of `mesh`, or the line of `dims` that the user wrote, cut into as many as fit."""

    docs: tuple[Doc, ...]
    span: Span


Node = Block | ast.Import | ast.Primitive | Simple | SimpleRule | _Rows


def format_source(source: SourceFile) -> tuple[str | None, list[Diagnostic]]:
    """The text in the one way to write it, or None and what is wrong with it."""
    file, diagnostics = parse(source)
    if diagnostics:
        return None, diagnostics
    printer = _Printer(Comments(source.text))
    printer.body(file.items, 0, len(source.text), "")
    return "".join(line.rstrip() + "\n" for line in printer.lines), []


class _Printer:
    def __init__(self, comments: Comments) -> None:
        self.comments = comments
        self.docs = Docs(comments)
        self.lines: list[str] = []

    def body(self, nodes: Sequence[Node], start: int, end: int, indent: str) -> None:
        """What stands between two places: nodes, one below the other, with the comments and empty lines between."""
        place, first = start, True
        height = 1  # of the node before
        for node in nodes:
            gap = len(self.lines)
            place, first_here = self.loose_comments(place, node.span.start, indent, first)
            if not first_here and self.comments.blank_between(place, node.span.start):
                self.lines.append("")
            begin = len(self.lines)
            self.node(node, indent)
            tall = max(height, len(self.lines) - begin) > 1
            if not indent and not first and tall and "" not in self.lines[gap:begin]:
                self.lines.insert(gap, "")  # items of several lines stand apart
            place, first, height = node.span.end, False, len(self.lines) - begin
        self.loose_comments(place, end, indent, first)

    def loose_comments(self, place: int, end: int, indent: str, first: bool) -> tuple[int, bool]:
        """Comments outside statements: behind the line before, or on lines of their own. The place behind them."""
        for comment in self.comments.take(place, end):
            if self.lines and self.comments.same_line(place, comment.start):
                self.lines[-1] += f"  {comment.text}"
            else:
                if not first and self.comments.blank_between(place, comment.start):
                    self.lines.append("")
                self.lines.append(indent + comment.text)
                first = False
            place = comment.end
        return place, first

    def node(self, node: Node, indent: str) -> None:
        match node:
            case _Rows():
                self.statement(node.docs, node.span, indent)
            case ast.Mesh():
                width = max((len(axis.name.text) for axis in node.axes), default=0)
                self.block(node, [_Rows((self.docs.axis(axis, width),), axis.span) for axis in node.axes], indent)
            case ast.Dims():
                self.block(node, self.rows(node.entries, WIDTH - len(INDENT)), indent)
            case ast.Layer() | ast.Model() | ast.Repeat():
                self.block(node, node.body, indent)
            case ast.Strategy() | ast.Partition() | ast.Place() | ast.If():
                self.block(node, node.rules, indent)
            case _:
                self.statement((self.docs.simple(node),), node.span, indent)

    def statement(self, docs: tuple[Doc, ...], span: Span, indent: str) -> None:
        self.lines += [indent + comment.text for comment in self.comments.take(span.start, span.end)]
        for doc in docs:
            self.lines += lay_out(doc, indent)

    def block(self, node: Block, children: Sequence[Node], indent: str) -> None:
        brace, end = self.comments.opening_brace(node.span.start), node.span.end - 1
        head = self.docs.head(node, brace)
        self.lines += [indent + comment.text for comment in self.comments.take(node.span.start, brace)]
        line = self.one_line(node, head, children, brace, end)
        if line and (len(indent) + len(line) <= WIDTH or not children):
            self.lines.append(indent + line)
            return
        self.lines += lay_out((head, " {"), indent)
        self.body(children, brace + 1, end, indent + INDENT)
        self.lines.append(indent + "}")

    def one_line(self, node: Block, head: Doc, children: Sequence[Node], brace: int, end: int) -> str:
        """The whole block on one line, or nothing where it must not be."""
        if self.comments.between(brace, end) or (text := flat(head)) is None:
            return ""
        if not children:
            return text + " { }"
        child = children[0]
        if (
            len(children) > 1
            or isinstance(node, ast.Model | ast.Partition)
            or not isinstance(child, Simple | SimpleRule)
        ):
            return ""
        return f"{text} {{ {flat(self.docs.simple(child))} }}"

    def rows(self, entries: tuple[ast.Dim, ...], width: int) -> list[_Rows]:
        """The entries of `dims`, those together that the user wrote on one line."""
        lines: list[list[ast.Dim]] = []
        for entry in entries:
            if lines and self.comments.same_line(lines[-1][-1].span.end, entry.span.start):
                lines[-1].append(entry)
            else:
                lines.append([entry])
        return [_Rows(self.filled(line, width), line[0].span.to(line[-1].span)) for line in lines]

    def filled(self, entries: list[ast.Dim], width: int) -> tuple[Doc, ...]:
        """As many entries on a line as fit."""
        rows: list[Doc] = []
        room = 0
        for entry in entries:
            doc = self.docs.entry(entry)
            size = len(flat(doc) or " " * width) + len(", ")
            if rows and size <= room + len(", "):
                rows[-1], room = (rows[-1], ", ", doc), room - size
            else:
                rows.append(doc)
                room = width - size
        return tuple(rows)
