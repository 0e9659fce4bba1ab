"""How many ids a tokenizer has, read from its `tokenizer.json` alone."""

from __future__ import annotations

import json
from pathlib import Path


def tokenizer_ids(path: str) -> int | None:
    """One more than its highest id; None where the file is not here, or not as the `tokenizers` library writes it."""
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
        vocabulary, added = found["model"]["vocab"], found.get("added_tokens", [])
        # Unigram models have a list of pieces, the others a piece -> id.
        highest = max(vocabulary.values(), default=-1) if isinstance(vocabulary, dict) else len(vocabulary) - 1
        return 1 + max([highest, *(token["id"] for token in added)])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
