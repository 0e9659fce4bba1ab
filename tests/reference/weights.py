"""Weights of the references by the paths of our specs: a small table for each model.

An entry says how one weight of one layer comes out of the reference's arrays; `stacked` repeats it for the layers of a
`repeat`. Entries need not care for shapes that are the same numbers in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

Arrays = Mapping[str, np.ndarray]
Entry = Callable[[Arrays, str], np.ndarray]  # the reference's arrays, and what stands before the name
Table = dict[str, Entry]


def same(name: str) -> Entry:
    return lambda arrays, at: arrays[at + name]


def linear(name: str) -> Entry:
    """PyTorch's `Linear` has its outputs first."""
    return lambda arrays, at: arrays[at + name].T


def part(name: str, number: int, of: int = 3) -> Entry:
    """One of several products side by side in the last dim."""
    return lambda arrays, at: np.split(arrays[at + name], of, axis=-1)[number]


def expert(name: str, number: int = 0, of: int = 1) -> Entry:
    """A bank of `Linear`s, [experts, outputs, inputs], one of several side by side."""
    return lambda arrays, at: np.split(arrays[at + name], of, axis=1)[number].swapaxes(1, 2)


def every(name: str, number: int) -> Entry:
    """Every second entry of the last dim: gates and values of gpt-oss's experts in turn."""
    return lambda arrays, at: arrays[at + name][..., number::2]


def stacked(instance: str, prefix: str, layers: Iterable[int], table: Table) -> Table:
    """The weights of a repeat, in the order of its turns."""

    def whole(entry: Entry) -> Entry:
        return lambda arrays, _: np.stack([entry(arrays, prefix.format(layer)) for layer in layers])

    layers = list(layers)
    return {f"{instance}.{path}": whole(entry) for path, entry in table.items()}


# ---------------------------------------------------------------- decoders with rotary positions

LAYER = "model.layers.{}."
ENDS: Table = {"table": same("model.embed_tokens.weight"), "norm.scale": same("model.norm.weight")}
HEAD: Table = {"head": linear("lm_head.weight")}
ATTENTION: Table = {
    "attention.wq": linear("self_attn.q_proj.weight"),
    "attention.wk": linear("self_attn.k_proj.weight"),
    "attention.wv": linear("self_attn.v_proj.weight"),
    "attention.wo": linear("self_attn.o_proj.weight"),
}
NORMS: Table = {
    "attention_norm.scale": same("input_layernorm.weight"),
    "mlp_norm.scale": same("post_attention_layernorm.weight"),
}
MLP: Table = {
    "mlp.gate": linear("mlp.gate_proj.weight"),
    "mlp.up": linear("mlp.up_proj.weight"),
    "mlp.down": linear("mlp.down_proj.weight"),
}
EXPERTS: Table = {
    "moe.router": linear("mlp.gate.weight"),
    "moe.gate": expert("mlp.experts.gate_up_proj", 0, 2),
    "moe.up": expert("mlp.experts.gate_up_proj", 1, 2),
    "moe.down": expert("mlp.experts.down_proj"),
}
HEAD_NORMS: Table = {
    "attention.q_norm.scale": same("self_attn.q_norm.weight"),
    "attention.k_norm.scale": same("self_attn.k_norm.weight"),
}
FOUR_NORMS: Table = {
    "attention_norm.scale": same("input_layernorm.weight"),
    "attention_post_norm.scale": same("post_attention_layernorm.weight"),
    "mlp_norm.scale": same("pre_feedforward_layernorm.weight"),
    "mlp_post_norm.scale": same("post_feedforward_layernorm.weight"),
}


def decoder(block: Table, layers: int = 2) -> Table:
    return ENDS | HEAD | stacked("block", LAYER, range(layers), block)


LLAMA = decoder(ATTENTION | NORMS | MLP)
MIXTRAL = decoder(ATTENTION | NORMS | EXPERTS)
QWEN3 = decoder(ATTENTION | HEAD_NORMS | NORMS | MLP)
QWEN3_MOE = decoder(ATTENTION | HEAD_NORMS | NORMS | EXPERTS)

GEMMA2_BLOCK = ATTENTION | FOUR_NORMS | MLP
GEMMA2 = ENDS | stacked("near", LAYER, (0, 2), GEMMA2_BLOCK) | stacked("far", LAYER, (1, 3), GEMMA2_BLOCK)

GEMMA3_BLOCK = GEMMA2_BLOCK | HEAD_NORMS
GEMMA3 = (
    ENDS
    | stacked("near_block", LAYER, range(5), GEMMA3_BLOCK)
    | stacked("far_block", LAYER, (5,), GEMMA3_BLOCK)
    | stacked("last_block", LAYER, (6, 7), GEMMA3_BLOCK)
)

GPT_OSS_BLOCK = (
    ATTENTION
    | NORMS
    | {
        "attention.bq": same("self_attn.q_proj.bias"),
        "attention.bk": same("self_attn.k_proj.bias"),
        "attention.bv": same("self_attn.v_proj.bias"),
        "attention.bo": same("self_attn.o_proj.bias"),
        "attention.sinks": same("self_attn.sinks"),
        "moe.router": linear("mlp.router.weight"),
        "moe.router_bias": same("mlp.router.bias"),
        "moe.gate": every("mlp.experts.gate_up_proj", 0),
        "moe.gate_bias": every("mlp.experts.gate_up_proj_bias", 0),
        "moe.up": every("mlp.experts.gate_up_proj", 1),
        "moe.up_bias": every("mlp.experts.gate_up_proj_bias", 1),
        "moe.down": same("mlp.experts.down_proj"),
        "moe.down_bias": same("mlp.experts.down_proj_bias"),
    }
)
GPT_OSS = ENDS | HEAD | stacked("near", LAYER, (0,), GPT_OSS_BLOCK) | stacked("far", LAYER, (1,), GPT_OSS_BLOCK)

