"""Specs of any length that are correct: layer after layer, each defined, called and placed."""

from __future__ import annotations

LAYER = """
layer Block{n}(x: [batch, seq, embed]) {{
  param up{n}: embed -> mlp
  param down{n}: mlp -> embed
  h = silu(x @ up{n})
  return x + h @ down{n}
}}
"""
CALL = "  x = Block{n}(x)\n"
HEAD = """mesh {
  fsdp = 4
  tp = 2
}

dims {
  batch = 16, seq = 64
  embed = 64, mlp = 128, vocab = 256
}
"""
MODEL = """
model Long(tokens: [batch, seq] of vocab) {
  param table: vocab -> embed
  x = table[tokens]
"""
TAIL = """  logits = x @ table
  loss next_token(logits, tokens)
}

partition {
  fsdp(fsdp)
  tensor(tp)
}
"""


def long_spec(lines: int) -> str:
    """A spec of exactly so many lines, which has no problems. Raises ValueError below the smallest."""
    layer_lines = LAYER.count("\n") + CALL.count("\n")
    fixed = sum(text.count("\n") for text in (HEAD, MODEL, TAIL))
    layers, rest = divmod(lines - fixed, layer_lines)
    if layers < 1:
        raise ValueError(f"{lines} lines are less than {fixed + layer_lines}")
    numbers = range(layers)
    blocks = "".join(LAYER.format(n=n) for n in numbers)
    calls = "".join(CALL.format(n=n) for n in numbers)
    return HEAD + blocks + MODEL + calls + "  # not a layer\n" * rest + TAIL
