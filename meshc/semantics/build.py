"""The state of elaborating layers: the module being made, and what is known about its values beyond their dims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from meshc.diagnostics import spec_names, spec_tensors
from meshc.semantics.memory import Memory
from meshc.semantics.operands import BROKEN, Broken, Operand, Results, described, names
from meshc.semantics.program import Dim, Kind, Module, Route, Statement, Value, Weight
from meshc.semantics.report import Report
from meshc.semantics.scope import Definition, Scope
from meshc.semantics.sizes import SizeTable
from meshc.source import Span
from meshc.syntax import ast

MOST_DEEP = 50
MOST_CALLS = 20_000
"""Layers that call each other twice, fifty deep, come to more modules than any machine has room for."""

Wish = tuple[str, ...]
"""The spec's names for the results of an expression; empty where it gives none."""


@dataclass(eq=False)
class Frame:
    """One call of a layer (or the model) while its body is elaborated."""

    scope: Scope
    path: tuple[str, ...]
    is_model: bool = False
    names: dict[str, Operand] = field(default_factory=dict)
    weights: list[Weight] = field(default_factory=list)
    taken: dict[str, Span] = field(default_factory=dict)  # names of weights and instances, which share the paths
    body: list[Statement] = field(default_factory=list)
    stack: tuple[Dim, ...] = ()
    inputs: list[Value] = field(default_factory=list)
    states: dict[str, Weight] = field(default_factory=dict)
    updated: dict[str, Span] = field(default_factory=dict)
    metrics: dict[str, Span] = field(default_factory=dict)
    returned: Results = ()
    return_span: Span | None = None
    masks: int = 0
    callees: set[str] = field(default_factory=set)  # the names of what it calls
    calls: dict[str, int] = field(default_factory=dict)  # the last number given to an instance of a name

    def instance(self, base: str, span: Span) -> str:
        """A free name for a call: `base`, else `base_2`, `base_3` …"""
        count = self.calls.get(base, 0) + 1
        name = base if count == 1 else f"{base}_{count}"
        while name in self.taken:
            count += 1
            name = f"{base}_{count}"
        self.taken[name], self.calls[base] = span, count
        return name


@dataclass(eq=False)
class Facts:
    """What is known about values beyond their dims; handed on to a layer that is called with them."""

    banks: dict[Value, frozenset[Dim]] = field(default_factory=dict)  # dims that `@` batches
    counts: dict[Value, Dim] = field(default_factory=dict)  # the dim that ids count
    routes: dict[Value, Route] = field(default_factory=dict)
    weights: dict[Value, Weight] = field(default_factory=dict)
    used: set[Value] = field(default_factory=set)

    def same(self, inner: Value, outer: Value) -> None:
        """`inner` is `outer` as a layer that is called sees it."""
        for table in self._tables:
            if outer in table:
                table[inner] = table[outer]  # type: ignore[index]

    def of(self, values: Sequence[Value]) -> Facts:
        """What is known of some values, but for their use."""
        tables = ({v: table[v] for v in values if v in table} for table in self._tables)
        return Facts(*tables)  # type: ignore[arg-type]

    def add(self, others: Facts) -> None:
        for mine, table in zip(self._tables, others._tables, strict=True):
            mine.update(table)  # type: ignore[arg-type]

    @property
    def _tables(self) -> tuple[dict, ...]:
        return self.banks, self.counts, self.routes, self.weights


