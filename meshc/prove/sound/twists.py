"""What may be said in other words, and what is rare and yet legal: not mistakes, as far as the drawing knows."""

from __future__ import annotations

from random import Random

from meshc.prove.mixed.partitions import draw_rule
from meshc.prove.sound.sketch import Sketch


def twist(r: Random, s: Sketch) -> None:
    for change in TWISTS:
        if r.random() < 0.12:
            change(r, s)


def _spelled_out(r: Random, s: Sketch) -> None:
    """A standard strategy by its rules, or under a name of its own."""
    for at, line in enumerate(s.lines):
        name, _, axis = line.rstrip(")").partition("(")
        rules = {
            "data": ("batch -> .., {}",),
            "tensor": ("heads, kv_heads, mlp, vocab -> {}",),
            "fsdp": ("batch -> .., {}", "params {{ first(embed, q_lora, kv_lora, mlp) -> .., {} }}"),
            "ring": ("seq -> .., {} zigzag", "within attend {{ exchange kv by ring over {} }}"),
            "gather_kv": ("seq -> .., {}", "within attend {{ exchange kv by all_gather over {} }}"),
            "zero1": ("batch -> .., {}", "optimizer {{ embed -> .., {} }}"),
        }.get(name)
        if not rules or axis not in s.axes:
            continue
        if r.random() < 0.5:
            s.lines[at : at + 1] = [rule.format(axis) for rule in rules]
        else:
            body = "; ".join(rule.format("a") for rule in rules)
            s.items.append(f"strategy own_{name}(a, off = false) {{ if not off {{ {body} }} }}")
            s.lines[at] = f"own_{name}({axis})"
        return


def _staged(r: Random, s: Sketch) -> None:
    """Zigzag without a ring's exchange by a strategy, or an axis of size 1 that claims nothing."""
    if "one" not in s.axes:
        s.partition.axes["one"] = 1
        s.lines.append(r.choice(("data(one)", "tensor(one)", "fsdp(one)", "embed -> one")))


def _settled(r: Random, s: Sketch) -> None:
    """A direct rule over what strategies claim."""
    if s.large:
        dim = r.choice([d for d in ("heads", "mlp", "vocab", "seq", "embed", "batch") if d in s.dims])
        s.lines.append(f"{dim} -> {r.choice(('none', r.choice(s.large)))}")


def _ruled(r: Random, s: Sketch) -> None:
    s.lines.append(draw_rule(r, s.model, list(s.axes), [d for d in s.model.dims if d != "head_dim"]))


def _padded(r: Random, s: Sketch) -> None:
    dim = r.choice([d for d in ("vocab", "seq", "mlp") if d in s.dims])
    s.dims[dim] = {"vocab": "pad(29, 8)", "seq": "pad(14, 16)", "mlp": "pad(30, 8)"}[dim]


def _computed(r: Random, s: Sketch) -> None:
    """Dims by arithmetic."""
    if "mlp" in s.dims and "embed" in s.dims:
        s.dims["mlp"] = r.choice(("embed * 2", "2 * (embed + 8) - 16", "embed * 4 // 2"))


def _freed(r: Random, s: Sketch) -> None:
    if s.large:
        s.lines.append(
            f"{r.choice([d for d in ('embed', 'mlp', 'vocab') if d in s.dims])} -> .., {r.choice(s.large)} where free"
        )


def _copied(r: Random, s: Sketch) -> None:
    """Fewer kv heads than shards, each kept by several."""
    if "kv_heads" in s.dims and s.large:
        axis = r.choice(s.large)
        s.lines[:] = [line for line in s.lines if f"({axis}" not in line]
        s.lines += [f"heads, mlp -> {axis}", f"kv_heads -> {axis} repeat"]
        s.dims["kv_heads"], s.dims["heads"] = r.choice((("1", "8"), ("2", "8"), ("4", "8")))


TWISTS = (_spelled_out, _staged, _settled, _ruled, _padded, _computed, _freed, _copied)
