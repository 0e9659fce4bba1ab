"""Makes the fixtures of the model proof afresh with `transformers`: `make reference`, in an environment of its own.

For each model of specs/models a tiny one of its architecture with random weights: NAME.npz holds the weights by the
reference's names, token ids and the logits that the reference computes of them in float32. Weights are float16 numbers,
to the reference as well, so half of the bytes hold all of them. `parameters.json` holds how many numbers the reference's
full-size model has.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

HOME = Path(__file__).parent
BATCH, SEQ, VOCAB = 4, 24, 48
TINY = {
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "vocab_size": VOCAB,
}
GROUPED = TINY | {"num_key_value_heads": 2, "head_dim": 16}


@dataclass(frozen=True)
class Reference:
    """A model's architecture in `transformers`, what is the same in all sizes of it, and the sizes.

    gains: how much larger than usual weights with this in their names are, so that what holds large values back is seen
    """

    architecture: str
    common: dict[str, Any]
    full: dict[str, Any]
    tiny: dict[str, Any]
    gains: dict[str, float] = field(default_factory=dict)

    def config(self, sizes: dict[str, Any]) -> transformers.PreTrainedConfig:
        kind = getattr(transformers, self.architecture).config_class
        return kind(**self.common, **sizes, attn_implementation="eager")


def rope(theta: float, kind: str = "default", **options: float) -> dict[str, Any]:
    return {"rope_type": kind, "rope_theta": theta, **options}


def dense(*sizes: int) -> dict[str, int]:
    """Sizes in the order of the names; kv heads and a head's dim where given."""
    names = (
        "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "vocab_size",
        "num_key_value_heads", "head_dim",
    )  # fmt: skip
    return dict(zip(names, sizes, strict=False))


LLAMA31 = rope(
    5e5, "llama3", factor=8.0, original_max_position_embeddings=8192, low_freq_factor=1.0, high_freq_factor=4.0
)
YARN = {"original_max_position_embeddings": 4096, "beta_fast": 32.0, "beta_slow": 1.0}
GPT_OSS = rope(1.5e5, "yarn", factor=32.0, truncate=False, **YARN)
DEEPSEEK = rope(1e4, "yarn", factor=40.0, mscale=1.0, mscale_all_dim=1.0, **YARN)
GEMMA3 = {"sliding_attention": rope(1e4), "full_attention": rope(1e6, "linear", factor=8.0)}
GPT = {"n_embd": 16, "n_layer": 2, "n_head": 4, "vocab_size": VOCAB, "n_positions": SEQ}

MODELS = {
    "llama2_7b": Reference(
        "LlamaForCausalLM",
        {"rms_norm_eps": 1e-5, "rope_parameters": rope(1e4)},
        dense(4096, 11008, 32, 32, 32000),
        TINY,
    ),
    "llama3_8b": Reference(
        "LlamaForCausalLM",
        {"rms_norm_eps": 1e-5, "rope_parameters": rope(5e5)},
        dense(4096, 14336, 32, 32, 128256, 8),
        GROUPED,
    ),
    "llama31_70b": Reference(
        "LlamaForCausalLM",
        {"rms_norm_eps": 1e-5, "rope_parameters": LLAMA31, "max_position_embeddings": 131072},
        dense(8192, 28672, 80, 64, 128256, 8),
        GROUPED,
        {"q_proj": 2.0, "k_proj": 2.0},
    ),
    "gptj_6b": Reference(
        "GPTJForCausalLM",
        {"tie_word_embeddings": False},
        {"n_embd": 4096, "n_layer": 28, "n_head": 16, "vocab_size": 50400, "n_positions": 2048, "rotary_dim": 64},
        {**GPT, "n_embd": 32, "n_head": 2, "rotary_dim": 8, "n_inner": 24},
        {"fc_": 3.0},
    ),
    "gpt2_xl": Reference(
        "GPT2LMHeadModel",
        {},
        {"n_embd": 1600, "n_layer": 48, "n_head": 25, "vocab_size": 50257, "n_positions": 1024},
        {**GPT, "n_inner": 24},
    ),
    "roberta_large": Reference(
        "RobertaForMaskedLM",
        {"type_vocab_size": 1, "layer_norm_eps": 1e-5, "pad_token_id": 1},
        dense(1024, 4096, 24, 16, 50265) | {"max_position_embeddings": 514},
        TINY | {"max_position_embeddings": SEQ + 2},
    ),
    "mixtral_8x7b": Reference(
        "MixtralForCausalLM",
        {"rms_norm_eps": 1e-5, "rope_parameters": rope(1e6), "num_experts_per_tok": 2, "num_local_experts": 8},
        dense(4096, 14336, 32, 32, 32000, 8),
        GROUPED,
    ),
    "qwen3_8b": Reference(
        "Qwen3ForCausalLM",
        {"rms_norm_eps": 1e-6, "rope_parameters": rope(1e6)},
        dense(4096, 12288, 36, 32, 151936, 8, 128),
        GROUPED,
    ),
    "qwen3_30b_a3b": Reference(
        "Qwen3MoeForCausalLM",
        {"rms_norm_eps": 1e-6, "rope_parameters": rope(1e6), "norm_topk_prob": True},
        dense(2048, 6144, 48, 32, 151936, 4, 128)
        | {"moe_intermediate_size": 768, "num_experts": 128, "num_experts_per_tok": 8},
        GROUPED | {"moe_intermediate_size": 24, "num_experts": 8, "num_experts_per_tok": 3},
    ),
    "gemma2_9b": Reference(
        "Gemma2ForCausalLM",
        {"rms_norm_eps": 1e-6, "rope_parameters": rope(1e4)},
        dense(3584, 14336, 42, 16, 256000, 8, 256) | {"query_pre_attn_scalar": 256, "sliding_window": 4096},
        GROUPED | {"query_pre_attn_scalar": 16, "sliding_window": 5, "num_hidden_layers": 4},
        {"q_proj": 5.0, "k_proj": 5.0, "embed": 3.0},
    ),
    "gemma3_27b": Reference(
        "Gemma3ForCausalLM",
        {"rms_norm_eps": 1e-6, "rope_parameters": GEMMA3},
        dense(5376, 21504, 62, 32, 262208, 16, 128) | {"query_pre_attn_scalar": 168, "sliding_window": 1024},
        GROUPED | {"query_pre_attn_scalar": 4, "sliding_window": 5, "num_hidden_layers": 8},
    ),
    "deepseek_v3": Reference(
        "DeepseekV3ForCausalLM",
        {"rms_norm_eps": 1e-6, "rope_parameters": DEEPSEEK, "num_mtp_layers": 0, "max_position_embeddings": 163840},
        {},
        TINY
        | {
            "num_key_value_heads": 4, "num_hidden_layers": 3, "first_k_dense_replace": 1, "moe_intermediate_size": 12,
            "q_lora_rank": 12, "kv_lora_rank": 8, "qk_nope_head_dim": 8, "qk_rope_head_dim": 16, "v_head_dim": 6,
            "n_routed_experts": 16, "num_experts_per_tok": 3, "n_group": 4, "topk_group": 2,
        },
        {"q_b_proj": 4.0, "kv_": 2.0},
    ),
    "gpt_oss_20b": Reference(
        "GptOssForCausalLM",
        {"rms_norm_eps": 1e-5, "rope_parameters": GPT_OSS},
        dense(2880, 2880, 24, 64, 201088, 8, 64)
        | {"num_local_experts": 32, "num_experts_per_tok": 4, "sliding_window": 128},
        GROUPED | {"num_local_experts": 8, "num_experts_per_tok": 3, "sliding_window": 5},
        {"gate_up_proj": 4.0, "q_proj": 2.0, "k_proj": 2.0},
    ),
}  # fmt: skip


