"""Changes of a text, from a random generator: of letters, of tokens, of parts of its tree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from random import Random

from tests.fuzz.corpus import Seed, seeds

Change = Callable[[Random, Seed], str]

ODD = [
    "\x00",
    "\r",
    "\r\n",
    "\t",
    "\ufeff",
    "é",
    "e\u0301",
    "😀",
    "\u2028",
    "\u00a0",
    "\u202e",
    "\\",
    '"',
    "'",
    "`",
    "#",
]
SIZES = [
    "0",
    "1",
    "2",
    "3",
    "4",
    "7",
    "8",
    "16",
    "12",
    "-1",
    "1.5",
    "1e9",
    "1e400",
    "2147483648",
    "9" * 40,
    "*",
    "none",
]


@cache
def all_seeds() -> tuple[Seed, ...]:
    return seeds()


@cache
def vocabulary() -> tuple[str, ...]:
    """Every token that some text has."""
    return tuple(sorted({seed.text[start:end] for seed in all_seeds() for start, end in seed.tokens}))


@cache
def parts() -> dict[str, tuple[str, ...]]:
    """The texts of all nodes of a class."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for seed in all_seeds():
        for kind, start, end in seed.nodes:
            found[kind][seed.text[start:end]] = None
    return {kind: tuple(texts) for kind, texts in found.items()}


def drawn(seed: int, number: int) -> tuple[str, Seed]:
    """The name of the kind of change, and the text that came of it; the same for the same numbers everywhere."""
    random = Random(f"{seed}:{number}")
    begin = random.choice(all_seeds())
    kind, change = random.choice(KINDS)
    for _ in range(random.choice((1, 1, 1, 2, 3, 6))):
        begin = replace(begin, text=change(random, begin))
    return kind, begin


def letters(random: Random, seed: Seed) -> str:
    text = seed.text
    start = random.randint(0, len(text))
    end = min(len(text), start + random.choice((0, 0, 1, 1, 2, 8, 64, 400)))
    odd = random.choice(ODD) if random.random() < 0.5 else chr(random.randint(32, 126))
    put = random.choice(("", odd, odd * random.randint(1, 200), text[start:end] * 2))
    return text[:start] + put + text[end:]


def tokens(random: Random, seed: Seed) -> str:
    text = seed.text
    if not seed.tokens:
        return text + random.choice(vocabulary())
    first = random.randrange(len(seed.tokens))
    last = min(first + random.choice((0, 0, 0, 0, 1, 3, 12)), len(seed.tokens) - 1)
    start, end = seed.tokens[first][0], seed.tokens[last][1]
    held = text[start:end]
    put = random.choice(("", f"{held} {held}", random.choice(vocabulary()), _like(random, held)))
    return text[:start] + put + text[end:]


def _like(random: Random, held: str) -> str:
    """Something that could stand there as well: a number for a number, a name for a name."""
    if held[:1].isdigit():
        return random.choice(SIZES)
    if held.isidentifier():
        return random.choice([word for word in vocabulary() if word.isidentifier()])
    return f"{held} {random.choice(vocabulary())}"


def trees(random: Random, seed: Seed) -> str:
    """A node replaced by another of its class, from any text; or gone, or doubled."""
    if not seed.nodes:
        return tokens(random, seed)
    kind, start, end = random.choice(_outer(random, seed))
    held = seed.text[start:end]
    put = random.choice((random.choice(parts()[kind]),) * 3 + ("", f"{held}\n{held}"))
    return seed.text[:start] + put + seed.text[end:]


def _outer(random: Random, seed: Seed) -> Sequence[tuple[str, int, int]]:
    """Nodes of one class, drawn first, so that the many names do not hide the few rules."""
    kind = random.choice(sorted({kind for kind, _, _ in seed.nodes}))
    return [node for node in seed.nodes if node[0] == kind]


KINDS: tuple[tuple[str, Change], ...] = (("letters", letters), ("tokens", tokens), ("trees", trees))