@dataclass(eq=False)
class Builder:
    """Elaborates one model. `open` are the layers being elaborated, outermost first."""

    dims: SizeTable
    report: Report
    facts: Facts = field(default_factory=Facts)
    frames: list[Frame] = field(default_factory=list)
    open: list[ast.Layer | ast.Model] = field(default_factory=list)
    modules: list[Module] = field(default_factory=list)
    has_loss: bool = False
    calls: int = 0
    called: set[Span] = field(default_factory=set)  # where what is called is defined
    memory: Memory = field(default_factory=Memory)
    deepest: int = 0  # how many layers were open at once
    _stamps: dict[Span, int | None] = field(default_factory=dict)

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    def stamp(self, definition: Definition) -> int | None:
        """A number for a layer with all that it calls, of which no two that differ are equal; None for one of which
        it is not known yet, or not to be known: it calls itself.
        """
        place = definition.span
        if place not in self._stamps:
            self._stamps[place] = None
            callees = self.memory.callees.get(place)
            found = [definition.scope.callable(name) for name in callees or ()]
            stamps = [self.stamp(callee) if callee else None for callee in found]
            whole = tuple(stamp for stamp in stamps if stamp is not None)
            if callees is None or len(whole) < len(callees):
                del self._stamps[place]
                return None
            self._stamps[place] = self.memory.stamp(place, whole)
        return self._stamps[place]

    # ------------------------------------------------------------ making values

    def value(self, suggestion: str, dims: tuple[Dim, ...], span: Span, wish: Wish = (), index: int = 0) -> Value:
        """A fresh float tensor, by the spec's name for it if it has one."""
        if index < len(wish):
            return Value(wish[index], dims, Kind.FLOAT, span, named=True)
        return Value(suggestion, dims, Kind.FLOAT, span)

    def emit(self, statement: Statement) -> None:
        self.frame.body.append(statement)

    def distinct(self, dims: tuple[Dim, ...], span: Span) -> bool:
        """Whether no dim is there twice; reports the first that is."""
        seen: set[str] = set()
        for dim in dims:
            if dim.name in seen:
                self.report(spec_tensors.dim_twice(dim.name, names(dims), span))
                return False
            seen.add(dim.name)
        return True

    def exhausted(self, span: Span) -> bool:
        """Whether another call would be one too many: then nothing more is elaborated, and that is said once."""
        if len(self.open) > MOST_DEEP:
            self.report(spec_names.too_deep(MOST_DEEP, span))
            return True
        self.calls += 1
        if self.calls == MOST_CALLS + 1:
            self.report(spec_names.too_many_calls(MOST_CALLS, span))
        return self.calls > MOST_CALLS

    # ------------------------------------------------------------ names

    def look_up(self, name: ast.Name) -> Operand:
        """A name in an expression: a variable or parameter of the layer, else a dim."""
        found = self.frame.names.get(name.text)
        if found is None:
            if name.text.rstrip("'") in self.dims:
                return self.dim(name)
            self.report(spec_names.unknown_value(name.text, name.span, list(self.frame.names), self.dims.entries))
            return BROKEN
        if isinstance(found, Value):
            self.facts.used.add(found)
        return found

    def dim(self, name: ast.Name) -> Dim | Broken:
        """A name where a dim must stand: a dim parameter of the layer, else a declared dim; either may be primed."""
        base = name.text.rstrip("'")
        primes = name.text[len(base) :]
        found = self.frame.names.get(base)
        if isinstance(found, Broken):
            return BROKEN
        if isinstance(found, Dim):
            self.dims.used.add(found.base)
            return replace(found, name=found.name + primes) if primes else found
        if base not in self.dims:
            if found is not None:
                self.report(spec_names.wrong_type("a dim", described(found), name.span))
            else:
                self.report(spec_names.unknown_dim(base, name.span, self._dim_names()))
            return BROKEN
        self.dims.used.add(base)
        dim = self.dims.dim(base)
        return BROKEN if dim is None else replace(dim, name=dim.name + primes) if primes else dim

    def dims_of(self, given: tuple[ast.Name, ...]) -> tuple[Dim, ...] | Broken:
        found = [self.dim(name) for name in given]
        return tuple(d for d in found if isinstance(d, Dim)) if not any(d is BROKEN for d in found) else BROKEN

    def _dim_names(self) -> list[str]:
        return [*self.dims.entries, *(n for n, found in self.frame.names.items() if isinstance(found, Dim))]
