"""What devices do in a slot: work where there is some, and collective-permutes on every device.

XLA's CPU backend starts a collective-permute only when every device of the program is there, so none may stand in a
branch that only some devices take (other collectives meet their group alone). So a slot's work is traced and cut at its
permutes: what stands between them are branches, and what permutes carry where there is no work are zeros.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
from jax import lax
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var, jaxpr_as_fun, jaxprs_in_params
from jax.extend.core.primitives import cond_p, ppermute_p, remat_p, scan_p, while_p

from .control import scope, when
from .schedule import IDLE, Slots

Scope = Callable[[], contextlib.AbstractContextManager[None]]


def run(name: str, slots: Slots, every: jax.Array, device: jax.Array, work: Callable[[], Any]) -> Any:
    """What `work` yields on a device that has a microbatch in this slot, zeros like that on the others.

    Where permutes run, others may also have what goes through all loops as it came: nobody's, to be read by nobody.
    every: the microbatches of all devices of the pipeline in this tick, IDLE where there is none
    """
    traced, like = jax.make_jaxpr(work, return_shape=True)()
    (ticks, stages), busy, tree = slots.microbatch.shape, every[device] != IDLE, jax.tree.structure(like)
    if not _permutes(traced.jaxpr):
        with scope(name, slots.busy, ticks * stages):
            return tree.unflatten(when(busy, lambda: jaxpr_as_fun(traced)()))
    some = int(slots.any.sum())
    here = _Busy(busy, lambda: scope(name, slots.busy, some * stages))
    with scope(name, some, ticks):
        found = when((every != IDLE).any(), lambda: _evaluate(traced.jaxpr, traced.consts, here))
    return tree.unflatten(found)


class _Busy(NamedTuple):
    """Whether a device has work, and the scope of a branch for it: how often it is taken."""

    here: jax.Array
    scope: Scope

    def within(self, taken: jax.Array, scope: Scope) -> _Busy:
        """In a branch of a branch."""

        @contextlib.contextmanager
        def both() -> Iterator[None]:
            with self.scope(), scope():
                yield

        return _Busy(self.here & taken, both)


def _permutes(jaxpr: Jaxpr) -> bool:
    return any(map(_has_permutes, jaxpr.eqns))


def _has_permutes(eqn: JaxprEqn) -> bool:
    if eqn.primitive is scan_p and eqn.params["length"] == 0:
        return False
    return eqn.primitive is ppermute_p or any(map(_permutes, jaxprs_in_params(eqn.params)))


def _evaluate(jaxpr: Jaxpr, values: Sequence[Any], busy: _Busy) -> list[Any]:
    """The results where busy; elsewhere zeros, but what a loop or a permute makes of them."""
    known: dict[Any, Any] = dict(zip((*jaxpr.constvars, *jaxpr.invars), values, strict=True))
    for part, apart in _cut(jaxpr):
        given = [known[v] for v in part.invars]
        known |= zip(part.outvars, (_apart(part, given, busy) if apart else _branch(part, given, busy)), strict=True)
    return [v.val if isinstance(v, Literal) else known[v] for v in jaxpr.outvars]


def _cut(jaxpr: Jaxpr) -> Iterator[tuple[Jaxpr, bool]]:
    """Its operations in order: each that has permutes in it apart (True), and those between them. Without those whose
    results nothing reads: XLA does not look for them across branches."""
    groups = [(apart, list(eqns)) for apart, eqns in itertools.groupby(jaxpr.eqns, _has_permutes)]
    parts = [(apart, eqns) for apart, run in groups for eqns in ([[eqn] for eqn in run] if apart else [run])]
    read, cut = {v for v in jaxpr.outvars if isinstance(v, Var)}, []
    for apart, eqns in reversed(parts):
        later, live = set(read), []
        for eqn in reversed(eqns):
            if read.intersection(eqn.outvars):
                live.insert(0, eqn)
                read.update(v for v in eqn.invars if isinstance(v, Var))
        made = dict.fromkeys(v for eqn in live for v in eqn.outvars)
        outer = dict.fromkeys(v for eqn in live for v in eqn.invars if isinstance(v, Var) and v not in made)
        kept = [v for v in made if v in later]
        if live:
            cut.append((jaxpr.replace(constvars=[], invars=[*outer], outvars=kept, eqns=live), apart))
    return reversed(cut)


def _branch(part: Jaxpr, given: Sequence[Any], busy: _Busy) -> list[Any]:
    with busy.scope():
        return when(busy.here, lambda: jaxpr_as_fun(ClosedJaxpr(part, ()))(*given))


def _apart(part: Jaxpr, given: Sequence[Any], busy: _Busy) -> list[Any]:
    """What one operation that is or holds a permute makes."""
    (eqn,) = part.eqns
    if eqn.primitive is ppermute_p:
        return jaxpr_as_fun(ClosedJaxpr(part, ()))(*given)
    known = dict(zip(part.invars, given, strict=True))
    operands = [v.val if isinstance(v, Literal) else known[v] for v in eqn.invars]
    wanted = [v in part.outvars for v in eqn.outvars]
    if eqn.primitive is cond_p:
        return _choice(eqn, wanted, *operands, busy=busy)
    with _named(eqn):
        return (_scan if eqn.primitive is scan_p else _call)(eqn, wanted, operands, busy)


def _only(jaxpr: Jaxpr, wanted: Sequence[bool]) -> Jaxpr:
    return jaxpr.replace(outvars=list(itertools.compress(jaxpr.outvars, wanted)))


def _named(eqn: JaxprEqn) -> contextlib.AbstractContextManager[None]:
    """The scope in which it was traced."""
    name = str(eqn.source_info.name_stack)
    return jax.named_scope(name) if name else contextlib.nullcontext()


def _scan(eqn: JaxprEqn, wanted: Sequence[bool], operands: Sequence[Any], busy: _Busy) -> list[Any]:
    p = eqn.params
    body, begin, end = p["jaxpr"], p["num_consts"], p["num_consts"] + p["num_carry"]
    carried = end - begin
    if p["length"] == 1:  # no loop, as XLA has it: what it hands on may be wanted by nothing
        over = [x[0] for x in operands[end:]]
        made = _evaluate(_only(body.jaxpr, wanted), (*body.consts, *operands[:end], *over), busy)
        carry = sum(wanted[:carried])
        return [*made[:carry], *(x[None] for x in made[carry:])]

    def turn(carry: Any, over: Any) -> tuple[Any, Any]:
        made = _evaluate(body.jaxpr, (*body.consts, *operands[:begin], *carry, *over), busy)
        return made[:carried], made[carried:]

    options = {name: p[name] for name in ("length", "reverse", "unroll")}
    carry, made = lax.scan(turn, operands[begin:end], operands[end:], **options)
    return list(itertools.compress([*carry, *made], wanted))


def _choice(eqn: JaxprEqn, wanted: Sequence[bool], index: jax.Array, *operands: Any, busy: _Busy) -> list[Any]:
    """Of a branch on what devices of a permute agree on: each in turn, where it is taken."""
    made = []
    for number, branch in enumerate(eqn.params["branches"]):
        taken = busy.within(index == number, lambda: _named(eqn))
        made.append(_evaluate(_only(branch.jaxpr, wanted), (*branch.consts, *operands), taken))
    return lax.switch(index, [lambda one=one: one for one in made])


def _call(eqn: JaxprEqn, wanted: Sequence[bool], operands: Sequence[Any], busy: _Busy) -> list[Any]:
    """Of one with a single jaxpr that it runs once: a call, or a part that is rematerialised."""
    assert eqn.primitive is not while_p, "a permute in a loop of unknown length"
    (inner,) = (v for v in eqn.params.values() if isinstance(v, Jaxpr | ClosedJaxpr))
    if isinstance(inner, ClosedJaxpr):
        return _evaluate(_only(inner.jaxpr, wanted), (*inner.consts, *operands), busy)
    if eqn.primitive is remat_p:  # of nothing: what is left is the barrier behind which things are computed again
        nothing = inner.replace(outvars=inner.invars, eqns=[])
        operands = remat_p.bind(*operands, **{**eqn.params, "jaxpr": nothing})
    return _evaluate(_only(inner, wanted), operands, busy)
