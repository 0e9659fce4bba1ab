"""Which process reads which rows: the shards of the batch are those of the axes that carry it, not of the processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from meshc.runtime.data.batches import held_rows
from meshc.runtime.program import Program

SPEC = """mesh { dp = 1, tp = 1 }
dims { batch = 4, seq = 8, embed = 16, mlp = 16, vocab = 32 }
model Tiny(tokens: [batch, seq] of vocab) {
  param table: vocab -> embed
  param up: embed -> mlp
  param down: mlp -> embed
  loss next_token(relu(table[tokens] @ up) @ down @ table, tokens)
}
partition {
  fsdp(dp)
  tensor(tp)
}
"""


def rows(program: Program, devices_a_process: int, first: int = 0) -> list[list[int]]:
    """The samples that each process reads of the batch that begins with sample `first`."""
    one = program.inputs["tokens"]
    where = program.sharding(one).devices_indices_map(one.shape)
    devices = list(program.mesh.devices.flat)
    parts = [devices[i : i + devices_a_process] for i in range(0, len(devices), devices_a_process)]
    return [sorted(first + row for row in held_rows([where[d] for d in part], one.shape[:1])) for part in parts]


def test_processes_of_one_model_read_the_same(build):
    """huggingface/accelerate#3092: two processes of one model-parallel group received different samples."""
    program = build(SPEC, "mesh.tp=2")
    assert rows(program, 1) == [[0, 1, 2, 3], [0, 1, 2, 3]]
    assert rows(program, 1, first=4) == [[4, 5, 6, 7], [4, 5, 6, 7]]
    assert 8 / program.batch_size == 2  # steps through 8 samples


def test_two_hosts_share_the_batch(build):
    """AI-Hypercomputer/torchprime#267: fsdp over 8 devices of 2 hosts, 8 rows: 4 each, no two the same."""
    assert rows(build(SPEC, "mesh.dp=8", "batch=8"), 4) == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_a_row_feeds_the_hosts_of_its_group(tmp_path: Path):
    """apple/axlearn#773, made small: 4 x 4 devices, 8 hosts of 2, 4 rows. Each row lies on 2 hosts."""
    found = _on_16_devices(tmp_path, "batch=4")
    assert found == [[0], [0], [1], [1], [2], [2], [3], [3]]


def test_more_rows_than_groups(tmp_path: Path):
    found = _on_16_devices(tmp_path, "batch=8")
    assert found == [[0, 1], [0, 1], [2, 3], [2, 3], [4, 5], [4, 5], [6, 7], [6, 7]]


def _on_16_devices(directory: Path, batch: str) -> list[list[int]]:
    done = subprocess.run(
        [sys.executable, "-c", IN_A_CHILD, SPEC, batch, str(directory)],
        cwd=Path(__file__).parents[2], env=_environment(), capture_output=True, text=True, timeout=100, check=True,
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


IN_A_CHILD = """
import json, sys
from pathlib import Path
from tests.cases.conftest import _built
from tests.cases.test_rows import rows
spec, batch, directory = sys.argv[1:]
print(json.dumps(rows(_built(spec, ("mesh.dp=4", "mesh.tp=4", batch), Path(directory)), 2)))
"""


def _environment() -> dict[str, str]:
    return {**os.environ, "JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": "16"}


def test_microbatches_count_on(build):
    """A device reads its part of each microbatch: rows 0 and 1 of 4, then 0 and 1 of the next 4."""
    program = build(SPEC, "mesh.dp=2", "batch=8", "train.microsteps=2")
    one = program.inputs["tokens"]
    where = program.sharding(one).devices_indices_map(one.shape)
    read = [sorted(held_rows([where[d]], one.shape[:2])) for d in program.mesh.devices.flat]
    assert read == [[0, 1, 4, 5], [2, 3, 6, 7]]
