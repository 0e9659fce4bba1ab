"""One process of several: prints the rows that it holds, and trains a bigram model. For test_runtime_processes.py.

python -m tests.runtime.two_processes fsdp=1,tp=2 RUN      # the environment says which process this is
"""

from __future__ import annotations

import json
import sys

import jax
import numpy as np

from meshc import runtime
from meshc.runtime.data.batches import batch_at, open_source
from tests.runtime import bigram


def main(axes: str, out: str, resume: bool) -> None:
    sizes = {name: int(size) for name, size in (axis.split("=") for axis in axes.split(","))}
    program = bigram.build(runtime.make_mesh({name: size for name, size in sizes.items() if size > 1}))
    batch = batch_at(program, open_source(runtime.Synthetic(), program, 0), 0)["tokens"]
    held = {shard.index[0].start or 0: np.asarray(shard.data).tolist() for shard in batch.addressable_shards}
    rows = [row for start in sorted(held) for row in held[start]]
    print(json.dumps({"process": jax.process_index(), "rows": rows}), flush=True)
    runtime.train(program, steps=4 if resume else 3, data=runtime.Synthetic(), out=out, resume=resume)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:] == ["resume"])
