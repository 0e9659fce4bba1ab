"""From placed program to source text."""
