"""Data by global sample index: sample i is a function of (seed, i), whatever the mesh and the number of hosts.

sources.py    what a program names: Text, PythonStdlib, Tokens, Synthetic
stream.py     many files of ids as one long sequence, cut into windows
tokenizers.py text into ids
batches.py    the rows that this process's devices hold, as global arrays
"""
