"""Attention on local parts; where the sequence is split, keys and values travel round a ring or are gathered."""

from .exchange import gather as gather
from .exchange import ring as ring
from .xla import attend as attend
