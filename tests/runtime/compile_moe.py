"""Compiles a routed layer and its gradient for a slice of TPUs or GPUs that is not there: python compile_moe.py tpu|gpu

Prints, as JSON, how many of each collective the compiled program has, and over which groups its ragged ones run.
"""

from __future__ import annotations

import json
import re
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from meshc.runtime import moe

MESH = {"dp": 2, "a": 2, "b": 2}
EXPERTS_OVER = ("a", "b")
H100 = """gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152 shared_memory_per_core: 233472
  threads_per_core_limit: 2048 core_count: 132 fpus_per_core: 128 block_dim_limit_x: 2147483647 block_dim_limit_y: 65535
  block_dim_limit_z: 65535 memory_bandwidth: 3352320000000 l2_cache_size: 52428800 clock_rate_ghz: 1.98
  device_memory_size: 84978434048 shared_memory_per_block_optin: 232448 registers_per_core_limit: 65536
  registers_per_block_limit: 65536 cuda_compute_capability { major: 9 }
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 8 }
device_description_str: "NVIDIA H100 80GB HBM3"
"""


def devices(kind: str):
    if kind == "tpu":
        return topologies.get_topology_desc("v5e:4x2", platform="tpu").devices
    described = {"topology_name": "h100", "topology": "1x1x8", "target_config": H100}
    return topologies.get_topology_desc(platform="cuda", **described).devices


def layer(x, router, up, down):
    router, up, down = (_varying(w) for w in (router, up, down))
    scores = jax.nn.softmax((x @ router).astype(jnp.float32))
    rows, routing = moe.route(x, scores, top_k=2, axes=EXPERTS_OVER)
    out = moe.combine(moe.product(jax.nn.silu(moe.product(rows, up, routing)), down, routing), routing)
    every = tuple(MESH)
    return lax.psum(jnp.square(out.astype(jnp.float32)).sum(), every) + moe.load_balance(routing, every)


def _varying(w):
    missing = [a for a in MESH if a not in jax.typeof(w).manual_axis_type.varying]
    return lax.pcast(w, tuple(missing), to="varying")


def compiled(kind: str) -> str:
    mesh = Mesh(np.array(devices(kind)).reshape(*MESH.values()), tuple(MESH), axis_types=(AxisType.Auto,) * len(MESH))
    batch, bank = P(tuple(MESH)), P(EXPERTS_OVER)
    shapes = {(16, 64, 128): batch, (128, 8): P(), (8, 128, 256): bank, (8, 256, 128): bank}
    on_devices = jax.shard_map(layer, mesh=mesh, in_specs=tuple(shapes.values()), out_specs=P())
    arguments = [jax.ShapeDtypeStruct(s, jnp.bfloat16, sharding=NamedSharding(mesh, p)) for s, p in shapes.items()]
    step = jax.jit(jax.value_and_grad(on_devices, argnums=(0, 1, 2, 3)))
    return step.lower(*arguments).compile().as_text()


def main(kind: str) -> None:
    text = compiled(kind)
    calls = re.findall(r"[})] (ragged-all-to-all|all-to-all|all-gather|collective-permute)(?:-start)?\((.*)", text)
    counts = {op: sum(1 for name, _ in calls if name == op) for op in dict.fromkeys(name for name, _ in calls)}
    groups = {re.search(r"replica_groups=(\{\{.*?\}\}|\S+?),? ", rest)[1] for op, rest in calls if "ragged" in op}
    print(json.dumps({"counts": counts, "groups": sorted(groups)}))


if __name__ == "__main__":
    main(sys.argv[1])
