"""The fixtures see what they are there for: with another number in a spec, or without one of its parts, logits differ."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tests.reference.test_models import ATOL, HOME, ROOT, SMALL, SPECS, built, predicted

CHANGES = [
    ("llama2_7b", "theta = 10000.0", "theta = 12000.0"),
    ("llama3_8b", "theta = 500000.0", "theta = 600000.0"),
    ("llama31_70b", "factor = 8.0", "factor = 6.0"),
    ("llama31_70b", "original = 8192", "original = 4096"),
    ("gptj_6b", "interleaved = true", "interleaved = false"),
    ("gptj_6b", "gelu_tanh(", "gelu("),
    ("gpt2_xl", "gelu_tanh(", "gelu("),
    ("roberta_large", "gelu(", "gelu_tanh("),
    ("roberta_large", "causal = false", "causal = true"),
    ("mixtral_8x7b", "top_k = top_k)\n  h", "top_k = top_k, normalise = false)\n  h"),
    ("qwen3_8b", "theta = 1000000.0", "theta = 1200000.0"),
    ("qwen3_30b_a3b", "top_k = top_k)\n  h", "top_k = top_k, normalise = false)\n  h"),
    ("gemma2_9b", "cap = 50.0", "cap = 60.0"),
    ("gemma2_9b", "queries ** -0.5", "queries ** -0.49"),
    ("gemma2_9b", "/ 30)", "/ 29)"),
    ("gemma2_9b", "window = 4096", "window = 6"),
    ("gemma3_27b", "theta = 1000000.0", "theta = 1200000.0"),
    ("gemma3_27b", "factor = 8.0", "factor = 6.0"),
    ("gemma3_27b", "theta = 10000.0", "theta = 12000.0"),
    ("gemma3_27b", "window = 1024", "window = 6"),
    ("deepseek_v3", "log(factor)) ** 2", "log(factor)) ** 1.9"),
    ("deepseek_v3", 'scaling = "yarn"', 'scaling = "linear"'),
    ("gpt_oss_20b", "original = 4096", "original = 2048"),
    ("deepseek_v3", "interleaved = true", "interleaved = false"),
    ("deepseek_v3", "scale = 2.5", "scale = 2.4"),
    ("deepseek_v3", "bias = bias", "bias = 0 * bias"),
    ("deepseek_v3", "active_groups = 4", "active_groups = 3"),
    ("gpt_oss_20b", "limit = 7.0", "limit = 6.5"),
    ("gpt_oss_20b", "steep = 1.702", "steep = 1.6"),
    ("gpt_oss_20b", "sinks = sinks", "sinks = 0.9 * sinks"),
    ("gpt_oss_20b", "whole = false", "whole = true"),
    ("gpt_oss_20b", "magnitude = 1 + 0.1", "magnitude = 1 + 0.11"),
    ("gpt_oss_20b", "window = 128", "window = 6"),
]
"""Of each the text in the spec or in the layers that it imports, and what stands there instead."""


def whole(name: str) -> str:
    """A spec with the layers that it imports written out in it."""
    read: dict[str, str] = {}

    def with_imports(text: str) -> str:
        for path in re.findall(r'^import "(.*)"$', text, re.MULTILINE):
            if path not in read:
                read[path] = ""
                read[path] = with_imports((ROOT / "specs" / path).read_text(encoding="utf-8"))
        return re.sub(r'^import ".*"$', "", text, flags=re.MULTILINE)

    text = with_imports(SPECS[name].read_text(encoding="utf-8"))
    return "\n".join((*read.values(), text))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "old", "new"), CHANGES, ids=[f"{name}: {new}" for name, _, new in CHANGES])
def test_a_spec_that_says_something_else_is_found(tmp_path: Path, name: str, old: str, new: str):
    table, sizes = SMALL[name]
    assert old in whole(name)
    changed = dict(setting.split("=") for setting in sizes.split())
    if setting := re.fullmatch(r"(window|active_groups) = (\d+)", new):
        changed[setting[1]] = setting[2]  # sizes of the small model come from outside of the text
    program = built(tmp_path, whole(name).replace(old, new), " ".join(f"{k}={v}" for k, v in changed.items()), 1)
    fixture = np.load(HOME / f"{name}.npz")
    assert np.abs(predicted(program, table, fixture) - fixture["logits"]).max() > 5 * ATOL
