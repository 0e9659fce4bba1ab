"""What libtpu says of topologies and meshes, as JSON: run in a process of its own, with libtpu on the path."""

from __future__ import annotations

import itertools
import json

import jax
from jax import lax
from jax.experimental import topologies
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from meshc.runtime.mesh import arranged

FLAT = list(itertools.product(range(1, 7), repeat=2))
DEEP = list(itertools.product((1, 2, 3, 4), repeat=3))
MESHES = (
    ("v5e:4x4", 1, (2, 8)),  # an axis of a side and a half
    ("v5e:4x4", 1, (8, 2)),
    ("v5p:4x4x6", 1, (8, 12)),  # 8 is no product of sides
    ("v5e:2x4", 2, (4, 4)),  # an axis on both slices, half of it on each
    ("v5e:2x4", 2, (16,)),
    ("v5e:2x2", 3, (2, 6)),  # the outer axis does not divide the slices
)


def exists(name: str) -> bool:
    try:
        topologies.get_topology_desc(name, platform="tpu")
    except jax.errors.JaxRuntimeError:
        return False
    return True


def compiles(name: str, slices: int, shape: tuple[int, ...]) -> bool:
    """All kinds of collectives over each axis of a mesh that the runtime lays on the slices."""
    devices = topologies.get_topology_desc(name, platform="tpu", num_slices=slices).devices
    axes = tuple("abc"[: len(shape)])
    mesh = Mesh(arranged(shape, devices), axes, axis_types=(AxisType.Auto,) * len(shape))

    def collectives(x):
        for axis, size in zip(axes, shape, strict=True):
            x = lax.psum(x, axis)
            x = lax.ppermute(x, axis, [(i, (i + 1) % size) for i in range(size)])
            x = lax.all_to_all(x, axis, 0, 1, tiled=True)
            x = lax.psum_scatter(lax.all_gather(x, axis, tiled=True), axis, tiled=True)
        return x

    whole = PartitionSpec()
    x = jax.ShapeDtypeStruct((96, 768), "bfloat16", sharding=NamedSharding(mesh, whole))
    jax.jit(jax.shard_map(collectives, mesh=mesh, in_specs=whole, out_specs=whole, check_vma=False)).lower(x).compile()
    return True


if __name__ == "__main__":
    flat = [(sides, exists(f"v5e:{sides[0]}x{sides[1]}")) for sides in FLAT]
    deep = [(sides, exists("v5p:" + "x".join(map(str, sides)))) for sides in DEEP]
    print(json.dumps({"sides": [*flat, *deep], "meshes": [compiles(*mesh) for mesh in MESHES]}))
