"""A body as lines of code: what is dead goes, what is used once moves to its use, then variables get names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from meshc.codegen.names import is_reserved
from meshc.codegen.text import Text, Var, broken, tuple_of

READABLE = 100  # columns; a longer line is not made by moving an expression to its use


@dataclass(frozen=True)
class Assign:
    """`targets = value`. `effect`: runs even if nobody uses the targets; `keep`: stays a line of its own."""

    targets: tuple[object, ...]
    value: Text
    effect: bool = False
    keep: bool = False


@dataclass(frozen=True)
class Put:
    """`place = value`: a module's state for the next step."""

    place: str
    value: Text


@dataclass(frozen=True)
class Run:
    """A call for its effect."""

    value: Text


@dataclass(frozen=True)
class Give:
    """`return value`."""

    value: Text


@dataclass(frozen=True)
class Scan:
    """A function of one turn and the `lax.scan` over it.

    carried: (before, at the start of a turn, after); the ends are in the body's `Give`
    over: (what is scanned over, its name in a turn)
    made: names of what the turns make besides, stacked
    modules: (stacked, name in a turn) of the instances called
    """

    function: Var
    decorator: str
    carried: tuple[tuple[Text, object, object], ...]
    over: tuple[tuple[Text, object], ...]
    made: tuple[object, ...]
    modules: tuple[tuple[Text, Var], ...]
    structure: Var
    weights: Var
    count: str
    body: tuple[Line, ...]
    turns: Text | None = None  # those of a stage, where it is not all of them


Plain = Assign | Put | Run | Give
Line = Plain | Scan


def texts(line: Line) -> Iterator[Text]:
    match line:
        case Scan():
            yield from (before for before, _, _ in line.carried)
            yield from (of for of, _ in (*line.over, *line.modules))
            if line.turns is not None:
                yield line.turns
        case _:
            yield line.value


def uses(lines: Sequence[Line], *, inner: bool = True) -> Counter[object]:
    """How often each variable is read, in turns of scans too."""
    found: Counter[object] = Counter()
    for line in lines:
        for text in texts(line):
            found.update(text.refs())
        if inner and isinstance(line, Scan):
            found.update(uses(line.body))
    return found


# ---------------------------------------------------------------- dead lines, lines used once


def without_dead(lines: Sequence[Line]) -> list[Line]:
    """Lines in order without assignments that nobody reads."""
    kept: list[Line] = [replace(x, body=tuple(without_dead(x.body))) if isinstance(x, Scan) else x for x in lines]
    while True:
        read = uses(kept)
        alive = [x for x in kept if not _dead(x, read)]
        if len(alive) == len(kept):
            return alive
        kept = alive


def _dead(line: Line, read: Counter[object]) -> bool:
    return isinstance(line, Assign) and not line.effect and not any(read[t] for t in line.targets)


def inlined(lines: Sequence[Line], nominal: Callable[[object], str], indent: int) -> list[Line]:
    """Each line with what only it reads written in its place, while the line stays readable."""
    lines = [replace(x, body=tuple(inlined(x.body, nominal, indent + 4))) if isinstance(x, Scan) else x for x in lines]
    reads = uses(lines)
    here = uses(lines, inner=False)
    waiting: dict[object, int] = {}
    done: list[Line | None] = []
    for line in lines:
        if not isinstance(line, Scan):
            line = _with_waiting(line, waiting, done, nominal, indent)
        done.append(line)
        if isinstance(line, Assign) and len(line.targets) == 1 and not line.keep and not line.effect:
            (target,) = line.targets
            if reads[target] == here[target] == 1:
                waiting[target] = len(done) - 1
    return [line for line in done if line is not None]


def _with_waiting(
    line: Plain,
    waiting: dict[object, int],
    done: list[Line | None],
    nominal: Callable[[object], str],
    indent: int,
) -> Plain:
    for target in list(line.value.refs()):
        if target not in waiting:
            continue
        source = done[waiting[target]]
        assert isinstance(source, Assign)
        longer = replace(line, value=line.value.replace(target, source.value))
        plain = len(source.value.pieces) == 1
        if plain or indent + len(_statement(longer, nominal)) <= READABLE:
            line = longer
            done[waiting.pop(target)] = None
    return line


def _statement(line: Line, name: Callable[[object], str]) -> str:
    match line:
        case Assign():
            return f"{', '.join(name(t) for t in line.targets)} = {line.value.render(name)}"
        case Put():
            return f"{line.place} = {line.value.render(name)}"
        case Give():
            return f"return {line.value.render(name)}"
        case Run():
            return line.value.render(name)
        case Scan():
            raise TypeError("a scan is several statements")


# ---------------------------------------------------------------- names


