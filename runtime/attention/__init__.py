"""Attention on local parts."""

from .xla import attend as attend
