"""A program against one device, its shards and what XLA emitted."""
