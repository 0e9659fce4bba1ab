"""Mistakes in what lies where: claims, an axis twice, views, exchanges, stages, and rules that cannot hold."""

from __future__ import annotations

import re
from itertools import pairwise
from random import Random

from meshc.prove.sound.sketch import Planted, Sketch


def _two(r: Random, s: Sketch) -> tuple[str, str] | None:
    return (lambda pair: (pair[0], pair[1]))(r.sample(s.large, 2)) if len(s.large) > 1 else None


def _dim_of_x(r: Random, s: Sketch) -> str:
    return r.choice(("batch", "seq", "embed") if s.has_sequence else ("batch",))


# ---------------------------------------------------------------- views


def view_product(r: Random, s: Sketch) -> Planted | None:
    if not s.partition.view:
        return None
    s.partition.view = s.partition.view.replace("{\n", "{\n  more = 2\n", 1)
    return Planted("view", "a view of twice the devices")


def view_cuts(r: Random, s: Sketch) -> Planted | None:
    """2 * 3 against 3 * 2: no common refinement."""
    names = list(s.axes)
    pairs = [(a, b) for a, b in pairwise(names) if sorted((s.axes[a], s.axes[b])) == [2, 3]]
    if s.partition.view or not pairs:
        return None
    a, b = pairs[0]
    s.partition.view = f"mesh experts = regroup({a}, {b}) {{ outer = {s.axes[b]}, inner = {s.axes[a]} }}"
    return Planted("view", f"a view of {s.axes[b]} * {s.axes[a]} for {s.axes[a]} * {s.axes[b]}")


def view_outside(r: Random, s: Sketch) -> Planted | None:
    if "epx" not in s.partition.view:
        return None
    s.lines.append(r.choice(("vocab -> epx", "within attend { seq -> epx }", "embed -> .., epx", "data(epx)")))
    return Planted("view", f"an axis of the view outside of it: {s.lines[-1]}")


VIEWS = (view_product, view_cuts, view_outside)

# ---------------------------------------------------------------- claims


def two_strategies(r: Random, s: Sketch) -> Planted | None:
    """In the same place, or a nested one."""
    axes, dim = _two(r, s), _dim_of_x(r, s)
    if not axes:
        return None
    s.items += [f"strategy one_way(a) {{ {dim} -> a }}", f"strategy other_way(a) {{ {dim} -> a }}"]
    s.lines += [f"one_way({axes[0]})", f"other_way({axes[1]})"]
    return Planted("claim", f"`{dim}` on {axes[0]} and on {axes[1]} by two strategies", not s.speaks_of(dim))


def nested(r: Random, s: Sketch) -> Planted | None:
    axes = _two(r, s)
    if not axes or not s.has_heads:
        return None
    s.items += ["strategy wide(a) { heads -> a }", "strategy narrow(a) { within attend { heads -> a } }"]
    s.lines += [f"wide({axes[0]})", f"narrow({axes[1]})"]
    return Planted("claim", f"heads on {axes[0]} and, in attention, on {axes[1]}", not s.speaks_of("heads"))


def set_and_appended(r: Random, s: Sketch) -> Planted | None:
    axes, dim = _two(r, s), _dim_of_x(r, s)
    if not axes:
        return None
    s.items += [f"strategy sets(a) {{ {dim} -> a }}", f"strategy appends(a) {{ {dim} -> .., a }}"]
    s.lines += [f"sets({axes[0]})", f"appends({axes[1]})"]
    return Planted("claim", f"`{dim}` set to {axes[0]}, and {axes[1]} appended, by two strategies", False)


def two_direct(r: Random, s: Sketch) -> Planted | None:
    axes, dim = _two(r, s), _dim_of_x(r, s)
    if not axes:
        return None
    place = r.choice(("{}", "{}", "params {{ {} }}", "within Attention {{ {} }}"))
    s.lines += [place.format(f"{dim} -> {axis}") for axis in axes]
    return Planted("claim", f"`{dim}` on {axes[0]} and on {axes[1]} by two rules: {place}", place == "{}")


def two_pipelines(r: Random, s: Sketch) -> Planted | None:
    axes = _two(r, s)
    if not axes or "layers" not in s.dims or s.stages or not any("repeat layers" in line for line in s.statements):
        return None
    s.lines += [f"pipeline({axis}, microbatches = 2)" for axis in axes]
    return Planted("claim", "two pipelines")


def two_exchanges(r: Random, s: Sketch) -> Planted | None:
    if not s.large or not s.has_heads:
        return None
    axis = r.choice(s.large)
    s.lines += [f"ring({axis})", f"gather_kv({axis})"]
    return Planted("claim", f"keys over `{axis}` in two ways")


CLAIMS = (two_strategies, nested, set_and_appended, two_direct, two_pipelines, two_exchanges)

