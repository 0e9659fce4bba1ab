"""Mistakes in names, calls and tensors."""

from __future__ import annotations

import re
from random import Random

from meshc.prove.sound.sketch import Planted, Sketch


def near(r: Random, name: str) -> str:
    """As somebody mistypes it."""
    at = r.randrange(len(name))
    return r.choice((name + "s", name + name[-1], name[:at] + "_" + name[at:] if at else name + "_", "z" + name))


# ---------------------------------------------------------------- names


def axis_of_strategy(r: Random, s: Sketch) -> Planted | None:
    calls = [(i, m) for i, line in enumerate(s.lines) if (m := re.match(r"(\w+)\((\w+)", line)) and m[2] in s.axes]
    if not calls:
        return None
    at, match = r.choice(calls)
    wrong = near(r, match[2])
    if wrong in s.axes:
        return None
    s.lines[at] = s.lines[at].replace(f"({match[2]}", f"({wrong}", 1)
    return Planted("name", f"axis `{wrong}` for `{match[2]}`")


def axis_of_rule(r: Random, s: Sketch) -> Planted | None:
    wrong = r.choice(("axis", "model", "tpu", "mp"))
    if wrong in s.axes:
        return None
    place = r.choice(("{}", "params {{ {} }}", "optimizer {{ {} }}"))
    s.lines.append(place.format(f"{r.choice(('batch', 'embed'))} -> .., {wrong}"))
    return Planted("name", f"axis `{wrong}` in a rule")


def axis_of_view(r: Random, s: Sketch) -> Planted | None:
    if not s.partition.view:
        return None
    s.partition.view = s.partition.view.replace("regroup(", "regroup(nowhere, ", 1)
    return Planted("name", "axis `nowhere` in a view")


def strategy(r: Random, s: Sketch) -> Planted | None:
    calls = [i for i, line in enumerate(s.lines) if re.match(r"\w+\(", line)]
    if not calls:
        return None
    at = r.choice(calls)
    name = s.lines[at].partition("(")[0]
    wrong = near(r, name)
    s.lines[at] = wrong + s.lines[at][len(name) :]
    return Planted("name", f"strategy `{wrong}`")


def dim_of_rule(r: Random, s: Sketch) -> Planted | None:
    wrong = near(r, r.choice(list(s.dims)))
    if wrong in s.dims or not s.axes:
        return None
    place = r.choice(("{}", "params {{ {} }}", "optimizer {{ {} }}", "within softmax {{ {} }}"))
    s.lines.append(place.format(f"{wrong} -> {r.choice(('', '.., '))}{r.choice(list(s.axes))}"))
    return Planted("name", f"dim `{wrong}` in a rule")


def place(r: Random, s: Sketch) -> Planted | None:
    wrong = near(r, r.choice(("attend", "Attention", "experts", "SwiGLU")))
    s.lines.append(f"within {wrong} {{ embed -> none }}")
    return Planted("name", f"place `{wrong}`")


def layer(r: Random, s: Sketch) -> Planted | None:
    calls = [(i, m) for i, line in enumerate(s.statements) for m in re.finditer(r"\b([A-Z]\w+)\(", line)]
    if not calls:
        return None
    at, match = r.choice(calls)
    wrong = near(r, match[1])
    s.statements[at] = s.statements[at].replace(f"{match[1]}(", f"{wrong}(", 1)
    return Planted("name", f"layer `{wrong}`")


def value(r: Random, s: Sketch) -> Planted | None:
    s.statements.append(f"metric strange = mean(square({near(r, 'table')}))")
    return Planted("name", "an unknown tensor in a metric")


def undeclared(r: Random, s: Sketch) -> Planted | None:
    dim = r.choice([d for d in ("embed", "mlp", "vocab", "batch") if d in s.dims])
    if any(re.search(rf"\b{dim}\b", size) for size in s.dims.values()):
        return None
    del s.dims[dim]
    return Planted("name", f"the dim `{dim}` is not declared")


