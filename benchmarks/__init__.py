"""Speed as ratios, each measured in one run: `python -m benchmarks`, or `make bench`."""
