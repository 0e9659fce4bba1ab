"""A small Llama with any mesh and partition, placed: what placement tests speak of."""

from __future__ import annotations

from meshc.diagnostics.cures import cured
from meshc.diagnostics.model import Diagnostic
from meshc.semantics.imports import read_import
from meshc.semantics.placed import PlacedProgram, PlacedWeight
from meshc.semantics.placement import place
from meshc.semantics.resolve import resolve
from meshc.semantics.trials import Subject, Trials, check_program
from meshc.source import SourceFile

SMALL = "batch = 16, seq = 64, embed = 64, heads = 8, kv_heads = 4, head_dim = 8, mlp = 128, vocab = 256, layers = 4"
BENCH = (
    "batch = 8, seq = 512, embed = 512, heads = 8, kv_heads = 4, head_dim = 64, mlp = 1408, vocab = 4096, layers = 8"
)

TEXT = """import "std/llama.mesh"
mesh {{ {mesh} }}
dims {{ {dims} }}
model Llama(tokens: [batch, seq] of vocab) {{
  param table: vocab -> embed
  x = table[tokens]
  repeat layers {{ x = LlamaBlock(x) as block }}
  param head: embed -> vocab
  logits = RMSNorm(x) as norm @ head
  loss next_token(logits, tokens)
}}
partition {{
  {partition}
}}
"""


def spec(mesh: str, partition: str, dims: str = SMALL) -> SourceFile:
    return SourceFile("llama.mesh", TEXT.format(mesh=mesh, partition=partition.replace("; ", "\n  "), dims=dims))


def placed(mesh: str, partition: str, dims: str = SMALL, microsteps: int = 1) -> PlacedProgram:
    """The placed program of a spec that must be free of mistakes."""
    program, found = resolve(spec(mesh, partition, dims))
    assert program is not None, found
    result, more = place(program, microsteps)
    assert [d for d in (*found, *more) if d.severity == "error"] == []
    return result


def diagnostics(mesh: str, partition: str, dims: str = SMALL, microsteps: int = 1) -> list[Diagnostic]:
    """All that is found, with the cures that were tried."""
    subject = Subject(spec(mesh, partition, dims), (), read_import, None, microsteps)
    program, found = resolve(subject.spec)
    if program is not None:
        found = [*found, *check_program(program, microsteps, None)[1]]
    trials = Trials(subject, program, found)
    return cured(found, trials.attempt, trials.written)


def codes(mesh: str, partition: str, dims: str = SMALL, microsteps: int = 1) -> list[str]:
    return sorted(d.code for d in diagnostics(mesh, partition, dims, microsteps))


def weight(program: PlacedProgram, path: str) -> PlacedWeight:
    return next(w for w in program.weights if ".".join(w.weight.path) == f"Llama.{path}")