def override(r: Random, s: Sketch) -> Planted | None:
    key = r.choice(("mesh.nowhere", "embedd", "layer"))
    s.job = {**(s.job or {}), "set": {key: 2}}
    return Planted("name", f"`set: {{{key}: 2}}`")


NAMES = (axis_of_strategy, axis_of_rule, axis_of_view, strategy, dim_of_rule, place, layer, value, undeclared, override)

# ---------------------------------------------------------------- calls


def calls(r: Random, s: Sketch) -> Planted | None:
    """Arguments and options that cannot be. A call of two more strategies of an axis may clash with others, too."""
    axis = r.choice(list(s.axes))
    wrong, what = r.choice(
        (
            (f"tensor({axis}, sequense = true)", "an unknown argument"),
            (f"data({axis}, 2)", "too many arguments"),
            ("data()", "too few arguments"),
            (f"data({axis}, a = {axis})", "an argument twice"),
            (f"pipeline({axis})", "no microbatches"),
            (f'pipeline({axis}, microbatches = 2, schedule = "1f2b")', "an unknown schedule"),
            (f"pipeline({axis}, microbatches = 2, rounds = 2)", "rounds without an interleaved schedule"),
            (f"fsdp({axis}, gathered = often)", "an unknown way to gather"),
        )
    )
    s.lines.append(wrong)
    return Planted("call", f"{what}: {wrong}")


def defined_twice(r: Random, s: Sketch) -> Planted | None:
    match r.randrange(4):
        case 0:
            s.items.append(f"mesh {{ {r.choice(list(s.axes))} = 2 }}")
            return Planted("call", "two mesh blocks")
        case 1:
            s.items.append("model Other(rows: [batch, embed]) { loss mean(rows) }")
            return Planted("call", "two models")
        case 2:
            s.items.append("partition { }")
            return Planted("call", "two partitions")
        case _:
            s.items += ["strategy again(a) { batch -> .., a }", "strategy again(a) { seq -> .., a }"]
            return Planted("call", "a strategy defined twice")


def no_loss(r: Random, s: Sketch) -> Planted | None:
    s.statements = [line for line in s.statements if not line.startswith("loss")]
    return Planted("call", "a model without a loss", "loss" not in s.model.items and not s.model.has_experts)


CALLS = (calls, calls, defined_twice, no_loss)

# ---------------------------------------------------------------- tensors


def tensors(r: Random, s: Sketch) -> Planted | None:
    """Operations on dims that their operands do not have."""
    if not s.has_sequence:
        return None
    what, dims, *lines = r.choice(
        (
            ("nothing to contract", {"odd": "8", "even": "8"}, "param w: odd -> even", "metric m = mean(x @ w)"),
            ("a mean over a dim that is not there", {}, "metric m = mean(max(x, over = vocab))"),
            ("a tensor that is no table", {}, "metric m = mean(x[tokens])"),
            ("logits without their vocab", {}, "loss next_token(x, tokens)"),
            ("a dim twice in a weight", {}, "param w: [embed, embed] = ones", "metric m = mean(w)"),
            ("an initial value that is none", {}, "param w: [embed] = oness", "metric m = mean(w)"),
            ("an update of no state", {}, "x := 0.5 * x"),
        )
    )
    s.dims |= dims
    s.statements += lines
    return Planted("name" if "oness" in lines[0] else "tensor", what)


def heads(r: Random, s: Sketch) -> Planted | None:
    if "kv_heads" not in s.dims:
        return None
    s.dims["heads"], s.dims["kv_heads"] = r.choice((("6", "4"), ("4", "8"), ("9", "2")))
    return Planted("tensor", "heads that are no multiple of their kv heads")


def unlike_rows(r: Random, s: Sketch) -> Planted | None:
    if not s.has_sequence:
        return None
    s.inputs += ", beside: [seq, embed]"
    s.statements.append("metric m = mean(beside)")
    return Planted("tensor", "an input that does not begin with the batch")


TENSORS = (tensors, tensors, heads, unlike_rows)