def draw(model: torch.nn.Module, gains: dict[str, float]) -> dict[str, np.ndarray]:
    """Random numbers for all weights, and for the buffers that are saved with them; norms and biases too."""
    source = torch.Generator().manual_seed(0)
    drawn = {}
    tied = getattr(model, "all_tied_weights_keys", {})  # other names of weights that are there already
    for name, weight in model.state_dict(keep_vars=True).items():
        if name in tied:
            continue
        gain = next((gain for part, gain in gains.items() if part in name), 1.0)
        noise = torch.randn(weight.shape, generator=source)
        if "norm" in name or ".ln_" in name or "LayerNorm" in name:
            value = weight.detach() + 0.2 * noise
        elif "sinks" in name:
            value = 2 * noise
        elif weight.ndim == 1 or name.endswith("_bias"):
            value = 0.2 * gain * noise
        else:
            fan_in = weight.shape[-2] if _input_first(name) else weight.shape[-1]
            value = gain * noise * (1.0 if "embed" in name or ".wte" in name else fan_in**-0.5)
        weight.data.copy_(value.half().float())
        drawn[name] = weight.detach().half().numpy()
    return drawn


def _input_first(name: str) -> bool:
    """GPT-2's products and gpt-oss's experts have inputs before outputs."""
    return any(part in name for part in ("c_attn", "c_proj", "c_fc", "experts"))


def fixture(reference: Reference) -> dict[str, np.ndarray]:
    torch.manual_seed(0)
    model = getattr(transformers, reference.architecture)(reference.config(reference.tiny)).float().eval()
    weights = draw(model, reference.gains)
    tokens = torch.randint(2, VOCAB, (BATCH, SEQ), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        logits = model(input_ids=tokens).logits
    return {"tokens": tokens.int().numpy(), "logits": logits.float().numpy(), **weights}


def parameters(reference: Reference) -> int:
    with torch.device("meta"):
        model = getattr(transformers, reference.architecture)(reference.config(reference.full))
    return sum(p.numel() for p in model.parameters())


def main() -> None:
    counts = {}
    for name, reference in MODELS.items():
        arrays = fixture(reference)
        np.savez_compressed(HOME / f"{name}.npz", **arrays)
        counts[name] = parameters(reference)
        logits = arrays["logits"]
        print(f"{name:15} {counts[name]:>15,} parameters, logits to {abs(logits).max():.1f}, {logits.std():.2f} apart")
    versions = {"transformers": transformers.__version__, "torch": torch.__version__.partition("+")[0]}
    text = json.dumps({"made with": versions, "parameters": counts}, indent=2)
    (HOME / "parameters.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
