"""The models that are measured: a Llama as a spec, and the same as arguments of baseline/expert.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path


@dataclass(frozen=True)
class Llama:
    """Sizes of a decoder with an untied head. The default is the one whose traffic is bounded."""

    vocab: int = 4096
    embed: int = 512
    layers: int = 8
    heads: int = 8
    kv_heads: int = 4
    head_dim: int = 64
    mlp: int = 1408
    seq: int = 512
    batch: int = 8

    def spec(self, mesh: Mapping[str, int], gathered: str) -> str:
        """The spec, with axes `fsdp` and `tp`."""
        dims = ", ".join(f"{name} = {size}" for name, size in asdict(self).items())
        return SPEC.format(fsdp=mesh.get("fsdp", 1), tp=mesh.get("tp", 1), dims=dims, gathered=gathered)

    def expert(self, mesh: Mapping[str, int], remat: str) -> list[str]:
        """Arguments of expert.py that set up the same model and run no step."""
        names = {"kv_heads": "kv", "head_dim": "hd", "embed": "d"}
        sizes = {names.get(name, name): size for name, size in asdict(self).items()}
        settings = {**sizes, "fsdp": mesh.get("fsdp", 1), "tp": mesh.get("tp", 1), "steps": 0}
        flags = [text for name, value in settings.items() for text in (f"--{name}", str(value))]
        return ["--style", "manual", "--remat", remat, *flags]


SPEC = """import "std/llama.mesh"

mesh {{
  fsdp = {fsdp}
  tp = {tp}
}}

dims {{
  {dims}
}}

model Llama(tokens: [batch, seq] of vocab) {{
  param table: vocab -> embed
  x = table[tokens]
  repeat layers {{ x = LlamaBlock(x) }}
  param head: embed -> vocab
  logits = RMSNorm(x) @ head
  loss next_token(logits, tokens)
}}

partition {{
  fsdp(fsdp, gathered = {gathered})
  tensor(tp)
}}
"""

# As in baseline/expert.py: optax.chain(clip_by_global_norm(1.0), adamw(1e-3, b1=0.9, b2=0.95, weight_decay=0.1)).
OPTIMIZER = "{name: adamw, lr: 1.0e-3, schedule: constant, b1: 0.9, b2: 0.95, weight_decay: 0.1, clip: 1.0}"


@dataclass(frozen=True)
class Case:
    """One comparison: a mesh, whether gathered weights are kept, and the remat policy as each of both calls it."""

    name: str
    mesh: Mapping[str, int]
    model: Llama
    gathered: str = "kept"
    remat: str = "attention"
    expert_remat: str = "attn"

    @property
    def flags(self) -> list[str]:
        return [f"train.optimizer={OPTIMIZER}", f"train.remat={self.remat}", "data.source=synthetic"]

    @property
    def devices(self) -> int:
        return self.mesh.get("fsdp", 1) * self.mesh.get("tp", 1)


STATED = Llama()
SMALL = Llama(vocab=1024, embed=256, layers=4, heads=8, kv_heads=4, head_dim=32, mlp=704, seq=128, batch=8)
"""A step of it takes a fraction of a second on two cores."""

COMPILED = (
    Case("one device", {}, STATED),
    Case("fsdp 8, kept", {"fsdp": 8}, STATED),
    Case("fsdp 8, again, full remat", {"fsdp": 8}, STATED, "again", "full", "full"),
    Case("fsdp 4 x tp 2, kept", {"fsdp": 4, "tp": 2}, STATED),
)
TIMED = tuple(replace(case, model=SMALL) for case in COMPILED if case.gathered == "kept")


def write_spec(text: str, directory: Path, flags: Sequence[str]) -> Path:
    """Generates a spec's program under `directory`, with `--set` flags; the path of its train.py."""
    from meshc.driver import compile_program
    from meshc.job.target import Request

    directory.mkdir(parents=True)
    spec = directory / "model.mesh"
    spec.write_text(text, encoding="utf-8")
    built, diagnostics = compile_program(Request(str(spec), None, (), over=tuple(flags)))
    if built is None:
        raise RuntimeError("\n".join(f"{d.code} {d.message}" for d in diagnostics))
    for name, file in built.files.items():
        (directory / "program" / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / "program" / name).write_text(file, encoding="utf-8")
    return directory / "program" / "train.py"
