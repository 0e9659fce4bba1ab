"""A program against one device, its shards and what XLA emitted.

`proofs.run` proves a spec; `report.lines` prints a proof. Nothing here imports jax: programs run in child processes.
"""
