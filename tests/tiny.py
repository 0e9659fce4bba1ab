"""The smallest specs of which nothing is to be said, for tests that need one and no more."""

TINY = """\
mesh { dp = 2 }

dims { batch = 4, seq = 8, embed = 16, vocab = 32 }

model Tiny(tokens: [batch, seq] of vocab) {
  param table: vocab -> embed
  logits = table[tokens] @ table
  loss next_token(logits, tokens)
}

partition { data(dp) }
"""

SPLIT = """\
mesh { dp = 2 }

dims { batch = 4, seq = 8, embed = 16, vocab = 32 }

model Tiny(tokens: [batch, seq] of vocab) {
  param table: vocab -> embed
  x = table[tokens]
  loss next_token(x @ table, tokens)
}

partition { fsdp(dp) }
"""
"""With a weight that does not lie whole on each device."""
