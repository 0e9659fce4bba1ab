"""A generated Llama on eight devices against one written here in plain jax.numpy, with nothing of the runtime in it."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.semantics.llama import TEXT

DIMS = "batch = 8, seq = 16, embed = 16, heads = 4, kv_heads = 2, head_dim = 4, mlp = 24, vocab = 32, layers = 3"
GROUP, HEAD_DIM = 2, 4  # query heads that share a kv head, head_dim
MESHES = [
    ("replica = 2, fsdp = 2, tp = 2", "data(replica); fsdp(fsdp); tensor(tp)"),
    ("dp = 4, tp = 2", "zero2(dp); tensor(tp, sequence = true)"),
    ("fsdp = 8", "fsdp(fsdp, gathered = kept)"),
]


def norm(x, scale):
    return x / jnp.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) * scale


def turned(x):
    """Rotary positions: pair i of the head turns by position / 10000^(2i / head_dim)."""
    angle = np.arange(x.shape[1])[:, None, None] / 10_000 ** (2 * np.arange(HEAD_DIM // 2) / HEAD_DIM)
    first, second = x[..., : HEAD_DIM // 2], x[..., HEAD_DIM // 2 :]
    c, s = np.cos(angle), np.sin(angle)
    return jnp.concatenate([first * c - second * s, second * c + first * s], -1)


def attention(x, w):
    q = turned(jnp.einsum("ble,ehd->blhd", x, w["wq"]))
    k = jnp.repeat(turned(jnp.einsum("ble,ehd->blhd", x, w["wk"])), GROUP, axis=2)
    v = jnp.repeat(jnp.einsum("ble,ehd->blhd", x, w["wv"]), GROUP, axis=2)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / HEAD_DIM**0.5
    seen = np.tril(np.ones(scores.shape[-2:], bool))
    shares = jax.nn.softmax(jnp.where(seen, scores, -jnp.inf), -1)
    return jnp.einsum("bhqk,bkhd,hde->bqe", shares, v, w["wo"])


def reference_loss(weights, tokens):
    x = weights["Llama.table"][tokens]
    block = {p.removeprefix("Llama.block."): w for p, w in weights.items() if ".block." in p}
    for layer in range(3):
        own = {path: w[layer] for path, w in block.items()}
        heads = {p.removeprefix("attention."): w for p, w in own.items() if p.startswith("attention.")}
        x = x + attention(norm(x, own["attention_norm.scale"]), heads)
        y = norm(x, own["mlp_norm.scale"])
        x = x + (jax.nn.silu(y @ own["mlp.gate"]) * (y @ own["mlp.up"])) @ own["mlp.down"]
    logits = norm(x, weights["Llama.norm.scale"]) @ weights["Llama.head"]
    log_shares = jax.nn.log_softmax(logits[:, :-1], -1)
    return -jnp.take_along_axis(log_shares, tokens[:, 1:, None], -1).mean()


@pytest.mark.parametrize(("mesh", "partition"), MESHES)
def test_loss_and_gradients(run, mesh: str, partition: str):
    spec = TEXT.format(mesh=mesh, partition=partition.replace("; ", "\n  "), dims=DIMS)
    random = np.random.default_rng(0)
    shapes = {
        "table": (32, 16), "head": (16, 32), "norm.scale": (16,),
        "block.attention_norm.scale": (3, 16), "block.mlp_norm.scale": (3, 16),
        "block.attention.wq": (3, 16, 4, 4), "block.attention.wk": (3, 16, 2, 4), "block.attention.wv": (3, 16, 2, 4),
        "block.attention.wo": (3, 4, 4, 16),
        "block.mlp.gate": (3, 16, 24), "block.mlp.up": (3, 16, 24), "block.mlp.down": (3, 24, 16),
    }  # fmt: skip
    weights = {f"Llama.{p}": (random.standard_normal(s) * 0.3).astype(np.float32) for p, s in shapes.items()}
    tokens = random.integers(0, 32, (8, 16))
    loss, grads = run(spec, weights, tokens)
    expected, expected_grads = jax.value_and_grad(reference_loss)(weights, tokens)
    assert loss == pytest.approx(float(expected), rel=1e-5)
    for path, grad in grads.items():
        wanted = np.asarray(expected_grads[path])
        assert np.linalg.norm(grad - wanted) <= 1e-4 * np.linalg.norm(wanted), path
