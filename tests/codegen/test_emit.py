"""What is printed: formatted as it is, with collectives where they happen, and nothing of a spec becomes code."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.codegen.programs import FEATURES, LLAMA, generated, spec

TURNS = "repeat layers {{ param w: embed -> embed'; x = x @ w }}"
NESTED = LLAMA.replace("as block }}", f"as block; {TURNS.replace('w', 'v').replace('layers', '3')} }}}}\n  {TURNS}")
RESERVED = LLAMA.replace(
    "param head",
    "; ".join(f"x = RMSNorm(x) as {name}" for name in "lambda class def del global pass raise".split())
    + "; param head",
)
CASES = {
    "one device": (spec({"tp": 1}, "tensor(tp)"), ()),
    "everything": (spec({"f": 2, "t": 2}, "fsdp(f); tensor(t, sequence = true)", FEATURES), ()),
    "microsteps": (spec({"d": 2, "f": 2}, "zero1(d); fsdp(f)", block=", rate = 0.1"), ("train.microsteps=2",)),
    "mixed precision": (spec({"f": 2}, "fsdp(f)"), ("train.precision.compute=bfloat16", "train.remat=dots")),
    "float64": (spec({"f": 2}, "fsdp(f)"), ("train.precision.params=float64",)),
    "kept": (spec({"f": 2, "t": 2}, "fsdp(f, gathered = kept); tensor(t)"), ("train.remat=full",)),
    "repeats of weights": (spec({"f": 2}, "fsdp(f)", NESTED), ()),
    "names that Python has": (spec({"f": 2}, "fsdp(f)", RESERVED), ()),
    "padded": (spec({"t": 4}, "tensor(t); kv_heads -> none", vocab="pad(29, 8)"), ()),
    "long names": (
        spec({"a" * 40: 2, "b" * 40: 2}, f"fsdp({'a' * 40}); tensor({'b' * 40})").replace("table", "table" * 9),
        (),
    ),
}  # fmt: skip


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("case", [c for c in CASES if c != "long names"])
def test_it_passes_ruff_as_it_is(tmp_path: Path, case: str):
    text, sets = CASES[case]
    path = generated(tmp_path, text, *sets)
    for command in (["format", "--check"], ["check"]):
        found = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--no-cache", str(path)], capture_output=True, text=True
        )
        assert found.returncode == 0, found.stdout


def test_each_weight_has_its_line_with_the_rule_that_put_it_there(tmp_path: Path):
    text = spec({"f": 2, "t": 2}, "fsdp(f); tensor(t)")
    program = "\n".join(lines(generated(tmp_path, text)))
    rule = text.splitlines().index("  fsdp(f)") + 1
    assert f'    "Llama.table": P("t", "f"),  # vocab, embed; tensor, fsdp small.mesh:{rule + 1}, {rule}' in program
    assert '    "Llama.block.attention.wq": P(None, "f", "t", None),' in program


def test_collectives_stand_where_they_happen(tmp_path: Path):
    program = "\n".join(lines(generated(tmp_path, spec({"f": 2, "t": 2}, "fsdp(f); tensor(t)"))))
    attention = program[program.index("class Attention") : program.index("class SwiGLU")]
    assert "x_BLE = to_t(x_BLE)" in attention
    assert 'q_BLHD = ops.rope(jnp.einsum("BLE,EHD->BLHD", x_BLE, gather_f(self.wq[...], axis=0)))' in attention
    assert "return sum_t(jnp.einsum(" in attention


@pytest.mark.parametrize(("precision", "wide"), [("params", True), ("compute", True), ("", False)])
def test_float64_is_float64(tmp_path: Path, precision: str, wide: bool):
    sets = (f"train.precision.{precision}=float64",) if precision else ()
    program = "\n".join(lines(generated(tmp_path, CASES["one device"][0], *sets)))
    main = program[program.index("def main") :]
    assert ('jax.config.update("jax_enable_x64", True)' in main) == wide


def test_one_device_has_no_collective(tmp_path: Path):
    program = "\n".join(lines(generated(tmp_path, CASES["one device"][0])))
    assert "MESH = {}" in program
    assert not re.search(r"lax\.(psum|all_gather|pcast|all_to_all)|gather_|sum_", program)


def test_alike_instances_share_a_class(tmp_path: Path):
    program = "\n".join(lines(generated(tmp_path, CASES["one device"][0])))
    assert re.findall(r"^class (\w+)", program, re.M) == ["RMSNorm", "Attention", "SwiGLU", "LlamaBlock", "Llama"]


def test_instances_that_differ_get_classes_of_their_own(tmp_path: Path):
    text = spec({"t": 1}, "tensor(t)").replace("RMSNorm(x)", "RMSNorm(x, eps = 0.5)")
    program = "\n".join(lines(generated(tmp_path, text)))
    assert re.findall(r"^class (RMSNorm\w*)", program, re.M) == ["RMSNorm", "RMSNorm2"]


@pytest.mark.parametrize(
    ("gathered", "remat", "said"),
    [
        ("kept", "attention", None),
        ("kept", "dots", "remat.dots_and_weights"),
        ("kept", "full", "remat.weights"),
        ("again", "none", "remat.all_but_gathered_weights"),
        ("again", "attention", "remat.all_but_gathered_weights"),
        ("again", "dots", "remat.dots"),
        ("again", "full", "remat.gathered_vectors"),
    ],
)
def test_what_a_layer_keeps(tmp_path: Path, gathered: str, remat: str, said: str | None):
    text = spec({"f": 2, "t": 2}, f"fsdp(f, gathered = {gathered}); tensor(t, sequence = true)")
    program = "\n".join(lines(generated(tmp_path, text, f"train.remat={remat}")))
    policies = re.findall(r"policy=([\w.]+)", program)
    assert policies == ([said] if said else [])
    assert ("recompute=False" in program) == (remat != "attention")


def test_what_calls_beside_an_inner_repeat_keep(tmp_path: Path):
    """The inner repeat says it of its turns, each call beside it of itself: else its gathered weights would be kept."""
    text = spec({"f": 2}, "fsdp(f)").replace(
        "repeat layers { x = LlamaBlock(x) as block }",
        "repeat 2 {\n    repeat layers { x = LlamaBlock(x) as block }\n    x = LlamaBlock(x) as last\n  }",
    )
    program = "\n".join(lines(generated(tmp_path, text)))
    policy = "policy=remat.all_but_gathered_weights"
    assert program.count(f"@functools.partial(jax.checkpoint, {policy})") == 1
    assert f"jax.checkpoint(last, {policy})(x_BLE)" in program


HOSTILE = ["import os", '"; import os; "', "__import__('os')", "'''", '"""', "\\", "{{ 7 * 7 }}", "{% raw %}"]


