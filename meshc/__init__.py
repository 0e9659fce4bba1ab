"""meshc: a compiler and launcher for distributed training in JAX."""

__version__ = "0.1.0"
