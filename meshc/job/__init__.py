"""Job and slice files: typed, with places in their errors."""