# ---------------------------------------------------------------- an axis twice


def twice_in_tensor(r: Random, s: Sketch) -> Planted | None:
    if not s.large or not s.has_sequence:
        return None
    axis, (one, other) = r.choice(s.large), r.sample(("batch", "seq", "embed"), 2)
    s.lines += [f"{one} -> {axis}", f"{other} -> {axis}"]
    return Planted("twice", f"`{axis}` on {one} and {other}")


def twice_at_rest(r: Random, s: Sketch) -> Planted | None:
    if not s.large or not s.has_sequence:
        return None
    axis, place = r.choice(s.large), r.choice(("params", "optimizer", "grads"))
    s.lines.append(f"{place} {{ vocab -> {axis}; embed -> {axis} }}")
    return Planted("twice", f"`{axis}` on vocab and embed in {place}", place != "grads")


def twice_in_rule(r: Random, s: Sketch) -> Planted | None:
    axis = r.choice(list(s.axes))
    s.lines.append(f"{_dim_of_x(r, s)} -> {axis}, {axis}")
    return Planted("twice", f"`{axis}` twice in a rule", s.axes[axis] > 1)


TWICE = (twice_in_tensor, twice_in_tensor, twice_at_rest, twice_in_rule)

# ---------------------------------------------------------------- attention


def no_exchange(r: Random, s: Sketch) -> Planted | None:
    if not s.large or not s.has_heads:
        return None
    sure = not s.speaks_of("seq")
    axis = r.choice(s.large)
    s.lines[:] = [line for line in s.lines if not re.search(rf"\b{axis}\b", line)]
    s.lines.append(f"seq -> .., {axis}")
    return Planted("exchange", f"keys split over `{axis}` and no exchange", sure)


def heads_apart(r: Random, s: Sketch) -> Planted | None:
    axes = _two(r, s)
    if not axes or "kv_heads" not in s.dims:
        return None
    s.lines += [f"heads -> {axes[0]}", f"kv_heads -> {axes[1]}"]
    return Planted("exchange", f"heads on {axes[0]}, kv_heads on {axes[1]}", False)


EXCHANGES = (no_exchange, no_exchange, heads_apart)

# ---------------------------------------------------------------- stages, orders, copies, what is whole, what is silent


def stages_of_nothing(r: Random, s: Sketch) -> Planted | None:
    if s.stages or not s.large:
        return None
    dim, axis = r.choice([d for d in ("embed", "mlp", "batch") if d in s.dims]), r.choice(s.large)
    s.items.append(f"strategy stages_of(a, microbatches = 2) {{ stage {dim} over a }}")
    s.lines.append(f"stages_of({axis})")
    return Planted("stage", f"stages of `{dim}`")


def dim_on_stages(r: Random, s: Sketch) -> Planted | None:
    if not s.stages or s.axes[s.stages] == 1:
        return None
    s.lines.append(f"{r.choice(('seq', 'batch', 'mlp'))} -> .., {s.stages}")
    return Planted("stage", f"{s.lines[-1]} inside of stages", False)


def zigzag_of_nothing(r: Random, s: Sketch) -> Planted | None:
    if not s.large or not s.has_sequence:
        return None
    s.lines.append(f"embed -> .., {r.choice(s.large)} zigzag")
    return Planted("order", s.lines[-1])


def copied_of_nothing(r: Random, s: Sketch) -> Planted | None:
    if not s.large:
        return None
    s.lines.append(f"{r.choice([d for d in ('mlp', 'embed', 'vocab') if d in s.dims])} -> {r.choice(s.large)} repeat")
    return Planted("copy", s.lines[-1])


def layers_split(r: Random, s: Sketch) -> Planted | None:
    if not s.large or "layers" not in s.dims:
        return None
    s.lines.append(f"{r.choice(('params', 'optimizer'))} {{ layers -> .., {r.choice(s.large)} }}")
    return Planted("whole", s.lines[-1], False)


def lost_strategy(r: Random, s: Sketch) -> Planted | None:
    if not s.large:
        return None
    s.dims["unused"] = "16"
    s.items.append("strategy lost(a) { unused -> a }")
    s.lines.append(f"lost({r.choice(s.large)})")
    return Planted("silent", "a strategy for a dim that no tensor has")


def silent_rule(r: Random, s: Sketch) -> Planted | None:
    axis = r.choice(list(s.axes))
    inner = r.choice((f"exchange kv by ring over {axis}", f"stage layers over {axis}"))
    s.lines.append(f"{r.choice(('params', 'grads', 'optimizer'))} {{ {inner} }}")
    return Planted("silent", s.lines[-1])


STAGES = (stages_of_nothing, dim_on_stages)
ORDERS = (zigzag_of_nothing,)
COPIES = (copied_of_nothing,)
WHOLES = (layers_split,)
SILENT = (lost_strategy, silent_rule)
