"""Specs of any length that are correct, and Python that reads like them."""

from __future__ import annotations

from collections.abc import Callable

LAYER = """
layer Block{n}(x: [batch, seq, embed]) {{
  param up{n}: embed -> mlp
  param down{n}: mlp -> embed
  h = silu(x @ up{n})
  return x + h @ down{n}
}}
"""
CALL = "  x = Block{n}(x)\n"
HEAD = """mesh {{
  fsdp = 4
  tp = 2
}}

dims {{
  batch = 16, seq = 64
  embed = 64, mlp = 128, vocab = 256
{dims}}}
"""
MODEL = """
model Long(tokens: [batch, seq] of vocab) {{
  param table: vocab -> embed
  param in_: embed -> mlp
  param out: mlp -> embed
{params}  x = table[tokens] @ in_ @ out
{calls}  logits = x @ table
  loss next_token(logits, tokens)
}}

partition {{
  fsdp(fsdp)
  tensor(tp)
{rules}}}
"""
FUNCTION = """
def block{n}(x: float, up: float, down: float) -> float:
    \"\"\"Adds what two products make of x.\"\"\"
    weight = up * down
    hidden = max(x * up, 0.0)
    return x + hidden * down / weight

"""


def long_spec(lines: int) -> str:
    """Layer after layer, each defined, called and placed. Exactly so many lines; ValueError below the smallest."""
    layers, rest = divmod(lines - _spec().count("\n"), LAYER.count("\n") + CALL.count("\n"))
    if layers < 1:
        raise ValueError(f"{lines} lines are too few")
    blocks = "".join(LAYER.format(n=n) for n in range(layers))
    calls = "".join(CALL.format(n=n) for n in range(layers))
    return _spec(layers=blocks, calls=calls + "  # not a layer\n" * rest)


def many_statements(lines: int) -> str:
    """One model with all of them."""
    each = "  param up{n}: embed -> mlp\n  param down{n}: mlp -> embed\n  x = x + silu(x @ up{n}) @ down{n}\n"
    return _spec(calls=_repeated(each, lines))


def many_dims(lines: int) -> str:
    """A dim, a weight with it and a statement with that, again and again."""
    count = _count("\n\n\n", lines)
    return _of_dims(count)


def many_rules(lines: int) -> str:
    """Besides, a rule for each of the dims."""
    count = _count("\n\n\n\n", lines)
    return _of_dims(count, rules="".join(f"  d{n} -> tp\n" for n in range(count)))


def many_strategies(lines: int) -> str:
    """Besides, a strategy for each of the dims, and its use."""
    count = _count("\n" * 8, lines)
    defined = "".join(f"\nstrategy split{n}(a) {{\n  d{n} -> a\n}}\n" for n in range(count))
    return _of_dims(count, layers=defined, rules="".join(f"  split{n}(tp)\n" for n in range(count)))


SHAPES: dict[str, Callable[[int], str]] = {
    "statements in one model": many_statements,
    "dims": many_dims,
    "rules": many_rules,
    "strategies": many_strategies,
}


def python_text(lines: int) -> str:
    """A module of functions, of so many lines and a few less."""
    return "".join(FUNCTION.format(n=n) for n in range(lines // FUNCTION.count("\n"))).lstrip("\n")


def _of_dims(count: int, layers: str = "", rules: str = "") -> str:
    numbers = range(count)
    dims = "".join(f"  d{n} = {'embed * 2' if n % 2 else 128}\n" for n in numbers)
    params = "".join(f"  param w{n}: embed -> d{n}\n" for n in numbers)
    calls = "".join(f"  x = x + silu(x @ w{n}) @ w{n}\n" for n in numbers)
    return _spec(dims, layers, params, calls, rules)


def _spec(dims: str = "", layers: str = "", params: str = "", calls: str = "", rules: str = "") -> str:
    return HEAD.format(dims=dims) + layers + MODEL.format(params=params, calls=calls, rules=rules)


def _count(each: str, lines: int) -> int:
    return (lines - _spec().count("\n")) // each.count("\n")


def _repeated(each: str, lines: int) -> str:
    return "".join(each.format(n=n) for n in range(_count(each, lines)))
