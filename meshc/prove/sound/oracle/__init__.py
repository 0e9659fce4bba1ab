"""A second judge of specs: brute force over the rules of `docs/language.md`, which knows nothing of the checker.

It shares the parser with the compiler, and nothing else. It says which kinds of things are wrong, not where: every call
of a layer is expanded, every strategy is written out as rules, every tensor is looked at in every place that it is in.
"""

from __future__ import annotations

from meshc.prove.sound.oracle.decision import COMPLETE, decide

__all__ = ["COMPLETE", "decide"]
