"""One module for each form of output."""
