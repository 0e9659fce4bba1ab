"""The proofs of a generated program hold; a defect planted in its text makes the right one fail."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from meshc.driver import compile_program
from meshc.job.target import Request
from meshc.prove import proofs
from meshc.prove.model import Proof, ProofName
from meshc.prove.variants import Builder, Built

SPEC = """import "std/llama.mesh"

mesh {
  dp_replicate = 2
  dp_shard = 2
  tp = 2
}

dims {
  batch = 8, seq = 8
  embed = 16, heads = 4, kv_heads = 2, head_dim = 4, mlp = 32
  vocab = 64, layers = 2
}

model Llama(tokens: [batch, seq] of vocab) {
  param table: vocab -> embed
  x = table[tokens]
  repeat layers { x = LlamaBlock(x, rate = 0.1) as block }
  param head: embed -> vocab
  logits = RMSNorm(x) as norm @ head
  loss next_token(logits, tokens)
}

partition {
  data(dp_replicate)
  fsdp(dp_shard)
  tensor(tp)
}
"""
Edit = Callable[[str], str]
Prove = Callable[..., Proof]


@pytest.fixture
def prove(tmp_path: Path) -> Prove:
    """One proof of the spec, its program on the mesh edited, the one-device program as it is."""
    path = tmp_path / "small.mesh"
    path.write_text(SPEC, encoding="utf-8")

    def prove(name: ProofName, edit: Edit = str, flags: tuple[str, ...] = ()) -> Proof:
        (proof,) = proofs.run("small.mesh", builder(path, edit, flags), [name])
        return proof

    return prove


def builder(path: Path, edit: Edit, sets: tuple[str, ...]) -> Builder:
    def build(flags: Sequence[str], on_slice: bool) -> Built:
        compiled, diagnostics = compile_program(Request(str(path), None, sets, over=tuple(flags)))
        assert compiled is not None, diagnostics
        built = Built(compiled.job, compiled.placed, compiled.collectives, compiled.files)
        if not on_slice:
            return built
        return replace(built, files={**compiled.files, "train.py": edit(compiled.files["train.py"])})

    return build


def swap(*edits: tuple[str, str]) -> Edit:
    """Replaces each pattern; one that is not there is an error of the test."""

    def edit(text: str) -> str:
        for pattern, new in edits:
            text, count = re.subn(pattern, new, text)
            assert count, pattern
        return text

    return edit


def failing(proof: Proof) -> set[str]:
    return {m.claim for m in proof.failures}


UNCHECKED = (r"out_specs=out_specs\)", "out_specs=out_specs, check_vma=False)")
NO_SUM_OVER_REPLICAS = (r"    grads = sum_dp_replicate\(grads\)\n", "")
DOUBLED = (r"    return loss, grads\n\n\n", '    return loss, grads | {"Llama.head": 2 * grads["Llama.head"]}\n\n\n')
NORMS_WHOLE = (
    (r'(norm\.scale": P\((?:None, )?)"dp_shard"\)', r"\1None)"),
    (r"gather_dp_shard\(self\.scale\[\.\.\.\], axis=0\)", 'lax.pcast(self.scale[...], "dp_shard", to="varying")'),
)


@pytest.mark.slow
@pytest.mark.parametrize("flags", [(), ("train.microsteps=2",), ("train.remat=full", "train.optimizer.name=lion")])
def test_every_proof_holds(tmp_path: Path, flags: tuple[str, ...]):
    """With dropout, whose masks must not depend on the mesh."""
    path = tmp_path / "small.mesh"
    path.write_text(SPEC, encoding="utf-8")
    found = list(proofs.run("small.mesh", builder(path, str, flags)))
    assert {p.name for p in found} == set(proofs.ALL)
    assert [(p.name, p.problem, p.failures) for p in found if not p.holds] == []


@pytest.mark.slow
def test_gradients_that_are_not_summed_over_replicas(prove: Prove):
    proof = prove("parity", swap(NO_SUM_OVER_REPLICAS, UNCHECKED))
    assert {"gradient", "loss under SGD", "parameter"} <= failing(proof)


def test_what_jax_itself_refuses_is_the_proofs_problem(prove: Prove):
    """The check of varying axes is on in every generated program."""
    proof = prove("traffic", swap(NO_SUM_OVER_REPLICAS))
    assert proof.problem is not None and "ValueError" in proof.problem
    assert not proof.holds


@pytest.mark.slow
def test_one_doubled_gradient(prove: Prove):
    proof = prove("parity", swap(DOUBLED))
    assert {m.subject for m in proof.failures if m.claim == "gradient"} == {"Llama.head"}


@pytest.mark.slow
def test_masks_that_depend_on_the_mesh(prove: Prove):
    """Two shards of the batch drop the same: no shape and no sum shows it, only the one-device program."""
    proof = prove("parity", swap((r'split=\(\("dp_replicate", "dp_shard"\), \(\), \(\)\)', "split=((), (), ())")))
    assert "loss before training" in failing(proof)


@pytest.mark.slow
def test_weights_that_are_whole_where_they_should_be_split(prove: Prove):
    proof = prove("placement", swap(*NORMS_WHOLE))
    assert failing(proof) == {f"{what}: shards of another shape" for what in ("weight", "gradient", "optimizer state")}
    assert all("norm.scale" in m.subject for m in proof.failures)


def test_a_gather_that_was_not_derived(prove: Prove):
    extra = (
        r"        return x_BLE \+ mlp_BLE",
        '        return x_BLE + mlp_BLE + 1e-9 * lax.all_gather(mlp_BLE, "dp_shard").mean(0)',
    )
    proof = prove("traffic", swap(extra))
    assert {"bytes over", "not derived"} == failing(proof)
