"""Mixtures of experts on local tokens: who goes where, the way there and back, products with the experts' matrices.

Dropless: a device holds its experts' rows one expert after the other ("slots"), as many as could come at most, and
`lax.ragged_dot` multiplies those that came.
"""

from .balance import dropped, load, load_balance
from .choice import choose
from .route import Routing, combine, per_row, product, route

__all__ = ["Routing", "choose", "combine", "dropped", "load", "load_balance", "per_row", "product", "route"]