@dataclass
class Writer:
    """Chooses names and writes lines. `wanted` gives the name a variable would like; `taken` the module's own names."""

    wanted: Callable[[object], str]
    taken: frozenset[str]
    named: dict[object, str] = field(default_factory=dict)

    def bind(self, target: object, busy: set[str]) -> str:
        """The wanted name, or a numbered one where it still stands for something that is read later."""
        wanted = self.wanted(target)
        head, _, dims = wanted.rpartition("_") if wanted.rpartition("_")[2].isupper() else (wanted, "", "")
        name, number = wanted, 2
        while name in busy or name in self.taken or is_reserved(name):
            name, number = f"{head}{number}{'_' if dims else ''}{dims}", number + 1
        self.named[target] = name
        return name

    def write(
        self, lines: Sequence[Line], indent: int, outside: frozenset[str] = frozenset(), begun: bool = False
    ) -> list[str]:
        """`outside` are names of an enclosing function that these lines read; `begun`: others precede them."""
        last = {target: i for i, line in enumerate(lines) for target in uses([line])}
        code: list[str] = []
        for i, line in enumerate(lines):
            busy = {self.named[t] for t, at in last.items() if at > i and t in self.named} | outside
            if isinstance(line, Scan):
                scan = self._scan(line, indent, busy)
                follows = (code or begun) and scan[0].lstrip().startswith(("def ", "@"))
                code += ["", *scan] if follows else scan
                continue
            value = line.value.render(self.named.__getitem__)
            if isinstance(line, Assign):
                read = {t for t, at in last.items() if at > i}
                bound = []
                for target in line.targets:
                    bound.append(self.bind(target, busy | set(bound)) if target in read else "_")
                code += broken(value if set(bound) == {"_"} else f"{', '.join(bound)} = {value}", indent)
            else:
                code += broken(_statement(line, self.named.__getitem__), indent)
        return code

    def _scan(self, scan: Scan, indent: int, busy: set[str]) -> list[str]:
        pad = " " * indent
        captured = frozenset(self.named[t] for t in uses(scan.body) if t in self.named)
        before = [of.render(self.named.__getitem__) for of, _, _ in scan.carried]
        over = [of.render(self.named.__getitem__) for of, _ in scan.over]
        local = busy | set(captured)
        function = self.bind(scan.function, local)
        code: list[str] = []
        if scan.modules:
            structure = self.bind(scan.structure, local | {function})
            weights = self.bind(scan.weights, local | {function, structure})
            stacked = [of.render(self.named.__getitem__) for of, _ in scan.modules]
            parts = stacked[0] if len(stacked) == 1 else tuple_of(stacked)
            code += broken(f"{structure}, {weights} = nnx.split({parts})", indent)
            over = [weights, *over]
        code += [""] if code else []
        code += [f"{pad}{scan.decorator}"] if scan.decorator else []
        code += self._turn(scan, indent, function, captured)
        code.append("")
        after: list[str] = []
        for _, _, result in scan.carried:
            after.append(self.bind(result, busy | set(after)))
        made: list[str] = []
        for target in scan.made:
            made.append(self.bind(target, busy | set(after) | set(made)))
        if scan.turns is not None:
            turns = scan.turns.render(self.named.__getitem__)
            call = f"pipeline.scan({function}, {_one(before, 'None')}, {_one(over, 'None')}, {turns})"
        else:
            xs = f"{_one(over, '')}" if over else f"length={scan.count}"
            call = f"lax.scan({function}, {_one(before, 'None')}, {xs})"
        return [*code, *broken(f"{_one(after, '_')}, {_one(made, '_')} = {call}", indent)]

    def _turn(self, scan: Scan, indent: int, function: str, captured: frozenset[str]) -> list[str]:
        pad = " " * indent
        outside = set(captured) | {function}
        starts: list[str] = []
        for _, start, _ in scan.carried:
            starts.append(self.bind(start, outside | set(starts)))
        bound: set[str] = outside | set(starts)
        inner: list[str] = []
        if scan.modules:
            inner.append(self.named[scan.weights])
            outside.add(self.named[scan.structure])
        for _, target in scan.over:
            inner.append(self.bind(target, bound | set(inner)))
        body: list[str] = []
        parameters = [*starts[:1], "turn"] if len(inner) > 1 else [*starts[:1], *inner] if inner else [*starts[:1], "_"]
        if len(starts) != 1:
            parameters[0:1] = ["carried"]
            body += [f"{pad}    {', '.join(starts)} = carried"] if starts else []
        if len(inner) > 1:
            body.append(f"{pad}    {', '.join(inner)} = turn")
        if scan.modules:
            locals_: list[str] = []
            for _, module in scan.modules:
                locals_.append(self.bind(module, bound | set(inner) | set(locals_) | outside))
            merged = f"nnx.merge({self.named[scan.structure]}, {self.named[scan.weights]}, copy=True)"
            body += broken(f"{', '.join(locals_)} = {merged}", indent + 4)
        body += self.write(scan.body, indent + 4, frozenset(outside), begun=bool(body))
        return [*broken(f"def {function}({', '.join(parameters)}):", indent), *body]


def _one(items: Sequence[str], empty: str) -> str:
    """One item, a tuple of several, or what stands for none."""
    if len(items) == 1:
        return items[0]
    return f"({', '.join(items)})" if items else empty