# ---------------------------------------------------------------- DeepSeek-V3

KV_LORA, HEADS, NOPE = 8, 4, 8


def _of_each_head(first: int | None, last: int | None) -> Entry:
    """A part of what each head's key and value are made by."""

    def take(arrays: Arrays, at: str) -> np.ndarray:
        return arrays[f"{at}self_attn.kv_b_proj.weight"].T.reshape(KV_LORA, HEADS, -1)[..., first:last]

    return take


LATENT: Table = NORMS | {
    "attention.wq_down": linear("self_attn.q_a_proj.weight"),
    "attention.q_norm.scale": same("self_attn.q_a_layernorm.weight"),
    "attention.wq": linear("self_attn.q_b_proj.weight"),
    "attention.wkv_down": lambda arrays, at: arrays[f"{at}self_attn.kv_a_proj_with_mqa.weight"][:KV_LORA].T,
    "attention.wk_turned": lambda arrays, at: arrays[f"{at}self_attn.kv_a_proj_with_mqa.weight"][KV_LORA:].T,
    "attention.kv_norm.scale": same("self_attn.kv_a_layernorm.weight"),
    "attention.wk": _of_each_head(None, NOPE),
    "attention.wv": _of_each_head(NOPE, None),
    "attention.wo": linear("self_attn.o_proj.weight"),
}
SHARED: Table = {
    "moe.bias": same("mlp.gate.e_score_correction_bias"),
    "moe.shared.gate": linear("mlp.shared_experts.gate_proj.weight"),
    "moe.shared.up": linear("mlp.shared_experts.up_proj.weight"),
    "moe.shared.down": linear("mlp.shared_experts.down_proj.weight"),
}
DEEPSEEK = (
    ENDS
    | HEAD
    | stacked("dense", LAYER, (0,), LATENT | MLP)
    | stacked("block", LAYER, (1, 2), LATENT | EXPERTS | SHARED)
)

# ---------------------------------------------------------------- GPT and BERT


def layer_norm(ours: str, theirs: str) -> Table:
    return {f"{ours}.scale": same(f"{theirs}.weight"), f"{ours}.bias": same(f"{theirs}.bias")}


GPT2_BLOCK: Table = {
    **layer_norm("attention_norm", "ln_1"),
    **layer_norm("mlp_norm", "ln_2"),
    **{f"attention.w{x}": part("attn.c_attn.weight", i) for i, x in enumerate("qkv")},
    **{f"attention.b{x}": part("attn.c_attn.bias", i) for i, x in enumerate("qkv")},
    "attention.wo": same("attn.c_proj.weight"),
    "attention.bo": same("attn.c_proj.bias"),
    "mlp.up": same("mlp.c_fc.weight"),
    "mlp.up_bias": same("mlp.c_fc.bias"),
    "mlp.down": same("mlp.c_proj.weight"),
    "mlp.down_bias": same("mlp.c_proj.bias"),
}
GPT2 = (
    {"table": same("transformer.wte.weight"), "positions": same("transformer.wpe.weight")}
    | layer_norm("norm", "transformer.ln_f")
    | stacked("block", "transformer.h.{}.", range(2), GPT2_BLOCK)
)
GPTJ_BLOCK: Table = {
    **layer_norm("norm", "ln_1"),
    **{f"attention.w{x}": linear(f"attn.{x}_proj.weight") for x in "qkv"},
    "attention.wo": linear("attn.out_proj.weight"),
    "mlp.up": linear("mlp.fc_in.weight"),
    "mlp.up_bias": same("mlp.fc_in.bias"),
    "mlp.down": linear("mlp.fc_out.weight"),
    "mlp.down_bias": same("mlp.fc_out.bias"),
}
GPTJ = (
    {"table": same("transformer.wte.weight"), "head_bias": same("lm_head.bias")}
    | HEAD
    | layer_norm("norm", "transformer.ln_f")
    | stacked("block", "transformer.h.{}.", range(2), GPTJ_BLOCK)
)
ROBERTA_BLOCK: Table = {
    **{f"attention.w{x[0]}": linear(f"attention.self.{x}.weight") for x in ("query", "key", "value")},
    **{f"attention.b{x[0]}": same(f"attention.self.{x}.bias") for x in ("query", "key", "value")},
    "attention.wo": linear("attention.output.dense.weight"),
    "attention.bo": same("attention.output.dense.bias"),
    **layer_norm("attention_norm", "attention.output.LayerNorm"),
    "mlp.up": linear("intermediate.dense.weight"),
    "mlp.up_bias": same("intermediate.dense.bias"),
    "mlp.down": linear("output.dense.weight"),
    "mlp.down_bias": same("output.dense.bias"),
    **layer_norm("mlp_norm", "output.LayerNorm"),
}
ROBERTA = (
    {
        "table": same("roberta.embeddings.word_embeddings.weight"),
        # Positions count from 2 there: the rows before are that of padding and one that is never used.
        "positions": lambda arrays, at: arrays["roberta.embeddings.position_embeddings.weight"][2:],
        "kind": lambda arrays, at: arrays["roberta.embeddings.token_type_embeddings.weight"][0],
        "head.dense": linear("lm_head.dense.weight"),
        "head.bias": same("lm_head.dense.bias"),
        "head_bias": same("lm_head.bias"),
    }
    | layer_norm("table_norm", "roberta.embeddings.LayerNorm")
    | layer_norm("head.norm", "lm_head.layer_norm")
    | stacked("block", "roberta.encoder.layer.{}.", range(2), ROBERTA_BLOCK)
)
