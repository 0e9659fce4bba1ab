"""Proofs of a correct two-layer program hold; each defect planted in its text makes the right one fail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from meshc.prove import parity, process, traffic
from meshc.prove.model import Measure
from meshc.prove.process import Outcome, Task
from meshc.prove.wire import bytes_by_axes, collectives
from meshc.semantics.collectives import Collective, CollectiveOp
from meshc.source import SourceFile, Span

CORRECT = Path(__file__).with_name("two_layers.py").read_text(encoding="utf-8")
MESH = 'MESH = {"replica": 2, "fsdp": 2, "tp": 2}'
SIZES = {"replica": 2, "fsdp": 2, "tp": 2}
AXES = {
    "Net.table": [[], ["fsdp"]],
    "Net.scale": [[]],
    "Net.up": [["fsdp"], ["tp"]],
    "Net.down": [["tp"], ["fsdp"]],
}

Prove = Callable[..., Outcome]


def edited(*edits: tuple[str, str]) -> str:
    text = CORRECT
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    return text


WHOLE_TABLE = edited(
    ('"Net.table": P(None, "fsdp"),', '"Net.table": P(),'),
    ('gather(weights["Net.table"], axis=1)', 'over(lax.pcast, "fsdp", to="varying")(weights["Net.table"])'),
)


@pytest.fixture
def prove(tmp_path: Path) -> Prove:
    """Runs every float64 task on a program's text, and leaves the compiled step's HLO in `step.hlo`."""

    def prove(text: str, *names: str) -> Outcome:
        paths = {
            "mesh": _written(tmp_path / "mesh", text),
            "one": _written(tmp_path / "one", edited((MESH, "MESH = {}"))),
        }
        tasks = [
            Task("parity", "gradients", paths),
            Task("parity", "descent", {**paths, "steps": 5}),
            Task("placement", "weight_shards", {**paths, "derived": {"rest": AXES, "optimizer": AXES}}),
            Task("placement", "optimizer_shards", {**paths, "derived": {"rest": AXES, "optimizer": AXES}}),
            Task("placement", "gradient_shards", {**paths, "derived": {"rest": AXES, "optimizer": AXES}}),
            Task("traffic", "traffic", {"mesh": paths["mesh"], "text": str(tmp_path / "step.hlo")}),
        ]
        return process.run([t for t in tasks if t.task.endswith(names)], 8, True, tmp_path)

    return prove


def _written(directory: Path, text: str) -> str:
    directory.mkdir()
    (directory / "train.py").write_text(text, encoding="utf-8")
    return str(directory / "train.py")


def failing(measures: list[Measure]) -> set[str]:
    return {m.claim for m in measures if not m.holds}


def test_a_correct_program_holds(prove: Prove, tmp_path: Path):
    found = prove(CORRECT, "gradients", "descent", "shards", "traffic")
    assert not found.problems
    assert {m.claim for m in found.measures["parity"]} == {
        "initial values", "loss before training", "gradient", "loss under SGD", "parameter",
    }  # fmt: skip
    assert not failing(found.measures["parity"])
    assert not failing(found.measures["placement"])
    hlo = (tmp_path / "step.hlo").read_text(encoding="utf-8")
    assert set(bytes_by_axes(collectives(hlo, SIZES))) == {("replica",), ("fsdp",), ("tp",), ("replica", "fsdp")}


def test_a_missing_sum_of_gradients(prove: Prove):
    """Each replica keeps its own gradient; only with the varying-axes check off does that get as far as running."""
    text = edited(
        ('sum_replicas = over(lax.psum, "replica")', "sum_replicas = lambda g: g"),
        ("check_vma=True", "check_vma=False"),
    )
    found = prove(text, "gradients", "shards")
    assert "gradient" in failing(found.measures["parity"])
    assert "gradient: copies that differ" in failing(found.measures["placement"])


def test_a_missing_sum_that_jax_refuses(prove: Prove):
    found = prove(edited(('sum_replicas = over(lax.psum, "replica")', "sum_replicas = lambda g: g")), "gradients")
    assert "ValueError" in found.problems["parity"]


def test_a_missing_sum_of_partial_products(prove: Prove):
    text = edited(("y_BE = sum_tp(", "y_BE = ("), ("check_vma=True", "check_vma=False"))
    assert "loss before training" in failing(prove(text, "gradients").measures["parity"])


def test_one_doubled_gradient(prove: Prove):
    text = edited(
        ("return sum_all(total), grads", 'return sum_all(total), {**grads, "Net.scale": 2 * grads["Net.scale"]}')
    )
    found = prove(text, "gradients", "descent")
    wrong = [m.subject for m in found.measures["parity"] if m.claim == "gradient" and not m.holds]
    assert wrong == ["Net.scale"]
    assert {"gradient", "loss under SGD", "parameter"} == failing(found.measures["parity"])


def test_clipping_by_a_shard_instead_of_the_whole(prove: Prove):
    """The first loss and the gradients are right; only training shows it."""
    text = edited(("optax.clip_by_global_norm(1.0)", "optax.clip_by_global_norm(1.0 + 1e-6 * bool(MESH))"))
    assert failing(prove(text, "gradients", "descent").measures["parity"]) == {"loss under SGD", "parameter"}


def test_other_initial_values_on_a_mesh(prove: Prove):
    text = edited(("jax.random.key(seed)", "jax.random.key(seed + bool(MESH))"))
    assert "initial values" in failing(prove(text, "gradients").measures["parity"])


def test_a_weight_that_is_whole_where_it_should_be_split(prove: Prove):
    """Nothing but memory is wrong, so only the shards tell."""
    found = prove(WHOLE_TABLE, "gradients", "shards")
    assert not failing(found.measures["parity"])
    wrong = {m.subject for m in found.measures["placement"] if not m.holds}
    assert wrong == {"Net.table"}


def test_a_weight_split_along_the_other_dim(prove: Prove):
    """Where both dims have the same shard size a shape would not tell; the contents do."""
    text = edited(
        ('"Net.up": P("fsdp", "tp"),', '"Net.up": P("tp", "fsdp"),'),
        ('gather(weights["Net.up"], axis=0)', "rows(gather(weights['Net.up'], axis=1), axis=0)[:, part]"),
        ("def loss(", 'rows = over(lax.all_gather, "tp", tiled=True)\n\n\ndef loss('),
        ("    h_BF =", '    part = lax.axis_index("tp") * 32 + jnp.arange(32) if MESH else jnp.arange(64)\n    h_BF ='),
    )  # fmt: skip
    found = prove(text, "shards")
    wrong = {m.claim for m in found.measures["placement"] if not m.holds and m.subject == "Net.up"}
    assert "weight: shards against their slice" in wrong


# ---------------------------------------------------------------- traffic

SPAN = Span(SourceFile("two_layers.mesh", ""), 0, 0)
FLOAT64 = 8


def stated(op: CollectiveOp, axis: str, tensor: str, elements: float) -> Collective:
    return Collective(op, (axis,), tensor, "forward", 1, round(elements * FLOAT64), SPAN)


DERIVED = (
    # half of table's 16 x 32, of up's and down's 32 x 32 (their tp half), there and back
    stated("all-gather", "fsdp", "weights", (16 * 32 + 2 * 32 * 32) / 2),
    stated("reduce-scatter", "fsdp", "gradients", (16 * 32 + 2 * 32 * 32) / 2),
    stated("all-reduce", "fsdp", "Net.scale", 32),  # 2 (n - 1) / n is 1 for two devices
    stated("all-reduce", "tp", "y", 2 * 32),  # two rows a device
    stated("all-reduce", "tp", "x, backward", 2 * 32),
    stated("all-reduce", "replica", "gradients", 16 * 16 + 2 * 16 * 32 + 32),  # of the shards only
)


@pytest.fixture
def compare(prove: Prove, tmp_path: Path) -> Callable[[str], tuple[list[Measure], list[str]]]:
    def compare(text: str) -> tuple[list[Measure], list[str]]:
        found = prove(text, "traffic")
        assert not found.problems
        return traffic.compare((tmp_path / "step.hlo").read_text(encoding="utf-8"), DERIVED, SIZES, found.stderr)

    return compare


def test_stated_traffic_is_what_xla_compiled(compare):
    measures, notes = compare(CORRECT)
    assert not failing(measures)
    assert [m.subject for m in measures if m.claim == "bytes over"] == ["fsdp", "tp", "replica"]
    assert max(m.deviation for m in measures) == 0
    assert "1 scalar by all-reduce over replica and fsdp" in notes  # the loss


def test_a_weight_kept_whole_is_other_traffic(compare):
    """An all-reduce of the gradient where gather and scatter were derived: the same bytes over fsdp, another kind."""
    measures, _ = compare(WHOLE_TABLE)
    assert "not derived" in failing(measures)
    assert [m.subject for m in measures if m.claim == "bytes over" and not m.holds] == [
        "replica"
    ]  # the whole, not a half


def test_an_activation_gathered_without_need(compare):
    text = edited(
        (
            "    return jnp.sum(jnp.square(y_BE)) / BATCH",
            "    return jnp.sum(jnp.square(y_BE)) / BATCH + 1e-9 * whole_BF.sum()",
        ),
        ("    y_BE =", '    whole_BF = sum_tp(over(lax.all_gather, "tp", axis=1, tiled=True)(h_BF))\n    y_BE ='),
    )
    measures, _ = compare(text)
    assert failing(measures) == {"bytes over", "not derived"}
    assert [m.subject for m in measures if m.claim == "not derived"] == ["all-reduce over tp, all-gather over tp"]


def test_bytes_that_a_compiler_may_save_may_be_missing(compiled: dict[str, str]):
    """`all_gather` of small_programs.py runs once; the derived list has it in each of four microsteps."""
    local, mesh = 8 * 16 * 4, {"a": 2, "b": 2, "c": 2}
    each = Collective("all-gather", ("b",), "Net.table", "forward", 4, 4 * local, SPAN)
    deviations = [
        traffic.compare(compiled["all_gather"], [each], mesh, saved=saved)[0][0].deviation
        for saved in (None, {("b",): 3 * local}, {("a",): 3 * local})
    ]
    assert deviations == [0.75, 0, 0.75]


def test_the_partitioner_giving_up_is_a_failure(compiled: dict[str, str]):
    said = "W0000 spmd_partitioner.cc:652] [SPMD] Involuntary full rematerialization. The compiler cannot go from ..."
    measures, _ = traffic.compare(compiled["products"], (), {"a": 2, "b": 2, "c": 2}, said)
    assert failing(measures) == {"involuntary full rematerializations"}


def test_bounds_are_those_of_the_design():
    assert (parity.LOSS, parity.GRADIENT, parity.PARAMETER) == (1e-10, 1e-8, 1e-9)
    assert (parity.OPTIMIZER_LOSS, parity.SINGLE_LOSS) == (1e-8, 1e-5)