@pytest.mark.parametrize("words", HOSTILE)
def test_comments_paths_and_groups_never_become_code(tmp_path: Path, words: str):
    """The tree of the program is what it is with harmless words in the same places."""

    def tree(directory: Path, said: str) -> str:
        text = f"# {said}\n{spec({'f': 2}, 'fsdp(f)')}"
        quoted = said.replace("'", "''")
        job = f"data: {{source: text, paths: ['{quoted}']}}\ncheckpoint: {{init_from: '{quoted}', dir: '{quoted}'}}"
        program = ast.parse(generated(directory, text, job=job).read_text(encoding="utf-8"))
        for node in ast.walk(program):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                node.value = "" if said in node.value or re.fullmatch("[0-9a-f]{64}", node.value) else node.value
        return ast.dump(program)

    assert tree(tmp_path / "one", words) == tree(tmp_path / "two", "plain")


@pytest.mark.parametrize(
    "name", ["lambda", "class", "__import__", "eval", "jax", "P", "self", "key", "print", "MESH", "l"]
)
def test_any_identifier_may_be_a_name(tmp_path: Path, name: str):
    """As a dim, a weight, a tensor, an instance and an axis."""
    text = spec({name: 2}, f"fsdp({name})", vocab=name).replace("vocab =", f"{name} = 32, vocab =")
    text = text.replace("param head", f"param {name}").replace("@ head", f"@ {name}").replace("as block", f"as {name}2")
    path = generated(tmp_path, text)
    compile(path.read_text(encoding="utf-8"), "train.py", "exec")
    found = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--no-cache", str(path)], capture_output=True, text=True
    )
    assert found.returncode == 0, found.stdout


def test_long_names_still_compile(tmp_path: Path):
    path = generated(tmp_path, CASES["long names"][0])
    compile(path.read_text(encoding="utf-8"), "train.py", "exec")


def test_groups_schedule_and_frozen_weights(tmp_path: Path):
    job = """train:
  steps: 100
  optimizer:
    warmup: 10
    groups: [{match: "*.scale", weight_decay: 0.0}, {match: "Llama.table", frozen: true}, {match: "*.wq", lr_scale: 0.5}]
"""
    program = "\n".join(lines(generated(tmp_path, LLAMA and spec({"f": 2}, "fsdp(f)"), job=job)))
    assert 'runtime.schedule("cosine", peak=0.0003, steps=STEPS, warmup=10, end=0.1 * 0.0003)' in program
    assert '"*.scale": "no_decay",' in program
    assert '"frozen": optax.set_to_zero(),' in program
    assert "0.5 * learning_rate(count)" in program


@pytest.mark.parametrize(("compute", "cast"), [("bfloat16", True), ("float32", False), ("float64", False)])
def test_float32_is_a_cast_only_of_what_is_narrower(tmp_path: Path, compute: str, cast: bool):
    text = spec({"f": 2}, "fsdp(f)").replace("RMSNorm(x) as norm @ head", "float32(RMSNorm(x) as norm) @ head")
    program = "\n".join(lines(generated(tmp_path, text, f"train.precision.compute={compute}")))
    assert ("self.norm(x_BLE).astype(jnp.float32)" in program) == cast
    assert "COMPUTE" not in program or "COMPUTE = " in program


def test_a_state_stays_as_wide_as_it_is_and_what_a_repeat_hands_on_is_narrow(tmp_path: Path):
    """Else the scan's carry would change its dtype: the program would not start."""
    text = spec({"d": 2}, "data(d)").replace("as block }", "as block; x = x * seen }")
    text = text.replace(
        "  x = table[tokens]",
        "  state seen: [embed] = ones\n  x = table[tokens]\n  seen := mean(x, over = [batch, seq])",
    )
    program = "\n".join(lines(generated(tmp_path, text, "train.precision.compute=bfloat16")))
    assert "x_BLE = x_BLE * to_d(self.seen[...])" in program
    assert "return x_BLE.astype(COMPUTE), None" in program
