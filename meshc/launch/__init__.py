"""Starting a program on a slice."""
