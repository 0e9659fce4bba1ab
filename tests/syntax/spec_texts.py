"""Specs that the tests of this room read: a whole one, the layers it imports, the standard strategies, all the rest."""

from __future__ import annotations

import dataclasses
from typing import Any

from meshc.diagnostics.model import Diagnostic
from meshc.source import SourceFile, Span
from meshc.syntax import ast
from meshc.syntax.parser import parse

WHOLE = """import "std/llama.mesh"

mesh {  # outermost first
  replica = 2
  fsdp    = *  # whatever the slice leaves
  tp      = 4
}

dims {
  batch = 512, seq = 8192
  embed = 4096, heads = 32, kv_heads = 8, head_dim = 128, mlp = 14336
  vocab = 128256, layers = 32
}

model Llama(tokens: [batch, seq] of vocab) {
  param table: vocab -> embed
  x = table[tokens]
  repeat layers { x = LlamaBlock(x) }
  param head: embed -> vocab
  logits = RMSNorm(x) @ head
  loss next_token(logits, tokens)
}

partition {
  data(replica)
  fsdp(fsdp)
  tensor(tp, sequence = true)
}
"""

LAYERS = """layer RMSNorm(x, eps = 1e-5) {
  param scale: [embed] = ones
  return x * rsqrt(mean(square(x), over = embed) + eps) * scale
}

layer Attention(x: [batch, seq, embed], window = none) {
  param wq: embed -> heads, head_dim  # contracts embed, yields heads and head_dim
  param wk, wv: embed -> kv_heads, head_dim
  param wo: heads, head_dim -> embed
  q = rope(x @ wq)
  k = rope(x @ wk)
  return attend(q, k, x @ wv, causal = true, window = window) @ wo
}

layer Moe(x: [batch, seq, embed], top_k = 2) {
  param router: embed -> experts
  param gate, up: [experts] embed -> mlp  # a bank: one matrix per expert
  param down: [experts] mlp -> embed
  routed = route(x, by = softmax(x @ router, over = experts), top_k = top_k)
  h = silu(routed @ gate) * (routed @ up)
  loss 0.01 * load_balance(routed)
  return combine(h @ down, routed)
}
"""

STRATEGIES = """strategy data(a) { batch -> .., a }

strategy fsdp(a, gathered = again) {  # ZeRO-3
  batch -> .., a
  params { first(embed, q_lora, kv_lora, mlp) -> .., a }
}

strategy zero2(a) {
  batch -> .., a
  grads, optimizer { first(embed, q_lora, kv_lora, mlp) -> .., a }
}

strategy tensor(a, sequence = false) {
  heads, kv_heads, mlp, vocab -> a
  if sequence { seq -> .., a where free }  # Megatron sequence parallelism
}

strategy ring(a) {
  seq -> .., a zigzag
  within attend { exchange kv by ring over a }
}

strategy expert(a, tensor = none) {
  within experts {
    experts -> a
    mlp -> tensor
  }
}

strategy pipeline(a, microbatches, schedule = "1f1b", rounds = 1) { stage layers over a }
"""

REST = """import "blocks.mesh" as m

mesh experts = regroup(dp_shard, cp) {
  dp_shard_mod_ep = 2
  ep              = 4
}

dims {
  vocab = pad(50257, 128), half = embed // 2
}

primitive scan(x: [batch, seq], h: [batch]) -> [batch, seq] = "kernels:scan" { whole seq, embed }

model Big(tokens: [batch, seq] of vocab, labels: [batch, seq] of vocab) {
  state bias: [experts] = zeros
  param square: embed -> embed'
  x = m.Block(tokens, [1, 2, 3]) as first
  repeat 4 {
    a, b = split(x, heads, kv_heads)
    x = Moe(a @ square, top_k = 2 ** 1) as moe
  }
  bias := bias + 1e-3 * sign(-x)
  metric entropy = mean(x, over = experts)
  return x, a
}

partition {
  pipeline(pp, microbatches = 8)
  kv_heads -> tp repeat
  seq -> none
  params of Llama.table { embed -> none }
  within attend, m.Block { heads, kv_heads -> tp, sp }
  if not (a == 2 or b > 1) and c { embed' -> tp }
}
"""

ALL = {"whole": WHOLE, "layers": LAYERS, "strategies": STRATEGIES, "rest": REST}


def read(text: str) -> tuple[tuple[ast.Item, ...], list[Diagnostic]]:
    file, diagnostics = parse(SourceFile("t.mesh", text))
    return file.items, diagnostics


def tree(text: str) -> tuple[ast.Item, ...]:
    """The items of a text without mistakes."""
    items, diagnostics = read(text)
    assert not diagnostics, [d.message for d in diagnostics]
    return items


def shape(node: Any) -> Any:
    """A node without its spans, as nested tuples: its class, then its fields. A name is its text."""
    if isinstance(node, tuple):
        return tuple(shape(child) for child in node)
    if isinstance(node, ast.Name):
        return node.text
    if not dataclasses.is_dataclass(node):
        return node
    fields = [getattr(node, f.name) for f in dataclasses.fields(node) if f.name != "span"]
    return (type(node).__name__, *map(shape, fields))


def spans(node: Any) -> list[Span]:
    """The spans of a tree, in the order of a walk from the top."""
    if isinstance(node, tuple):
        return [span for child in node for span in spans(child)]
    if not dataclasses.is_dataclass(node) or isinstance(node, Span):
        return []
    span = getattr(node, "span", None)
    own = [span] if span is not None else []
    return own + [s for f in dataclasses.fields(node) if f.name != "span" for s in spans(getattr(node, f.name))]
