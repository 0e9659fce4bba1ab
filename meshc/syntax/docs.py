"""What the formatter writes for a node, without regard to width: documents for layout.py."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import assert_never

from meshc.source import Span
from meshc.syntax import ast
from meshc.syntax.comments import Comments
from meshc.syntax.layout import Bracket, Doc, Entry

Simple = ast.Param | ast.State | ast.Assign | ast.Update | ast.Loss | ast.Metric | ast.Return
SimpleRule = ast.Claim | ast.Exchange | ast.Stage | ast.Use
Block = ast.Mesh | ast.Dims | ast.Layer | ast.Model | ast.Strategy | ast.Partition | ast.Repeat | ast.Place | ast.If

_LEVELS = {"or": 1, "and": 2, "==": 4, "!=": 4, "<": 4, "<=": 4, ">": 4, ">=": 4, "+": 5, "-": 5}
_LEVELS |= {"*": 6, "/": 6, "//": 6, "%": 6, "@": 6, "**": 8}
_NOT, _COMPARISON, _PRODUCT, _MINUS, _ATOM = 3, 4, 6, 7, 9


class Docs:
    """Makes documents of nodes, and takes the comments inside their brackets along."""

    def __init__(self, comments: Comments) -> None:
        self.comments = comments

    # ------------------------------------------------------------ expressions

    def expr(self, node: ast.Expr, level: int = 0) -> Doc:
        """`level` is the loosest precedence that needs no parentheses here."""
        doc = self._bare(node)
        return ("(", doc, ")") if _level(node) < level else doc

    def _bare(self, node: ast.Expr) -> Doc:
        match node:
            case ast.Number() | ast.Text():
                return node.span.text
            case ast.Literal():
                return "none" if node.value is None else str(node.value).lower()
            case ast.Ref():
                return node.name.text
            case ast.Unary():
                word, level = ("not ", _NOT) if node.op == "not" else (node.op, _MINUS)
                return (word, self.expr(node.operand, level))
            case ast.Binary():
                return (self._operand(node, node.left), f" {node.op} ", self._operand(node, node.right, right=True))
            case ast.Call():
                return self.call(node)
            case ast.Index():
                return (self.expr(node.table, _ATOM), "[", self.expr(node.ids), "]")
            case ast.ListExpr():
                return self.bracket("[", node.items, "]", node.span.start + 1, node.span.end)
            case _:
                assert_never(node)

    def _operand(self, node: ast.Binary, operand: ast.Expr, right: bool = False) -> Doc:
        level = _LEVELS[node.op]
        if node.op == "**":
            return self.expr(operand, _MINUS if right else _ATOM)
        if level == _PRODUCT and isinstance(operand, ast.Binary) and (operand.op == "@") != (node.op == "@"):
            return self.expr(operand, _MINUS)  # not needed, but nobody knows by heart how `@` and `*` go together
        return self.expr(operand, level + (right or level == _COMPARISON))

    def call(self, node: ast.Call) -> Doc:
        end = node.alias.span.start if node.alias else node.span.end
        bracket = self.bracket("(", (*node.args, *node.keywords), ")", node.callee.span.end, end)
        alias = f" as {node.alias.text}" if node.alias else ""
        return (node.callee.text, bracket, alias)

    def bracket(
        self, opening: str, nodes: Sequence[ast.Expr | ast.Keyword | ast.Parameter], closing: str, start: int, end: int
    ) -> Doc:
        """Entries between brackets, with the comments that lie between `start` and `end` and in no entry."""
        entries: list[Entry] = []
        place = start
        for node in nodes:
            span = _span(node)
            before = self._comments_behind(entries, place, span.start)
            entries.append(Entry(self._entry(node), before))
            place = span.end
        last = self._comments_behind(entries, place, end)
        return Bracket(opening, tuple(entries), closing, last)

    def _comments_behind(self, entries: list[Entry], start: int, end: int) -> tuple[str, ...]:
        """The comments between two entries; one on the line of the entry before is given to that."""
        comments = self.comments.take(start, end)
        if comments and entries and self.comments.same_line(start, comments[0].start):
            last = entries[-1]
            entries[-1] = Entry(last.doc, last.before, comments.pop(0).text)
        return tuple(comment.text for comment in comments)

    def _entry(self, node: ast.Expr | ast.Keyword | ast.Parameter) -> Doc:
        match node:
            case ast.Keyword():
                return (f"{node.name.text} = ", self.expr(node.value))
            case ast.Parameter():
                dims = "" if node.dims is None else f": [{names(node.dims)}]"
                of = f" of {node.of.text}" if node.of else ""
                return (node.name.text + dims + of, self._init(node.default))
            case _:
                return self.expr(node)

    def _init(self, value: ast.Expr | None) -> Doc:
        return "" if value is None else (" = ", self.expr(value))

    # ------------------------------------------------------------ statements and rules

    def simple(self, node: ast.Import | ast.Primitive | Simple | SimpleRule) -> Doc:
        match node:
            case ast.Import():
                return f"import {node.path.span.text}" + (f" as {node.alias.text}" if node.alias else "")
            case ast.Primitive():
                whole = f" {{ whole {names(node.whole)} }}" if node.whole else ""
                head = ("primitive ", self._signature(node.name, node.parameters, node.target.span.start))
                return (*head, f" -> [{names(node.dims)}] = {node.target.span.text}{whole}")
            case ast.Param():
                bank = f"[{names(node.bank)}] " if node.bank else ""
                shape = f"[{names(node.outs)}]" if node.ins is None else f"{names(node.ins)} -> {names(node.outs)}"
                return (f"param {names(node.names)}: {bank}{shape}", self._init(node.init))
            case ast.State():
                return (f"state {node.name.text}: [{names(node.dims)}]", self._init(node.init))
            case ast.Assign():
                return (f"{names(node.targets)} = ", self.expr(node.value))
            case ast.Update():
                return (f"{node.name.text} := ", self.expr(node.value))
            case ast.Loss():
                return ("loss ", self.expr(node.value))
            case ast.Metric():
                return (f"metric {node.name.text} = ", self.expr(node.value))
            case ast.Return():
                first, *others = (self.expr(value) for value in node.values)
                return ("return ", first, *(part for other in others for part in (", ", other)))
            case ast.Claim():
                return _claim(node)
            case ast.Exchange():
                return f"exchange {node.what.text} by {node.method.text} over {node.axis.text}"
            case ast.Stage():
                return f"stage {node.dim.text} over {node.axis.text}"
            case ast.Use():
                return self.call(node.call)
            case _:
                assert_never(node)

    def axis(self, node: ast.Axis, width: int) -> Doc:
        return (f"{node.name.text:<{width}} = ", "*" if node.size is None else self.expr(node.size))

    def entry(self, node: ast.Dim) -> Doc:
        return (f"{node.name.text} = ", self.expr(node.size))

    # ------------------------------------------------------------ heads of blocks

    def head(self, node: Block, brace: int) -> Doc:
        """What stands before the brace, which is at the offset `brace`."""
        match node:
            case ast.Mesh(name=None):
                return "mesh"
            case ast.Mesh():
                return f"mesh {node.name.text if node.name else ''} = regroup({names(node.regroup or ())})"
            case ast.Dims():
                return "dims"
            case ast.Partition():
                return "partition"
            case ast.Layer() | ast.Model() | ast.Strategy():
                word = type(node).__name__.lower()
                return (f"{word} ", self._signature(node.name, node.parameters, brace))
            case ast.Repeat():
                return ("repeat ", self.expr(node.count))
            case ast.If():
                return ("if ", self.expr(node.condition))
            case ast.Place():
                targets = f" {names(node.targets)}" if node.targets else ""
                return names(node.kinds) + targets + (f" of {node.of.text}" if node.of else "")
            case _:
                assert_never(node)

    def _signature(self, name: ast.Name, parameters: tuple[ast.Parameter, ...], end: int) -> Doc:
        return (name.text, self.bracket("(", parameters, ")", name.span.end, end))


def names(nodes: Iterable[ast.Name]) -> str:
    return ", ".join(node.text for node in nodes)


def _span(node: ast.Expr | ast.Keyword | ast.Parameter) -> Span:
    return node.name.span.to(node.value.span) if isinstance(node, ast.Keyword) else node.span


def _level(node: ast.Expr) -> int:
    match node:
        case ast.Binary():
            return _LEVELS[node.op]
        case ast.Unary():
            return _NOT if node.op == "not" else _MINUS
        case _:
            return _ATOM


def _claim(node: ast.Claim) -> str:
    dims = f"first({names(node.dims)})" if node.first else names(node.dims)
    axes = (".., " if node.append else "") + names(node.axes) if node.axes else "none"
    flags = (" zigzag" if node.zigzag else "") + (" repeat" if node.repeat else "")
    return f"{dims} -> {axes}{flags}" + (" where free" if node.where_free else "")
