"""What generated programs run on: mesh, data, optimizer, checkpoints, metrics and the loop.

Imports nothing of the compiler.
"""
