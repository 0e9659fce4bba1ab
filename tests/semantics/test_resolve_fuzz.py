"""Whatever a spec says, resolving yields values: a program or diagnostics with places in the text, never an exception."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from meshc.semantics.resolve import resolve
from meshc.source import SourceFile

SPECS = Path(__file__).parent.parent.parent / "specs"
TOKEN = re.compile(r"\s+|[A-Za-z_][\w']*|[\d.]+|->|:=|\S")
TEXTS = [
    "\n".join((SPECS / name).read_text() for name in names)
    for names in (
        ("zoo/15_moe.mesh",),
        ("zoo/models/moe.mesh", "std/moe.mesh"),
        ("zoo/11_usp.mesh", "std/strategies.mesh"),
        ("zoo/01_easylm_gptj.mesh", "std/gpt.mesh"),
        ("zoo/01_easylm_roberta.mesh", "std/llama.mesh"),
    )
]
WORDS = sorted({word for text in TEXTS for word in TOKEN.findall(text) if not word.isspace()})


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(TEXTS),
    st.lists(st.tuples(st.integers(0, 10_000), st.sampled_from(["", *WORDS]), st.booleans()), min_size=1, max_size=4),
)
def test_any_words_in_any_place(text: str, changes: list[tuple[int, str, bool]]):
    tokens = TOKEN.findall(text)
    for place, word, keep in changes:
        place %= len(tokens)
        tokens[place] = f"{word} {tokens[place]}" if keep else word
    source = SourceFile(str(SPECS / "zoo" / "changed.mesh"), "".join(tokens))
    program, found = resolve(source, devices=8)
    assert program is not None or any(d.severity == "error" for d in found)
    for diagnostic in found:
        assert diagnostic.message
        for label in diagnostic.labels:
            assert 0 <= label.span.start <= label.span.end <= len(label.span.source.text)
